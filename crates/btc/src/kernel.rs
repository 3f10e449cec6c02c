//! A transfer by the kernel's TCP, memory to memory: what ours is compared with.
//!
//! Both are measured alike. The time runs from the first write to the last acknowledgement that counts, which is looked
//! for five thousand times a second towards the end; the handshake is not in it. What was lost is what left the sender with
//! payload (`tcpi_data_segs_out`) and did not arrive at the receiver (`tcpi_data_segs_in`): the kernel keeps the same counters
//! as our two ends do. (Not quite: of a burst that comes by a TUN interface it counts one, so that a complete transfer is taken to have
//! lost no more than it sent again. In a lab the links themselves say what they dropped, of both tools alike.)
//!
//! **A window is bounded at the sender**: no more is written than the window beyond what is acknowledged, as with a send buffer
//! of just that size. A receiver cannot bound it: newer kernels forget `TCP_WINDOW_CLAMP` whenever they learn anew how much
//! memory a segment takes, and no window is taken back that was offered.
//!
//! **Where a window is asked for the receiver offers it** from the start. One that the kernel opens as it sees need holds the sender
//! back below what the path has room for, or opens in steps, and a burst follows each: either way the losses are
//! those of the receiver's memory, not of congestion control. (The paper gave both of its buffers 195,480 octets.)

use super::interface::Interface;
use super::log::Log;
use super::plan::Limit;
use super::results::{Outcome, Quality, ReceiverResult, SenderResult};
use super::tables::WindowRow;
use super::watch::Watch;
use kit::load;
use kit::load::settled;
use kit::stream::is_timeout;
use socket2::SockRef;
use std::io::Write;
use std::net::TcpStream;
use std::sync::atomic::AtomicU64;
use std::time::Duration;
use sys::tcp::TcpInfo;
use sys::{clock, tcp};
use transport::Options;
use units::{Instant, Rate};

/// How often the window is looked at.
const LOOK: Duration = Duration::from_millis(10);
/// How often the acknowledgements are looked at when nothing is left to write.
const FINE_LOOK: Duration = Duration::from_micros(200);
/// What is written and not yet sent, at most: it delays the end of a transfer by time.
const UNSENT: u32 = 64 * 1_024;
/// As our own sender: after its time a transfer repairs what it has lost.
const SETTLE: Duration = Duration::from_secs(2);
/// The same with a window: a share of the round trip, so that an acknowledgement is answered when it comes, and no less than
/// what a look costs many times.
const LOOKS_A_TRIP: u32 = 100;
const FINEST_LOOK: Duration = Duration::from_micros(20);

/// What the kernel is to send.
pub(crate) struct Job<'a> {
    pub limit: Limit,
    /// Octets of payload in a full segment, by which a limit in segments is reckoned.
    pub mss: u16,
    /// Segments that may be on their way and not acknowledged.
    pub window: Option<u32>,
    /// The rate above which it is not to send.
    pub pace: Option<Rate>,
    pub patience: Duration,
    pub watch: &'a Watch,
    pub abort: &'a (dyn Fn() -> bool + Sync),
}

/// A transfer at its sender.
struct Sending<'a, 'b> {
    job: &'b Job<'b>,
    socket: &'b TcpStream,
    log: &'b mut Log<'a>,
    transfer: u16,
    /// What the socket had done before.
    before: TcpInfo,
    interface: Interface,
    start: Instant,
    looked: Instant,
    written: u64,
    /// Octets acknowledged, and since when.
    acked: (u64, Instant),
    at_end: Option<u64>,
    rtt: Option<Duration>,
}

/// Sends over `socket`, which is connected and marked.
pub(crate) fn send(id: u16, job: &Job<'_>, socket: &TcpStream, log: &mut Log<'_>) -> SenderResult {
    let options = SockRef::from(socket);
    // Each of these only makes the end of the transfer less sharp where it fails.
    let _ = tcp::set_unsent_limit(socket, UNSENT);
    let _ = options.set_linger(Some(Duration::ZERO));
    let _ = socket.set_write_timeout(Some(LOOK));
    if job.pace.is_some() {
        // A kernel that cannot would show it in its throughput.
        let _ = tcp::set_max_pacing(socket, job.pace);
    }
    let before = settled(socket, job.abort);
    let start = clock::now();
    let mut sending = Sending {
        job,
        socket,
        log,
        transfer: id,
        before,
        interface: Interface::at(socket.local_addr().ok().map(|local| local.ip())),
        start,
        looked: Instant::ZERO,
        written: 0,
        acked: (0, start),
        at_end: None,
        rtt: None,
    };
    let end = sending.drive();
    let info = sending.look();
    sending.log.hand_over(clock::now());
    sending.counters(end, &info)
}

/// Receives by `options` until the other end is done or `abort` says so. `before` are the segments that arrived before the
/// transfer's.
pub(crate) fn receive(
    id: u16,
    options: &Options,
    socket: &TcpStream,
    before: u64,
    abort: &dyn Fn() -> bool,
) -> ReceiverResult {
    // Where it fails, or no window was asked for, the window opens as the kernel sees need.
    if let Some(segments) = options.max_window {
        let _ = tcp::offer_window(socket, offered(segments, options.mss.into()));
    }
    let _ = load::receive(socket, &AtomicU64::new(0), abort);
    let arrived = tcp::info(socket).ok().and_then(|info| info.data_segs_in);
    ReceiverResult {
        id,
        packets: u64::from(arrived.unwrap_or_default()).saturating_sub(before),
        ..ReceiverResult::default()
    }
}

/// Octets of the window that a receiver offers: what the sender may have out, and as much again that waits to be read.
const fn offered(segments: u32, mss: u32) -> u32 {
    segments.saturating_mul(2).saturating_mul(mss)
}

impl Sending<'_, '_> {
    fn drive(&mut self) -> (Outcome, Option<String>) {
        let mut block = load::incompressible();
        // Whole segments in every write, so that the kernel cuts none.
        let rest = block.len() % usize::from(self.job.mss.max(1));
        block.truncate(block.len() - rest);
        loop {
            let now = clock::now();
            if let Some(end) = self.ended(now) {
                return end;
            }
            let left = self.left(now).min(self.room()).min(block.len() as u64);
            if left == 0 {
                self.look();
                clock::sleep_until(now + self.pause());
                continue;
            }
            let part = &block[..usize::try_from(left).unwrap_or_default()];
            let mut writer = self.socket;
            match writer.write(part) {
                Ok(count) => self.written += count as u64,
                Err(error) if is_timeout(&error) => {}
                Err(error) => return (Outcome::Failed, Some(format!("kernel TCP: {error}"))),
            }
            if self.job.window.is_some() || now.since(self.looked) >= LOOK {
                self.look();
            }
        }
    }

    /// Whole segments' octets that the window has room for.
    fn room(&self) -> u64 {
        let Some(window) = self.job.window else {
            return u64::MAX;
        };
        let mss = u64::from(self.job.mss.max(1));
        let beyond = self.written.saturating_sub(self.acked.0);
        (u64::from(window) * mss).saturating_sub(beyond) / mss * mss
    }

    /// How long to wait for acknowledgements.
    fn pause(&self) -> Duration {
        match (self.job.window, self.rtt) {
            (Some(_), Some(rtt)) => (rtt / LOOKS_A_TRIP).clamp(FINEST_LOOK, FINE_LOOK),
            _ => FINE_LOOK,
        }
    }

    /// Octets that are still to be written at `now`.
    fn left(&mut self, now: Instant) -> u64 {
        match self.job.limit {
            Limit::Segments(_) => self.wanted().saturating_sub(self.written),
            Limit::Duration(span) if now < self.start + span.0 => u64::MAX,
            Limit::Duration(_) => 0,
        }
    }

    fn wanted(&self) -> u64 {
        match self.job.limit {
            Limit::Segments(count) => u64::from(count) * u64::from(self.job.mss),
            Limit::Duration(_) => self.written,
        }
    }

    fn ended(&mut self, now: Instant) -> Option<(Outcome, Option<String>)> {
        let time = self.job.limit.duration().map(|span| self.start + span);
        if let Some(time) = time.filter(|time| now >= *time) {
            if self.at_end.is_none() {
                self.look();
                self.at_end = Some(self.acked.0);
            }
            if self.acked.0 >= self.written || now >= time + SETTLE {
                return Some((Outcome::Time, None));
            }
        } else if time.is_none() && self.acked.0 >= self.wanted() {
            return Some((Outcome::Complete, None));
        }
        if (self.job.abort)() {
            return Some((Outcome::Failed, Some("it was called off".to_owned())));
        }
        (now.since(self.acked.1) >= self.job.patience).then(|| {
            let seconds = self.job.patience.as_secs();
            let reason = format!("nothing was acknowledged for {seconds} s");
            (Outcome::Stalled, Some(reason))
        })
    }

    /// Reads `TCP_INFO`; a row of the window every 10 ms.
    fn look(&mut self) -> TcpInfo {
        let info = tcp::info(self.socket).unwrap_or_default();
        let now = clock::now();
        let since = |now: Option<u64>, then: Option<u64>| {
            now.unwrap_or_default()
                .saturating_sub(then.unwrap_or_default())
        };
        self.rtt = info.rtt;
        // The FIN is not sent yet, so this is payload alone.
        let acked = since(info.bytes_acked, self.before.bytes_acked);
        if acked > self.acked.0 {
            self.acked = (acked, now);
        }
        if now.since(self.looked) >= LOOK {
            self.looked = now;
            let row = self.window(&info, now);
            self.log.kernel_window(row, now);
            self.job.watch.set(
                acked,
                info.snd_cwnd.unwrap_or_default().into(),
                info.data_segs_out.unwrap_or_default().into(),
                info.total_retrans.unwrap_or_default().into(),
            );
        }
        info
    }

    fn window(&self, info: &TcpInfo, now: Instant) -> WindowRow {
        let nanos = |span: Duration| u64::try_from(span.as_nanos()).unwrap_or(u64::MAX);
        let mss = info.snd_mss.unwrap_or_default().max(1);
        let cwnd = info.snd_cwnd.unwrap_or_default();
        let is_lossy = info.lost.unwrap_or_default() + info.retrans.unwrap_or_default() > 0;
        // The kernel tells its state in a field of its own, but not before Linux 6; losses that are open tell as much.
        let state = match info.ssthresh {
            _ if is_lossy => "recovery",
            Some(ssthresh) if cwnd >= ssthresh => "avoidance",
            _ => "slow-start",
        };
        WindowRow {
            t_ns: self.log.since_origin(now),
            transfer: self.transfer,
            cwnd: cwnd.into(),
            ssthresh: info.ssthresh.map(f64::from),
            flight: info.unacked.unwrap_or_default(),
            window: info.snd_wnd.unwrap_or_default() / mss,
            srtt_ns: info.rtt.map(nanos),
            rto_ns: info.rto.map(nanos).unwrap_or_default(),
            state: state.into(),
        }
    }

    fn counters(
        &self,
        (outcome, reason): (Outcome, Option<String>),
        info: &TcpInfo,
    ) -> SenderResult {
        let since = |now: Option<u32>, then: Option<u32>| {
            u64::from(
                now.unwrap_or_default()
                    .wrapping_sub(then.unwrap_or_default()),
            )
        };
        let bytes = self.at_end.unwrap_or(self.acked.0);
        let last = match self.job.limit.duration() {
            Some(span) if self.at_end.is_some() => self.start + span,
            _ => self.acked.1,
        };
        SenderResult {
            id: self.transfer,
            start_ns: Some(self.log.since_origin(self.start)),
            seconds: (bytes > 0).then(|| last.since(self.start).as_secs_f64()),
            segments: bytes / u64::from(self.job.mss.max(1)),
            bytes,
            sent_packets: since(info.data_segs_out, self.before.data_segs_out),
            retransmits: since(info.total_retrans, self.before.total_retrans),
            cc: tcp::congestion(self.socket).unwrap_or_default(),
            outcome,
            reason,
            quality: Quality {
                rows_left_out: self.log.left_out(),
                interface_dropped: self.interface.dropped(),
                ..Quality::default()
            },
            ..SenderResult::default()
        }
    }
}
