//! The carrier: a line, a protocol, and the replies by their stamps.
//!
//! Replies are taken between requests. Nobody has agreed to anything but IRTT's server, so there is no control connection: a far end that
//! is gone is one that does not reply.

use super::arrival::arrival;
use super::line::{Found, Line};
use super::tally::Tally;
use crate::Live;
use crate::messages::Sent;
use crate::methods::{self, Carry};
use crate::plan::Plan;
use crate::traffic::Traffic;
use far_ends::address::{Keys, Protocol};
use far_ends::{Exchange, Opening, Terms};
use kit::control::{Broken, Context, DISPLAY, FLUSH};
use kit::datagrams::Quality;
use kit::secret::secret;
use kit::trains::patience;
use packet::UDP_HEADERS;
use probe::riders::Riders;
use probe::train::{Arrival, Passage, Train};
use record::{Distribution, RecordWriter};
use schema::estimate::Finding;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;
use sys::clock;
use sys::pacer::{GapAudit, Pacer};
use sys::udp::IcmpError;
use units::{Instant, Stamp};

/// A gap that is wrong by more than this is late.
const TOLERANCE: Duration = Duration::from_micros(5);
/// Before a request is due nothing else is begun.
const GUARD: Duration = Duration::from_millis(1);
/// How long is waited before an interrupt is looked for.
const LOOK: Duration = Duration::from_millis(5);
/// An exchange is asked for so often, each time for this long, twice the last.
const OPENINGS: u32 = 5;
const FIRST_OPENING: Duration = Duration::from_millis(500);
/// The two clocks are compared again after this long: the wall clock may be slewed.
const STAMP_EVERY: Duration = Duration::from_millis(100);
/// Octets of an IP header without options.
const IP_HEADERS: [u32; 2] = [20, 40];
/// And with those of TCP (with time stamps), of a record of TLS 1.3, and a message's length. Those of HTTP are not counted.
const TLS_HEADERS: [u32; 2] = [20 + 32 + 22 + 2, 40 + 32 + 22 + 2];

/// A run at work.
pub(super) struct Exchanging<'a> {
    context: &'a Context<'a, Plan, Live>,
    protocol: Protocol,
    /// Only what is signed is an answer.
    keys: Keys,
    line: Line,
    exchange: Box<dyn Exchange>,
    /// Octets of headers below a request, by this version of IP.
    headers: u32,
    pacer: Pacer,
    audit: GapAudit,
    request: Vec<u8>,
    stamp: Stamp,
    /// The origin by the monotonic clock, and by the wall's in nanoseconds.
    origin: (Instant, u64),
    /// When each request of the train left; its first has this number.
    sent: Vec<Instant>,
    first: u32,
    back: BTreeMap<u64, Arrival>,
    tally: Tally,
    /// What the path said of requests, the last time.
    complaint: Option<IcmpError>,
    shown: Instant,
    flushed: Instant,
    traffic: Traffic,
    pub(super) record: &'a mut RecordWriter,
}

impl<'a> Exchanging<'a> {
    /// Opens the line, and the exchange where the far end has to consent.
    pub(super) fn open(
        context: &'a Context<'a, Plan, Live>,
        found: &Found<'_>,
        origin: Instant,
        record: &'a mut RecordWriter,
    ) -> Result<Self, Broken> {
        let plan = context.plan;
        let protocol = found.far_end.protocol;
        let is_v6 = found.to.ip().to_canonical().is_ipv6();
        let usual = probe::isochronous::Options::default();
        let headers = match protocol {
            Protocol::Icmp => IP_HEADERS,
            Protocol::Dot | Protocol::Doh => TLS_HEADERS,
            _ => UDP_HEADERS,
        }[usize::from(is_v6)];
        let stamp = clock::stamp();
        let origin_wall = stamp.wall_at(origin);
        let terms = Terms {
            payload: usual.octets.saturating_sub(headers) as usize,
            duration: plan.duration.0,
            interval: usual.interval.max(protocol.least_interval()),
            class: plan.class(),
            secret: secret(),
        };
        let mut exchanging = Self {
            context,
            protocol,
            keys: found.keys.clone(),
            line: Line::open(found, &terms, &|| !context.is_interrupted())?,
            exchange: protocol
                .exchange(terms, is_v6, &found.keys)
                .ok_or_else(|| Broken::Far("it answers no requests".to_owned()))?,
            headers,
            pacer: Pacer::calibrate()?,
            audit: GapAudit::new(TOLERANCE),
            request: Vec::new(),
            stamp,
            origin: (origin, origin_wall),
            sent: Vec::new(),
            first: 0,
            back: BTreeMap::new(),
            tally: Tally::default(),
            complaint: None,
            shown: origin,
            flushed: origin,
            traffic: Traffic::default(),
            record,
        };
        exchanging.agree(found.to)?;
        Ok(exchanging)
    }

    /// How good the instrument was, and what there was on the path.
    pub(super) fn end(self) -> (Quality, Option<Distribution>, Traffic) {
        let quality = Quality {
            overflows: self.line.overflows().into(),
            rows_left_out: self.traffic.rows_left_out,
            ..Quality::default()
        };
        (quality, self.audit.errors(), self.traffic)
    }

    /// Asks for the exchange until it is granted or refused.
    fn agree(&mut self, to: SocketAddr) -> Result<(), Broken> {
        let Some(opening) = self.exchange.opening() else {
            return Ok(());
        };
        let mut wait = FIRST_OPENING;
        for _ in 0..OPENINGS {
            self.send(&opening)?;
            let deadline = clock::now() + wait;
            while clock::now() < deadline {
                if self.context.is_interrupted() {
                    return Err(Broken::Far("interrupted".to_owned()));
                }
                self.wait(deadline.since(clock::now()).min(LOOK))?;
                for (payload, _) in self.line.take()? {
                    match self.exchange.handle_opening(payload) {
                        Opening::Open => return Ok(()),
                        Opening::Refused(reason) => {
                            return Err(Broken::Far(format!("{to} does not answer: {reason}")));
                        }
                        Opening::Pending => {}
                    }
                }
            }
            wait *= 2;
        }
        Err(Broken::Far(self.silence(to)))
    }

    /// Tells the far end that this was all, where it wants to know.
    pub(super) fn close(&self) {
        // Whoever is not told finds out.
        if let Some(closing) = self.exchange.closing() {
            let _ = self.send(&closing);
        }
        self.line.close();
    }

    /// Carries the plan out.
    pub(super) fn find(&mut self, to: SocketAddr) -> Result<Finding, Broken> {
        let finding = methods::find(self.context.plan, self)?;
        if self.tally.replies == 0 && !self.context.is_interrupted() {
            return Ok(Finding::none(self.silence(to)));
        }
        Ok(self.told(finding))
    }

    /// The finding with what this far end has told, and without what it has not.
    fn told(&self, mut finding: Finding) -> Finding {
        let details = &mut finding.details;
        if !self.tally.stamps {
            details["there"] = Value::Null;
            details["back"] = Value::Null;
            details["clock_skew_ppm"] = Value::Null;
        }
        let lost = self.tally.lost();
        details["far_end"] = json!({
            "protocol": self.protocol.scheme(),
            "time_stamps": self.tally.stamps,
            "lost_there": lost.map(|[there, _]| there),
            "lost_back": lost.map(|[_, back]| back),
            "remarked": self.tally.remarked,
        });
        if let Some([there, back]) = lost.filter(|lost| *lost != [0, 0]) {
            let ways = format!("; {there} were lost on the way there, {back} on the way back");
            finding.says.push_str(&ways);
        }
        finding
    }

    /// Why nobody answers.
    fn silence(&self, to: SocketAddr) -> String {
        let name = self.protocol.name();
        if let Some(error) = &self.complaint {
            return format!("nobody answers {name} at {to}: {error}");
        }
        if self.protocol == Protocol::Twamp {
            return format!(
                "{to} has agreed on a session and answers none of its packets - let UDP through to the port that it named ({}); an address translator between may change our own port, which the server does not know then",
                self.line.port().unwrap_or(0)
            );
        }
        let mode = match self.protocol {
            Protocol::Stamp if self.keys.stamp.is_some() => {
                " in authenticated mode, with the key of --stamp-key"
            }
            Protocol::Stamp => " (in authenticated mode it wants --stamp-key)",
            Protocol::Irtt if self.keys.irtt.is_some() => ", with the key of --irtt-key",
            Protocol::Irtt => " (with a key it wants --irtt-key)",
            _ => "",
        };
        format!(
            "nobody answers {name} at {to} - is the server running{mode}, and does a firewall let it through?"
        )
    }

    fn send(&self, payload: &[u8]) -> Result<(), Broken> {
        self.line.send(payload, self.context.plan.class())
    }

    /// Sends the next request of the train.
    fn ask(&mut self) -> Result<Instant, Broken> {
        let number = self
            .first
            .saturating_add(u32::try_from(self.sent.len()).unwrap_or(u32::MAX));
        let now = clock::now();
        let wall_ns = self.stamp.wall_at(now);
        self.exchange.request(number, wall_ns, &mut self.request);
        self.sent.push(now);
        self.send(&self.request)?;
        Ok(now)
    }

    /// Waits for something to arrive, and takes note of what the path complains about.
    fn wait(&mut self, time: Duration) -> Result<(), Broken> {
        if let Some(error) = self.line.wait(time)? {
            self.complaint = Some(error);
        }
        Ok(())
    }

    /// Takes the replies that have come.
    fn take(&mut self) -> Result<(), Broken> {
        loop {
            let come = self.line.take()?;
            if come.is_empty() {
                return Ok(());
            }
            let now = clock::now();
            if now.since(self.stamp.mono) >= STAMP_EVERY {
                self.stamp = clock::stamp();
            }
            let latest = self
                .sent
                .len()
                .checked_sub(1)
                .and_then(|last| u32::try_from(last).ok());
            let Some(latest) = latest.map(|last| self.first.saturating_add(last)) else {
                continue;
            };
            for (payload, came) in come {
                let Some(reply) = self.exchange.handle(payload, latest) else {
                    continue;
                };
                let returned = came.mono(&self.stamp, now);
                let place = reply.number.checked_sub(self.first);
                let sent = place.and_then(|place| Some((place, *self.sent.get(place as usize)?)));
                let Some((place, sent)) = sent else { continue };
                if !self.back.contains_key(&u64::from(place)) {
                    self.tally.count(&reply, self.context.plan);
                    let arrival = arrival(place, sent, returned, reply.stamps, self.origin);
                    self.back.insert(u64::from(place), arrival);
                }
            }
        }
    }

    /// Whether nothing more is to be expected: whoever started it wants it over, or the connection has ended. What there is is kept.
    fn is_over(&self) -> bool {
        self.context.is_interrupted() || self.line.ended().is_some()
    }

    /// Sends the train and takes the replies meanwhile; how it left.
    fn there(&mut self, train: &Train) -> Result<Sent, Broken> {
        let mut planned = clock::now() + GUARD + self.pacer.margin() * 2;
        let (mut began, mut last, mut worst) = (None, None::<Instant>, Duration::ZERO);
        'train: for (index, probe) in train.probes.iter().enumerate() {
            let gap = if index == 0 {
                Duration::ZERO
            } else {
                probe.gap
            };
            planned += gap;
            loop {
                let left = planned.since(clock::now());
                if left <= GUARD {
                    break;
                }
                if self.is_over() {
                    break 'train;
                }
                self.wait(left.saturating_sub(GUARD).min(LOOK))?;
                self.take()?;
            }
            self.pacer.wait_until(planned);
            let left = self.ask()?;
            self.audit.record(planned, left);
            if let Some(last) = last.replace(left) {
                worst = worst.max(left.since(last).abs_diff(gap));
            }
            began = began.or(Some(left));
        }
        let lasted = began.zip(last).map(|(began, last)| last.since(began));
        Ok(Sent {
            count: u32::try_from(self.sent.len()).unwrap_or(u32::MAX),
            lasted_ns: nanos(lasted.unwrap_or_default()),
            worst_ns: nanos(worst),
        })
    }

    /// Waits for the replies that are still to come.
    fn back(&mut self, count: usize) -> Result<(), Broken> {
        let mut latest = (self.back.len(), clock::now());
        while self.back.len() < count && clock::now().since(latest.1) < patience(&self.back) {
            if self.is_over() {
                return Ok(());
            }
            self.wait(LOOK)?;
            self.take()?;
            if self.back.len() > latest.0 {
                latest = (self.back.len(), clock::now());
            }
        }
        Ok(())
    }

    /// Into the counters and the record.
    fn enter(&mut self, train: &Train, passage: &Passage, sent: Sent) -> Result<(), Broken> {
        let origin = self.origin.0.as_nanos();
        let now = clock::now();
        self.traffic.enter(
            train,
            passage,
            sent,
            now.as_nanos().saturating_sub(origin),
            |ns, _| ns.saturating_sub(origin),
        );
        self.traffic.hand_over(self.record)?;
        if now.since(self.flushed) >= FLUSH {
            self.flushed = now;
            self.record.flush()?;
        }
        Ok(())
    }

    fn show(&mut self) {
        let now = clock::now();
        if now.since(self.shown) >= DISPLAY {
            self.shown = now;
            let all = self.context.plan.duration.0.as_secs_f64();
            let done = now.since(self.origin.0).as_secs_f64() / all;
            (self.context.display)(&self.traffic.live(self.context.plan, Some(done.min(1.0))));
        }
    }
}

impl Carry for Exchanging<'_> {
    type Error = Broken;

    fn carry(&mut self, train: &Train, not_before: Instant) -> Result<Passage, Broken> {
        if self.context.is_interrupted() {
            return Err(Broken::Far("interrupted".to_owned()));
        }
        self.rest(not_before.since(clock::now()))?;
        let before = u32::try_from(self.sent.len()).unwrap_or(u32::MAX);
        self.first = self.first.saturating_add(before);
        self.sent.clear();
        self.back.clear();
        let sent = self.there(train)?;
        self.back(self.sent.len())?;
        let passage = Passage {
            sent: sent.count,
            octets: u64::from(sent.count) * (self.request.len() as u64 + u64::from(self.headers)),
            lasted: Duration::from_nanos(sent.lasted_ns),
            arrivals: std::mem::take(&mut self.back).into_values().collect(),
            riders: Riders::default(),
        };
        self.enter(train, &passage, sent)?;
        self.show();
        match self.line.ended() {
            Some(reason) => Err(Broken::Far(reason.to_owned())),
            None => Ok(passage),
        }
    }

    fn least_interval(&self) -> Duration {
        self.protocol.least_interval()
    }

    fn only_echoes(&self) -> bool {
        true
    }

    fn now(&self) -> Instant {
        clock::now()
    }

    fn rest(&mut self, time: Duration) -> Result<(), Broken> {
        let end = clock::now() + time;
        while clock::now() < end {
            if self.context.is_interrupted() {
                return Err(Broken::Far("interrupted".to_owned()));
            }
            clock::sleep_until(end.min(clock::now() + LOOK * 4));
        }
        Ok(())
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
