//! The sending end of a test that TCP carries: feeds it, reads its counters every 10 ms, and judges them.

use super::super::results::SenderResult;
use super::super::sender::{TICK, called_off};
use super::super::sending::Job;
use super::feed::Feed;
use super::{OPTIONS, headers};
use kit::datagrams::Quality;
use kit::load::settled;
use kit::thinned::Thinned;
use mbm::diagnostic::TcpShape;
use mbm::loss::Counts;
use mbm::stream::PatternReport;
use mbm::verdict::{Judge, Observation, Outcome, Phase, Reason, Verdict};
use schema::mbm::TcpFigures;
use socket2::SockRef;
use std::io;
use std::net::TcpStream;
use std::time::Duration;
use sys::tcp::TcpInfo;
use sys::{clock, tcp};
use units::Instant;

/// Share of looks at which TCP may have had nothing left to send.
const DRY: f64 = 0.05;

/// The receiver offers a window as small as the test's within this time.
const SHRINK: Duration = Duration::from_secs(3);
/// By so much it may be larger: the window scale's unit, as a share of a window or as segments.
const ROUNDED: f64 = 1.1;
const ROUNDED_SEGMENTS: u32 = 1;

/// A sender at work.
struct Sending<'a> {
    job: &'a Job<'a>,
    socket: &'a TcpStream,
    feed: Feed<'a>,
    judge: Judge,
    /// What the socket had done before.
    before: TcpInfo,
    start: Instant,
    /// When it is looked at next.
    next_look: Instant,
    seen: Observation,
    acked: u64,
    looks: u64,
    dry: u64,
    rtt_ms: Thinned,
    late_us: Thinned,
    counters: TcpFigures,
}

/// Sends over `socket`, which is connected and ready, until there is a verdict.
///
/// # Errors
/// When the test cannot be made at all.
pub(super) fn run(job: &Job<'_>, socket: &TcpStream) -> Result<SenderResult, String> {
    // Only where /proc is closed does this fail, and timers are later then.
    let _ = clock::timer_slack(1);
    let setup = job.plan.setup(job.path_rtt);
    let shape = setup.by_tcp(job.test).map_err(|error| error.to_string())?;
    let options = setup.judge_tcp(job.test, job.plan.ruling()?, job.plan.timeout.0);
    ready(socket).map_err(|error| error.to_string())?;
    let before = settled(socket, job.abort);
    let mss = segment(job, socket, &before)?;
    let start = clock::now();
    let feed = Feed::new(socket, job.plan, shape, mss, start).map_err(|e| e.to_string())?;
    let mut sending = Sending {
        job,
        socket,
        judge: Judge::new(options, start),
        before,
        start,
        next_look: start,
        seen: Observation::default(),
        acked: 0,
        looks: 0,
        dry: 0,
        rtt_ms: Thinned::default(),
        late_us: Thinned::default(),
        counters: TcpFigures {
            congestion_control: tcp::congestion(socket).unwrap_or_default(),
            mss,
            pacing_bps: feed.pacing.map(units::Rate::as_bps),
            window_packets: match shape {
                TcpShape::Windowed { packets } => Some(packets),
                _ => None,
            },
            ..TcpFigures::default()
        },
        feed,
    };
    let verdict = sending.drive();
    Ok(sending.end(verdict))
}

/// Each of these only makes the end of a test less sharp where it fails.
fn ready(socket: &TcpStream) -> io::Result<()> {
    let _ = SockRef::from(socket).set_linger(Some(Duration::ZERO));
    let _ = tcp::set_nodelay(socket, true);
    socket.set_write_timeout(Some(TICK / 2))
}

/// Octets of data in a segment: with headers and options it has to be as long as the target's packets.
fn segment(job: &Job<'_>, socket: &TcpStream, info: &TcpInfo) -> Result<u32, String> {
    let v6 = socket.peer_addr().is_ok_and(|peer| peer.is_ipv6());
    let (mss, mtu) = (info.snd_mss.unwrap_or_default(), job.plan.target.mtu());
    if mss + headers(v6) + OPTIONS < mtu {
        return Err(format!(
            "TCP's segments carry {mss} octets here, too few for packets of {mtu} - use a smaller --mtu"
        ));
    }
    Ok(mss)
}

impl Sending<'_> {
    fn drive(&mut self) -> Verdict {
        loop {
            let now = clock::now();
            if now >= self.next_look {
                self.late_us
                    .add(now.since(self.next_look).as_secs_f64() * 1e6);
                self.next_look = now + TICK;
                if let Some(verdict) = self.look(now) {
                    return self.blame(verdict);
                }
            }
            if let Err(error) = self.feed.turn(now, self.next_look) {
                return broken(&error);
            }
            if (self.job.abort)() {
                return called_off();
            }
        }
    }

    /// Reads what TCP knows, and judges it.
    fn look(&mut self, now: Instant) -> Option<Verdict> {
        let info = tcp::info(self.socket).ok()?;
        self.take(&info);
        if let Ok(mut watch) = self.job.watch.lock() {
            *watch = self.seen.settled;
        }
        if self.judge.phase() == Phase::Test {
            let cwnd = info.snd_cwnd;
            self.counters.cwnd_min = self.counters.cwnd_min.into_iter().chain(cwnd).min();
            self.counters.cwnd_max = self.counters.cwnd_max.into_iter().chain(cwnd).max();
        }
        match self.excess() {
            None => self.judge.observe(&self.seen, now).cloned(),
            // What the handshake offered has to be used up before the test can begin.
            Some(_) if now.since(self.start) < SHRINK => None,
            Some(says) => Some(Verdict {
                outcome: Outcome::Error,
                reason: Reason::SenderPattern,
                says,
                would_change: "a larger window, or --carrier udp".to_owned(),
            }),
        }
    }

    /// By how much the receiver's window is larger than the test's, in words; `None` when it is not.
    fn excess(&self) -> Option<String> {
        let (wanted, offered) = self
            .counters
            .window_packets
            .zip(self.counters.offered_packets)?;
        let most = (f64::from(wanted) * ROUNDED).max(f64::from(wanted + ROUNDED_SEGMENTS));
        (f64::from(offered) > most).then(|| {
            format!("the receiver's kernel offers a window of {offered} segments, and the test's has {wanted}")
        })
    }

    /// Of a segment that was sent again both times have counted; the first one's fate is known then.
    fn take(&mut self, info: &TcpInfo) {
        let since = |now: Option<u32>, then: Option<u32>| {
            let (now, then) = (now.unwrap_or_default(), then.unwrap_or_default());
            u64::from(now.wrapping_sub(then))
        };
        let segments = since(info.data_segs_out, self.before.data_segs_out);
        let lost = since(info.total_retrans, self.before.total_retrans);
        let settled = segments.saturating_sub(info.unacked.unwrap_or_default().into());
        let acked = info.bytes_acked.unwrap_or_default();
        self.acked = acked.saturating_sub(self.before.bytes_acked.unwrap_or_default());
        self.seen.sent = segments;
        self.seen.arrived = self.acked / u64::from(self.counters.mss.max(1));
        self.seen.settled = Counts {
            packets: settled.max(self.seen.settled.packets).max(lost),
            lost,
            ce: 0,
        };
        self.seen.pattern = self.feed.keeping().map(mbm::stream::Keeping::report);
        self.looks += 1;
        self.dry += u64::from(info.notsent_bytes == Some(0));
        if let Some(rtt) = info.rtt {
            self.rtt_ms.add(rtt.as_secs_f64() * 1e3);
        }
        self.counters.segments = segments;
        self.counters.retransmits = lost;
        self.counters.spurious = info
            .dsack_dups
            .map(|dups| since(Some(dups), self.before.dsack_dups));
        let mss = info.snd_mss.unwrap_or_default().max(1);
        self.counters.offered_packets = info.snd_wnd.map(|window| window / mss);
    }

    /// Share of looks at which there was nothing to send though there always should be.
    fn dry(&self) -> Option<f64> {
        let always = self.feed.keeping().is_none() && self.looks > 0;
        always.then(|| self.dry as f64 / self.looks as f64)
    }

    /// A low rate is the path's only if TCP always had something to send.
    fn blame(&self, verdict: Verdict) -> Verdict {
        match self.dry() {
            Some(dry) if verdict.reason == Reason::RateLow && dry > DRY => Verdict {
                outcome: Outcome::Error,
                reason: Reason::SenderRate,
                says: format!(
                    "the sender did not write fast enough: TCP had nothing to send at {:.0} % of the looks",
                    dry * 100.0
                ),
                would_change: "a sender with more processor time; the path was not tested"
                    .to_owned(),
            },
            _ => verdict,
        }
    }

    fn end(mut self, verdict: Verdict) -> SenderResult {
        let seconds = clock::now().since(self.start).as_secs_f64();
        self.counters.acked_mbps = self.acked as f64 * 8e-6 / seconds.max(1e-9);
        self.counters.dry = self.dry();
        SenderResult {
            sent: self.seen.sent,
            seconds,
            verdict,
            figures: Some(self.judge.figures()),
            scan: None,
            rounds: Vec::new(),
            pattern: self.seen.pattern.clone().unwrap_or(NO_BURSTS),
            rtt_ms: self.rtt_ms.distribution(),
            told: self.seen.settled,
            quality: Quality {
                late_us: self.late_us.distribution(),
                ..Quality::default()
            },
            tcp: Some(self.counters),
        }
    }
}

/// The pattern of a stream that has none: the kernel sends single segments, and does not say when.
const NO_BURSTS: PatternReport = PatternReport {
    burst_packets: 1,
    headway_ns: None,
    bursts: 0,
    late: 0,
    smeared: 0,
    lateness_allowed_ns: 0,
    lateness_max_ns: 0,
    kept: true,
};

/// The connection is no more.
fn broken(error: &io::Error) -> Verdict {
    Verdict {
        outcome: Outcome::Error,
        reason: Reason::SenderRate,
        says: format!("the connection broke: {error}"),
        would_change: "a connection that lasts as long as the test".to_owned(),
    }
}
