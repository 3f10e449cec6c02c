//! The carrier: requests, and the replies by their stamps, which are taken between requests.

use super::arrival::arrival;
use super::tally::Tally;
use crate::Live;
use crate::messages::Sent;
use crate::methods::{self, Carry};
use crate::plan::{Plan, What};
use crate::traffic::Traffic;
use far_ends::address::Protocol;
use far_ends::{Stamps, Terms};
use kit::control::{Broken, Context, DISPLAY, FLUSH};
use kit::datagrams::Quality;
use kit::foreign::{Asking, Found, headers};
use kit::secret::secret;
use kit::trains::patience;
use probe::riders::Riders;
use probe::train::{Arrival, Passage, Train};
use record::{Distribution, RecordWriter};
use schema::estimate::Finding;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::time::Duration;
use sys::clock;
use sys::pacer::{GapAudit, Pacer};
use units::Instant;

/// A gap that is wrong by more than this is late.
const TOLERANCE: Duration = Duration::from_micros(5);
/// Before a request is due nothing else is begun.
const GUARD: Duration = Duration::from_millis(1);
/// How long is waited before an interrupt is looked for.
const LOOK: Duration = Duration::from_millis(5);
/// A far end that has answered none of so many requests is not there.
const ENOUGH: u32 = 10;
const NO_STAMPS: &str = "not every reply has time stamps that can be true, so delays of each way are not known - measure the rtt";

/// A run at work.
pub(super) struct Exchanging<'a> {
    context: &'a Context<'a, Plan, Live>,
    protocol: Protocol,
    asking: Asking,
    /// Octets of headers below a request, by this version of IP.
    headers: u32,
    pacer: Pacer,
    audit: GapAudit,
    /// The origin by the monotonic clock, and by the wall's in nanoseconds.
    origin: (Instant, u64),
    /// When each request of the train left; its first has this number.
    sent: Vec<Instant>,
    first: u32,
    /// Requests of all trains.
    asked: u32,
    back: BTreeMap<u64, Arrival>,
    tally: Tally,
    shown: Instant,
    flushed: Instant,
    traffic: Traffic,
    pub(super) record: &'a mut RecordWriter,
}

impl<'a> Exchanging<'a> {
    /// Opens the line, and the exchange where the far end has to consent.
    pub(super) fn open(
        context: &'a Context<'a, Plan, Live>,
        found: &Found,
        origin: Instant,
        record: &'a mut RecordWriter,
    ) -> Result<Self, Broken> {
        let plan = context.plan;
        let protocol = found.far_end.protocol;
        let usual = probe::isochronous::Options::default();
        let headers = headers(protocol, found.is_v6());
        let terms = Terms {
            payload: usual.octets.saturating_sub(headers) as usize,
            duration: plan.duration.0,
            interval: usual.interval.max(protocol.least_interval()),
            class: plan.class(),
            secret: secret(),
        };
        Ok(Self {
            context,
            protocol,
            asking: Asking::open(found, terms, &|| !context.is_interrupted())?,
            headers,
            pacer: Pacer::calibrate()?,
            audit: GapAudit::new(TOLERANCE),
            origin: (origin, clock::stamp().wall_at(origin)),
            sent: Vec::new(),
            first: 0,
            asked: 0,
            back: BTreeMap::new(),
            tally: Tally::default(),
            shown: origin,
            flushed: origin,
            traffic: Traffic::default(),
            record,
        })
    }

    /// How good the instrument was, and what there was on the path.
    pub(super) fn end(self) -> (Quality, Option<Distribution>, Traffic) {
        let quality = Quality {
            overflows: self.asking.overflows().into(),
            rows_left_out: self.traffic.rows_left_out,
            ..Quality::default()
        };
        (quality, self.audit.errors(), self.traffic)
    }

    /// Tells the far end that this was all.
    pub(super) fn close(&self) {
        self.asking.close();
    }

    /// Carries the plan out.
    pub(super) fn find(&mut self) -> Result<Finding, Broken> {
        let found = methods::find(self.context.plan, self);
        // A far end that answers nothing is found out about, not lost.
        let is_silent = self.tally.replies == 0 && !self.is_over();
        match found {
            Ok(_) | Err(Broken::Far(_)) if is_silent => Ok(Finding::none(self.asking.silence())),
            Ok(_) if self.wants_stamps() && !self.tally.has_stamps() => {
                Ok(self.told(Finding::none(NO_STAMPS)))
            }
            found => Ok(self.told(found?)),
        }
    }

    /// Whether what is to be found is of one way.
    fn wants_stamps(&self) -> bool {
        matches!(self.context.plan.what, What::Owd | What::Jitter)
    }

    /// The finding with what this far end has told, and without what it has not.
    fn told(&self, mut finding: Finding) -> Finding {
        let details = &mut finding.details;
        if !self.tally.has_stamps() {
            details["there"] = Value::Null;
            details["back"] = Value::Null;
            details["clock_skew_ppm"] = Value::Null;
        }
        let lost = self.tally.lost();
        details["far_end"] = json!({
            "protocol": self.protocol.scheme(),
            "time_stamps": self.tally.has_stamps(),
            "lost_there": lost.map(|[there, _]| there),
            "lost_back": lost.map(|[_, back]| back),
            "remarked": self.tally.remarked,
            "ecn_changed": self.tally.ecn_changed,
        });
        if let Some([there, back]) = lost.filter(|lost| *lost != [0, 0]) {
            let ways = format!("; {there} were lost on the way there, {back} on the way back");
            finding.says.push_str(&ways);
        }
        finding
    }

    /// Sends the next request of the train.
    fn ask(&mut self) -> Result<Instant, Broken> {
        let number = self
            .first
            .saturating_add(u32::try_from(self.sent.len()).unwrap_or(u32::MAX));
        // One that finds no room is as good as lost.
        let sent = self.asking.ask(number)?.unwrap_or_else(clock::now);
        self.sent.push(sent);
        self.asked = self.asked.saturating_add(1);
        Ok(sent)
    }

    /// Takes the replies that have come.
    fn take(&mut self) -> Result<(), Broken> {
        let Self {
            asking,
            context,
            origin,
            sent,
            first,
            back,
            tally,
            ..
        } = self;
        asking.take(|mut reply, returned| {
            let place = reply.number.checked_sub(*first);
            let request = place.and_then(|place| Some((place, *sent.get(place as usize)?)));
            let Some((place, sent)) = request else { return };
            // Stamps that cannot be would make a round trip of years, for which the rest would be waited.
            let is_true = |stamps: &Stamps| {
                let is_held = stamps.held(returned.since(sent)).is_some();
                is_held && stamps.is_of_our_time(origin.1)
            };
            reply.stamps = reply.stamps.filter(is_true);
            // Of copies the first counts.
            if let Entry::Vacant(vacant) = back.entry(place.into()) {
                tally.count(&reply, context.plan);
                vacant.insert(arrival(place, sent, returned, reply.stamps, *origin));
            }
        })
    }

    /// Whether nothing more is to be expected: whoever started it wants it over, or the connection has ended. What there is is kept.
    fn is_over(&self) -> bool {
        self.context.is_interrupted() || self.asking.ended().is_some()
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
                self.asking.wait(left.saturating_sub(GUARD).min(LOOK))?;
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
            self.asking.wait(LOOK)?;
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
            octets: u64::from(sent.count) * (self.asking.octets() as u64 + u64::from(self.headers)),
            lasted: Duration::from_nanos(sent.lasted_ns),
            arrivals: std::mem::take(&mut self.back).into_values().collect(),
            riders: Riders::default(),
        };
        self.enter(train, &passage, sent)?;
        self.show();
        if let Some(reason) = self.asking.ended() {
            return Err(Broken::Far(reason.to_owned()));
        }
        // Who answers none of so many will answer none of the rest.
        if self.tally.replies == 0 && self.asked >= ENOUGH && !self.is_over() {
            return Err(Broken::Far(self.asking.silence()));
        }
        Ok(passage)
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
