//! Estimates of the available bandwidth, one after the other.

use super::news::{Answer, News, Teller};
use crate::btc::plan::Direction;
use crate::estimate::finding::Finding;
use crate::estimate::plan::{Method, Plan, What};
use crate::estimate::riding::{self, Failed, Measured, Target};
use std::net::IpAddr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use sys::clock;
use units::{Dscp, Instant, Rate, Span};

/// Between the end of an estimation and the beginning of the next.
const REST: Duration = Duration::from_secs(1);
/// No stream is faster: ten times the bottleneck of the thesis.
const MOST: Rate = match Rate::from_bps(100_000_000) {
    Some(rate) => rate,
    None => unreachable!(),
};
/// How often the stop flag is looked at.
const LOOK: Duration = Duration::from_millis(50);

/// Whom the global scheduler asks.
pub(crate) trait Asked: Send {
    /// Estimates once; gives up when `give_up` is raised.
    ///
    /// # Errors
    /// In one line, when nobody answers.
    fn estimate(&mut self, give_up: &AtomicBool) -> Result<Measured, String>;
}

/// The estimator itself, over the control socket of a manager.
pub(crate) struct Direct<'a> {
    pub(crate) socket: &'a Path,
    pub(crate) to: IpAddr,
    pub(crate) method: Method,
    pub(crate) seed: u64,
}

impl Asked for Direct<'_> {
    fn estimate(&mut self, give_up: &AtomicBool) -> Result<Measured, String> {
        let plan = Plan {
            what: What::Available,
            method: self.method,
            direction: Direction::Up,
            duration: Span(self.method.usual_duration()),
            most: MOST,
            class: Dscp::CS0,
            seed: self.seed,
        };
        let socket = riding::connect(self.socket).map_err(|error| error.to_string())?;
        match riding::measure(&plan, socket, Target::of_tool(self.to), give_up) {
            Ok(measured) => Ok(measured),
            Err(Failed::Lost(reason)) => Err(reason),
            Err(Failed::Refused(refusal)) => Err(format!("the manager refuses: {refusal}")),
        }
    }
}

/// When the present estimation began, and whether it is to be given up.
#[derive(Default)]
pub(crate) struct Patience {
    began: AtomicU64,
    give_up: AtomicBool,
    /// The run is over: what is under way is neither finished nor given up.
    over: AtomicBool,
}

impl Patience {
    /// Gives an estimation up that has taken `most`, or all when the run is `over`.
    pub(crate) fn look(&self, now: Instant, most: Duration, over: bool) {
        self.over.fetch_or(over, Ordering::Relaxed);
        let began = Instant::from_nanos(self.began.load(Ordering::Relaxed));
        if over || now.since(began) > most {
            self.give_up.store(true, Ordering::Relaxed);
        }
    }

    fn begin(&self, now: Instant) {
        self.give_up.store(false, Ordering::Relaxed);
        self.began.store(now.as_nanos(), Ordering::Relaxed);
    }

    /// Nothing is being estimated; says whether what was has been given up.
    fn end(&self) -> bool {
        self.began.store(u64::MAX, Ordering::Relaxed);
        self.give_up.load(Ordering::Relaxed)
    }
}

/// Asks again and again until the run is over or `stop` is raised, and tells what came of it.
pub(crate) fn run(asked: &mut dyn Asked, patience: &Patience, news: &Teller, stop: &AtomicBool) {
    let is_over = || patience.over.load(Ordering::Relaxed) || stop.load(Ordering::Relaxed);
    while !is_over() {
        let began = clock::now();
        patience.begin(began);
        let measured = asked.estimate(&patience.give_up);
        let gave_up = patience.end();
        if is_over() {
            return;
        }
        let (finding, octets) = match measured {
            Ok(measured) => (measured.finding, Some([measured.overhead, measured.ridden])),
            Err(_) if gave_up => (Finding::none("it took too long and was given up"), None),
            Err(reason) => {
                news.tell(News::Broken(reason));
                return;
            }
        };
        news.tell(News::Answer(Answer {
            began,
            ended: clock::now(),
            finding,
            octets,
        }));
        let next = clock::now() + REST;
        while clock::now() < next && !is_over() {
            clock::sleep_until(next.min(clock::now() + LOOK));
        }
    }
}
