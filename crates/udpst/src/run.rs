//! Does what the plan says: one direction after the other.

use super::Live;
use super::opening::{Opened, open};
use far_ends::udpst::{
    Algorithm, Arrived, Direction, Errors, Feedback, Sender, SharedKey, Status, SubInterval, Terms,
};
use kit::control;
use kit::ending::Ending;
use kit::far::StopOnDrop;
use kit::instrument::Cpus;
use kit::sampler::Sampler;
use kit::secret::secret;
use kit::stream::nanos;
use kit::udpst::{End, Ended, SILENT, receive, send};
use record::RecordWriter;
use schema::tables::Cpu;
use schema::udpst::tables::{UdpstInterval, UdpstTrial};
use schema::udpst::{Plan, plan};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use sys::clock;
use units::{Instant, Span, TrafficClass};

/// What is needed to carry a plan out.
pub type Context<'a> = control::Context<'a, Plan, Live>;

/// Octets of IP's and UDP's headers, by version.
const HEADERS: [u64; 2] = [28, 48];
/// The path is empty again after so long, before the other direction.
const PAUSE: Duration = Duration::from_secs(1);

/// What came of a run.
pub struct Outcome {
    /// How the run ended.
    pub ending: Ending,
    /// All trials.
    pub trials: Vec<UdpstTrial>,
    /// All sub-intervals.
    pub intervals: Vec<UdpstInterval>,
    /// Datagrams that this host's kernel had no room for.
    pub overflows: u32,
    /// What a server did not do as it was asked, in words.
    pub changed: Vec<String>,
    /// How busy this host was.
    pub cpu: Vec<Cpu>,
}

/// A server that has granted the first test, whose load begins at once.
pub struct Granted<'a> {
    server: SocketAddr,
    key: Option<&'a SharedKey>,
    first: Opened,
}

impl<'a> Granted<'a> {
    /// Asks `server` for the first test of `plan`.
    ///
    /// # Errors
    /// In one line why it cannot be had.
    pub fn ask(
        plan: &Plan,
        server: SocketAddr,
        key: Option<&'a SharedKey>,
        interrupt: &AtomicBool,
    ) -> anyhow::Result<Self> {
        let load = plan.ways.directions()[0];
        let is_interrupted = || interrupt.load(Ordering::Relaxed);
        let first = open(server, key, &terms(plan, load), &is_interrupted);
        let first = first.map_err(|reason| anyhow::anyhow!(reason))?;
        Ok(Self { server, key, first })
    }
}

/// Carries the plan out.
///
/// # Errors
/// Only when the record cannot be written; everything else ends up in the outcome.
pub fn run(
    context: &Context<'_>,
    granted: Granted<'_>,
    record: &mut RecordWriter,
) -> Result<Outcome, record::Error> {
    let Granted { server, key, first } = granted;
    let origin = clock::now();
    let cpus = Cpus::default();
    let stop = AtomicBool::new(false);
    let sampler = Sampler::new(origin, "client", &cpus);
    std::thread::scope(|scope| {
        let _stop = StopOnDrop(&stop);
        scope.spawn(|| sampler.run(&stop));
        let mut run = Run {
            context,
            server,
            key,
            origin,
            trials: Vec::new(),
            intervals: Vec::new(),
            overflows: 0,
            terms: Vec::new(),
            record,
        };
        let ending = match run.pass(first) {
            Ok(()) => context.ending(),
            Err(_) if context.is_interrupted() => Ending::Interrupted,
            Err(reason) => Ending::Lost(reason),
        };
        run.record.append(&run.trials)?;
        run.record.append(&run.intervals)?;
        let cpu = cpus.take();
        run.record.append(&cpu)?;
        run.record.flush()?;
        Ok(Outcome {
            ending,
            trials: run.trials,
            intervals: run.intervals,
            overflows: run.overflows,
            changed: changed(context.plan, &run.terms),
            cpu,
        })
    })
}

struct Run<'a> {
    context: &'a Context<'a>,
    server: SocketAddr,
    key: Option<&'a SharedKey>,
    origin: Instant,
    trials: Vec<UdpstTrial>,
    intervals: Vec<UdpstInterval>,
    overflows: u32,
    terms: Vec<Terms>,
    record: &'a mut RecordWriter,
}

impl Run<'_> {
    fn pass(&mut self, first: Opened) -> Result<(), String> {
        let mut first = Some(first);
        for load in self.context.plan.ways.directions() {
            let opened = match first.take() {
                Some(first) => first,
                None => self.open(load)?,
            };
            match self.direction(load, opened)? {
                Ended::Stopped => {}
                Ended::Silent => {
                    return Err(format!(
                        "nothing more came from the server while it was loaded {load}"
                    ));
                }
                Ended::Interrupted => return Ok(()),
            }
        }
        Ok(())
    }

    /// A test after the first one.
    fn open(&self, load: &str) -> Result<Opened, String> {
        clock::sleep_until(clock::now() + PAUSE);
        let asked = terms(self.context.plan, load);
        let interrupted = || self.context.is_interrupted();
        open(self.server, self.key, &asked, &interrupted)
    }

    fn direction(&mut self, load: &'static str, opened: Opened) -> Result<Ended, String> {
        let Opened { socket, activation } = opened;
        let interrupted = || self.context.is_interrupted();
        let terms = activation.terms;
        self.terms.push(terms);
        let end = End {
            socket: &socket,
            class: TrafficClass::from_octet(terms.dscp_ecn),
            lasts: None,
            // A server ends a test half a second after its time.
            longest: Duration::from_secs(u64::from(terms.test_s) + 1) + SILENT,
            answer: &|_| None,
            is_interrupted: &interrupted,
        };
        let is_v6 = self.server.ip().to_canonical().is_ipv6();
        let mut seen = Seen {
            load,
            headers: HEADERS[usize::from(is_v6)],
            origin: self.origin,
            begun: clock::now(),
            last_interval: 0,
            most_intervals: u32::from(terms.test_s) * 1_000 / u32::from(terms.sub_interval_ms),
            trials: &mut self.trials,
            intervals: &mut self.intervals,
            display: self.context.display,
        };
        let failed = |error: sys::Error| error.to_string();
        if terms.direction == Direction::Downstream {
            let (ended, overflows) = receive(&end, &terms, |feedback, at| {
                seen.received(feedback, at);
                feedback.status.rate
            })
            .map_err(failed)?;
            self.overflows = self.overflows.saturating_add(overflows);
            Ok(ended)
        } else {
            let sender = Sender::new(activation.rate, is_v6, clock::now(), secret());
            send(&end, sender, |status, at| {
                seen.told(status, at);
                status.rate
            })
            .map_err(failed)
        }
    }
}

/// What the server is asked for.
fn terms(plan: &Plan, load: &str) -> Terms {
    let direction = if load == "up" {
        Direction::Upstream
    } else {
        Direction::Downstream
    };
    let ms = |span: Span| u16::try_from(span.0.as_millis()).unwrap_or(u16::MAX);
    let seconds = u16::try_from(plan.duration.0.as_secs()).unwrap_or(u16::MAX);
    Terms {
        thresholds_ms: (ms(plan.low), ms(plan.upper)),
        trial_ms: ms(plan.trial),
        dscp_ecn: plan.dscp.map_or(0, |dscp| dscp.get() << 2),
        one_way: plan.one_way,
        algorithm: match plan.algorithm {
            plan::Algorithm::B => Algorithm::B,
            plan::Algorithm::C => Algorithm::C,
        },
        sub_interval_ms: ms(plan.sub_interval),
        ..Terms::usual(direction, seconds)
    }
}

/// What is not as the plan has it.
fn changed(plan: &Plan, granted: &[Terms]) -> Vec<String> {
    let mut all = Vec::new();
    for terms in granted {
        let load = match terms.direction {
            Direction::Upstream => "up",
            Direction::Downstream => "down",
        };
        let asked = self::terms(plan, load);
        let mut note = |is_other: bool, what: String| {
            if is_other {
                all.push(format!("{what} {load}"));
            }
        };
        note(
            terms.test_s != asked.test_s,
            format!("it lasts {} s", terms.test_s),
        );
        note(
            terms.dscp_ecn != asked.dscp_ecn,
            format!("DSCP {}", terms.dscp_ecn >> 2),
        );
        let (low, upper) = terms.thresholds_ms;
        note(
            terms.thresholds_ms != asked.thresholds_ms,
            format!("thresholds of {low} and {upper} ms"),
        );
        note(
            (terms.trial_ms, terms.sub_interval_ms) != (asked.trial_ms, asked.sub_interval_ms),
            format!(
                "trials of {} ms and sub-intervals of {} ms",
                terms.trial_ms, terms.sub_interval_ms
            ),
        );
        note(
            terms.algorithm != asked.algorithm,
            "the other algorithm".to_owned(),
        );
    }
    all
}

/// What a direction shows, whoever counts it.
struct Seen<'a> {
    load: &'static str,
    headers: u64,
    origin: Instant,
    begun: Instant,
    last_interval: u32,
    /// Those of the test's time; it goes on for half a second.
    most_intervals: u32,
    trials: &'a mut Vec<UdpstTrial>,
    intervals: &'a mut Vec<UdpstInterval>,
    display: &'a dyn Fn(&Live),
}

impl Seen<'_> {
    /// A trial that this host has counted.
    fn received(&mut self, feedback: &Feedback, at: Instant) {
        let Arrived {
            lasted,
            datagrams,
            bytes,
            errors,
            delay,
            rtt,
        } = feedback.trial;
        self.trial(
            &UdpstTrial {
                number: feedback.status.number,
                lasted_ns: nanos(lasted),
                datagrams,
                ip_bytes: self.with_headers(bytes, datagrams),
                owd_variation_ns: delay.mean().map(nanos),
                rtt_variation_ns: (rtt.count > 0).then(|| nanos(rtt.latest)),
                least_rtt_ns: feedback.least_rtt.map(nanos),
                ..UdpstTrial::default()
            },
            errors,
            at,
        );
        if let Some(sub) = feedback.sub_interval {
            let row = UdpstInterval {
                lasted_ns: nanos(sub.lasted),
                ip_bytes: self.with_headers(sub.bytes, sub.datagrams),
                datagrams: sub.datagrams,
                owd_variation_most_ns: (sub.delay.count > 0).then(|| nanos(sub.delay.greatest)),
                rtt_variation_most_ns: (sub.rtt.count > 0).then(|| nanos(sub.rtt.greatest)),
                ..UdpstInterval::default()
            };
            self.interval(&row, sub.errors, at);
        }
    }

    /// A trial that the server has told of.
    fn told(&mut self, status: &Status, at: Instant) {
        let ns = |ms: u32| u64::from(ms) * 1_000_000;
        let delay = status.delay;
        let mean = (ns(delay.sum)).checked_div(delay.count.into());
        self.trial(
            &UdpstTrial {
                number: status.number,
                lasted_ns: u64::from(status.lasted_us) * 1_000,
                asked_bps: Some(status.rate.bps()),
                datagrams: status.datagrams,
                ip_bytes: self.with_headers(status.bytes.into(), status.datagrams),
                owd_variation_ns: mean,
                rtt_variation_ns: status.rtt_variation_ms.map(ns),
                least_rtt_ns: status.least_rtt_ms.map(ns),
                ..UdpstTrial::default()
            },
            status.errors,
            at,
        );
        // Feedback that comes late tells of one that is known.
        if status.sub_interval_number <= self.last_interval {
            return;
        }
        self.last_interval = status.sub_interval_number;
        let SubInterval {
            datagrams,
            bytes,
            lasted_us,
            errors,
            delay,
            rtt_variation_ms,
            ..
        } = status.sub_interval;
        let row = UdpstInterval {
            lasted_ns: u64::from(lasted_us) * 1_000,
            ip_bytes: self.with_headers(bytes, datagrams),
            datagrams,
            owd_variation_most_ns: delay.least.map(|_| ns(delay.greatest)),
            rtt_variation_most_ns: rtt_variation_ms.0.map(|_| ns(rtt_variation_ms.1)),
            ..UdpstInterval::default()
        };
        self.interval(&row, errors, at);
    }

    fn with_headers(&self, bytes: u64, datagrams: u32) -> u64 {
        bytes.saturating_add(self.headers * u64::from(datagrams))
    }

    fn trial(&mut self, row: &UdpstTrial, errors: Errors, at: Instant) {
        let row = UdpstTrial {
            t_ns: nanos(at.since(self.origin)),
            load: self.load.into(),
            lost: errors.lost,
            reordered: errors.reordered,
            duplicates: errors.duplicates,
            ..row.clone()
        };
        let capacities = self.intervals.iter().filter(|row| row.load == self.load);
        let capacity_bps = capacities.map(|row| row.ip_bps).max_by(f64::total_cmp);
        (self.display)(&Live {
            load: self.load,
            elapsed_s: at.since(self.begun).as_secs_f64(),
            ip_mbps: rate(row.ip_bytes, row.lasted_ns) / 1e6,
            capacity_mbps: capacity_bps.map(|bps| bps / 1e6),
        });
        self.trials.push(row);
    }

    fn interval(&mut self, row: &UdpstInterval, errors: Errors, at: Instant) {
        let number = self.intervals.iter().filter(|row| row.load == self.load);
        let number = u32::try_from(number.count()).unwrap_or(u32::MAX);
        if number >= self.most_intervals || row.lasted_ns == 0 {
            return;
        }
        let row = UdpstInterval {
            t_ns: nanos(at.since(self.origin)),
            load: self.load.into(),
            interval: number,
            ip_bps: rate(row.ip_bytes, row.lasted_ns),
            lost: errors.lost,
            reordered: errors.reordered,
            duplicates: errors.duplicates,
            ..row.clone()
        };
        self.intervals.push(row);
    }
}

/// Bits per second.
fn rate(bytes: u64, lasted_ns: u64) -> f64 {
    bytes as f64 * 8e9 / lasted_ns.max(1) as f64
}
