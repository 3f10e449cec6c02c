//! From the plan to an estimator, and from what that says to a finding; over a carrier between hosts, or in virtual time.

use super::finding::{available, capacity, loss, steady};
use super::plan::{Method, Plan, What};
use packet::ETHERNET_MTU;
use probe::badabing::{self, Badabing};
use probe::chirp::{self, Chirp};
use probe::harvest::{self, Harvest};
use probe::isochronous::{self, Isochronous};
use probe::pathload::{self, Pathload, Pause, Streams};
use probe::pathrate::{self, Pathrate};
use probe::suspicion::{LEAST_ARRIVALS, Suspicion, suspect};
use probe::train::{Estimator, Passage, Step, Train};
use probe::yaz::{self, Yaz};
use schema::estimate::Finding;
use std::time::Duration;
use units::{Instant, Rate};

/// What carries trains.
pub trait Carry {
    /// Why it can no longer.
    type Error;

    /// Carries a train, not before this moment, and tells what came of it.
    ///
    /// # Errors
    /// When trains cannot be carried any more.
    fn carry(&mut self, train: &Train, not_before: Instant) -> Result<Passage, Self::Error>;

    /// The same of a train that can be done without: nothing where it would cost too much.
    ///
    /// # Errors
    /// When trains cannot be carried any more.
    fn carry_if_affordable(
        &mut self,
        train: &Train,
        not_before: Instant,
    ) -> Result<Option<Passage>, Self::Error> {
        self.carry(train, not_before).map(Some)
    }

    /// Octets of the longest probe that the path takes.
    fn longest(&self) -> u32 {
        ETHERNET_MTU
    }

    /// Probes of a steady stream are to be no closer than this.
    fn least_interval(&self) -> Duration {
        Duration::ZERO
    }

    /// Whether the far end can do nothing but send probes back.
    fn only_echoes(&self) -> bool {
        false
    }

    /// What time it is.
    fn now(&self) -> Instant;

    /// Lets time pass.
    ///
    /// # Errors
    /// When trains cannot be carried any more.
    fn rest(&mut self, time: Duration) -> Result<(), Self::Error>;
}

/// Between two of pathrate's trains, beyond the round trip in which is told what came of the first.
const PAUSE: Duration = Duration::from_millis(10);
/// A figure is tried on one more train of at most this time and this many octets.
const CHECK: Duration = Duration::from_secs(2);
const CHECK_OCTETS: f64 = 3e6;
/// What is no more than so many times a rate that held holds as well.
const ABOUT: f64 = 1.1;
/// If the sender was interrupted it is sent again, so often in all.
const CHECKS: usize = 3;
/// Before it the path has this time to recover.
const REST: Duration = Duration::from_secs(1);
/// Probes of a semi-elastic stream that leave without packets (Papageorgiou 2008, section 8.3).
const LEAST: u32 = 40;

/// Why there is no figure.
const BUCKET: &str = "no figure of this path holds for long and short trains alike";
const CLUMPS: &str = "so gaps between packets, by which this estimator measures, are the receiver's and not the path's";

/// Carries out what the plan asks for.
///
/// # Errors
/// When `carrier` fails.
pub fn find<R: Carry>(plan: &Plan, carrier: &mut R) -> Result<Finding, R::Error> {
    Ok(find_above(plan, 0.0, carrier)?.0)
}

/// The same where a long train has held at this rate in Mbit/s: about that is not tried again. Also, at which rate one held now.
///
/// # Errors
/// When `carrier` fails.
pub fn find_above<R: Carry>(
    plan: &Plan,
    held_mbps: f64,
    carrier: &mut R,
) -> Result<(Finding, Option<f64>), R::Error> {
    let finding = by_method(plan, carrier)?;
    let is_due = finding.value.is_some_and(|mbps| mbps > ABOUT * held_mbps);
    if plan.is_tried() && is_due {
        check(plan.method, finding, carrier)
    } else {
        Ok((finding, None))
    }
}

fn by_method<R: Carry>(plan: &Plan, carrier: &mut R) -> Result<Finding, R::Error> {
    let now = carrier.now();
    let within = |octets: [u32; 2]| octets.map(|octets| octets.min(carrier.longest()));
    Ok(match plan.method {
        Method::Pathload => by_pathload(plan, Pause::Slow, Streams::Inelastic, carrier)?,
        Method::PathloadFast => by_pathload(plan, Pause::Fast, Streams::Inelastic, carrier)?,
        Method::SemiElastic => {
            by_pathload(plan, Pause::Slow, Streams::SemiElastic(LEAST), carrier)?
        }
        Method::Elastic => {
            let streams = Streams::Elastic(plan.duration.0);
            by_pathload(plan, Pause::Fast, streams, carrier)?
        }
        Method::Opportunistic => {
            let options = harvest::Options {
                duration: plan.duration.0,
                ..harvest::Options::default()
            };
            available::of_harvest(&drive(Harvest::new(options, now), carrier)?)
        }
        Method::Yaz => {
            let usual = yaz::Options::default();
            let options = yaz::Options {
                duration: plan.duration.0,
                seed: plan.seed,
                gaps: [plan.least_gap(), usual.gaps[1]],
                octets: within(usual.octets),
                ..usual
            };
            available::of_yaz(&drive(Yaz::new(options, now), carrier)?)
        }
        Method::Pathchirp => {
            let usual = chirp::Options::default();
            let options = chirp::Options {
                duration: plan.duration.0,
                rates: usual.rates.map(|rate| rate.min(plan.most)),
                octets: usual.octets.min(carrier.longest()),
                least_gap: usual.least_gap.max(plan.most.time_for(usual.octets.into())),
                ..usual
            };
            available::of_chirp(&drive(Chirp::new(options, now), carrier)?)
        }
        Method::Badabing => {
            let usual = badabing::Options::default();
            let options = badabing::Options {
                duration: plan.duration.0,
                seed: plan.seed,
                octets: usual.octets.min(carrier.longest()),
                ..usual
            };
            loss::of_badabing(&drive(Badabing::new(options, now), carrier)?)
        }
        Method::Isochronous => by_stream(plan, carrier)?,
        Method::Pathrate => {
            let usual = pathrate::Options::default();
            let options = pathrate::Options {
                pause: PAUSE,
                octets: within(usual.octets),
                ..usual
            };
            capacity::of_pathrate(&drive(Pathrate::new(options, now), carrier)?)
        }
        Method::Hops => Finding::none("no trains find it alone"),
    })
}

fn by_pathload<R: Carry>(
    plan: &Plan,
    pause: Pause,
    made_of: Streams,
    carrier: &mut R,
) -> Result<Finding, R::Error> {
    let usual = pathload::Options::default();
    let octets = match made_of {
        // Packets ride whole: nothing is cut, and next to nothing padded.
        Streams::Elastic(_) => [carrier.longest(); 2],
        _ => usual.octets.map(|octets| octets.min(carrier.longest())),
    };
    let options = pathload::Options {
        pause,
        made_of,
        octets,
        most: plan.most,
        least_gap: plan.least_gap(),
        ..usual
    };
    let estimate = drive(Pathload::new(options, carrier.now()), carrier)?;
    Ok(available::of_pathload(&estimate))
}

fn by_stream<R: Carry>(plan: &Plan, carrier: &mut R) -> Result<Finding, R::Error> {
    let usual = isochronous::Options::default();
    let options = isochronous::Options {
        duration: plan.duration.0,
        interval: usual.interval.max(carrier.least_interval()),
        // There and back is what a round trip is, and how clocks are compared.
        echo: carrier.only_echoes() || matches!(plan.what, What::Rtt | What::Owd),
        ..usual
    };
    let estimate = drive(Isochronous::new(options, carrier.now()), carrier)?;
    Ok(match plan.what {
        What::Owd => steady::owd(&estimate, plan.direction),
        What::Jitter => steady::jitter(&estimate, plan.direction),
        What::Loss => steady::loss(&estimate),
        _ => steady::rtt(&estimate),
    })
}

/// Carries train after train until the estimator has its estimate.
///
/// # Errors
/// When `carrier` fails.
pub fn drive<E: Estimator, R: Carry>(
    mut estimator: E,
    carrier: &mut R,
) -> Result<E::Estimate, R::Error> {
    loop {
        match estimator.next() {
            Step::Done(estimate) => return Ok(estimate),
            Step::Train(train, not_before) => {
                let passage = carrier.carry(&train, not_before)?;
                estimator.handle(&passage, carrier.now());
            }
        }
    }
}

/// Whether a long train at the rate that was found meets what short ones met: behind a token bucket it does not, and where packets arrive in
/// clumps some methods do not. Also its rate in Mbit/s, if it does.
fn check<R: Carry>(
    method: Method,
    finding: Finding,
    carrier: &mut R,
) -> Result<(Finding, Option<f64>), R::Error> {
    let longest = carrier.longest();
    let train = finding.value.and_then(|mbps| long_train(mbps, longest));
    let Some(train) = train else {
        return Ok((finding, None));
    };
    let Some(passage) = long_passage(&train, carrier)? else {
        return Ok((finding.untried(), None));
    };
    let finding = match suspect(&train, &passage) {
        Some(bucket @ Suspicion::TokenBucket { .. }) => {
            return Ok((finding.doubted(&bucket, BUCKET), None));
        }
        Some(clumps @ Suspicion::Coalescence { packets, .. }) => {
            if least_clump(method).is_some_and(|least| packets >= least) {
                return Ok((finding.doubted(&clumps, CLUMPS), None));
            }
            finding.noted(&clumps)
        }
        _ => finding,
    };
    let is_judged = passage.is_timed(&train) && passage.arrivals.len() >= LEAST_ARRIVALS;
    let held = finding.value.filter(|_| is_judged);
    Ok((finding, held))
}

/// Packets of a clump that make the method's figures wrong, if any do.
const fn least_clump(method: Method) -> Option<f64> {
    match method {
        // They measure by gaps of single packets.
        Method::Pathrate | Method::Pathchirp => Some(0.0),
        // By groups of ten.
        Method::Pathload | Method::PathloadFast | Method::SemiElastic => Some(10.0),
        _ => None,
    }
}

/// What came of the train, sent again where its sender was interrupted; none when there is no room for it.
fn long_passage<R: Carry>(train: &Train, carrier: &mut R) -> Result<Option<Passage>, R::Error> {
    let mut last = None;
    for _ in 0..CHECKS {
        let passage = carrier.carry_if_affordable(train, carrier.now() + REST)?;
        let is_over = passage
            .as_ref()
            .is_none_or(|passage| passage.is_timed(train));
        last = passage.or(last);
        if is_over {
            break;
        }
    }
    Ok(last)
}

/// A train of packets of so many octets at this rate in Mbit/s. Riders have no place in it: it fills the path.
fn long_train(mbps: f64, longest: u32) -> Option<Train> {
    let bps = mbps * 1e6;
    let rate = Rate::from_bps(whole(bps)?)?;
    let octets = (bps * CHECK.as_secs_f64() / 8.0).min(CHECK_OCTETS);
    let packets = whole(octets / f64::from(longest))?;
    let gap = rate.time_for(longest.into());
    let mut train = Train::periodic(usize::try_from(packets).ok()?, longest, gap);
    let probes = train.probes.iter_mut();
    probes.for_each(|probe| probe.may_carry = false);
    Some(train)
}

/// A whole number of what there is at least one of.
fn whole(figure: f64) -> Option<u64> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "saturates, and NaN is 0"
    )]
    let number = figure as u64;
    (number > 0).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use path::Spec;
    use sim::Probing;
    use units::{Dscp, Span};

    /// A link of 10 Mbit/s in virtual time.
    struct Carrier {
        path: Probing,
        rested: Instant,
        /// Whether it has room for trains that can be done without, and how many it had.
        has_room: bool,
        long: usize,
        /// Packets that the receiver takes at once.
        clump: usize,
    }

    impl Carrier {
        fn new(has_room: bool) -> Self {
            let way = |stages: &str| {
                let spec: Spec = serde_json::from_str(stages).unwrap();
                let assigned = path::Assigned::default();
                spec.build(1, &|_| Err("no file".into()), &assigned)
                    .unwrap()
            };
            let there = r#"[{ "kind": "rate", "rate": "10Mbit", "queue": { "kind": "fifo", "packets": 500 } }, { "kind": "delay", "delay": "10ms" }]"#;
            let back = r#"[{ "kind": "delay", "delay": "10ms" }]"#;
            Self {
                path: Probing::new(way(there), way(back)),
                rested: Instant::ZERO,
                has_room,
                long: 0,
                clump: 1,
            }
        }
    }

    impl Carry for Carrier {
        type Error = std::convert::Infallible;

        fn carry(&mut self, train: &Train, not_before: Instant) -> Result<Passage, Self::Error> {
            let mut passage = self.path.carry(train, not_before.max(self.rested));
            for clump in passage.arrivals.chunks_mut(self.clump) {
                let last = clump.last().map_or(0, |last| last.arrived_ns);
                let places = (0..).zip(clump);
                places.for_each(|(place, arrival)| arrival.arrived_ns = last + place * 1_000);
            }
            Ok(passage)
        }

        fn carry_if_affordable(
            &mut self,
            train: &Train,
            not_before: Instant,
        ) -> Result<Option<Passage>, Self::Error> {
            self.long += 1;
            let has_room = self.has_room;
            has_room.then(|| self.carry(train, not_before)).transpose()
        }

        fn now(&self) -> Instant {
            self.path.now().max(self.rested)
        }

        fn rest(&mut self, time: Duration) -> Result<(), Self::Error> {
            self.rested = self.now() + time;
            Ok(())
        }
    }

    /// What is found, the rate that held, and how many long trains were asked for.
    fn found(held_mbps: f64, has_room: bool) -> (Finding, Option<f64>, usize) {
        let plan = Plan {
            what: What::Available,
            method: Method::PathloadFast,
            direction: schema::Direction::Up,
            duration: Span::from_millis(10_000),
            most: Rate::from_bps(1_000_000_000).unwrap(),
            class: Dscp::default(),
            seed: 1,
        };
        let mut carrier = Carrier::new(has_room);
        let Ok((finding, held)) = find_above(&plan, held_mbps, &mut carrier);
        (finding, held, carrier.long)
    }

    #[test]
    fn a_figure_is_tried_on_a_long_train_unless_one_held_at_about_its_rate() {
        let (finding, held, long) = found(0.0, true);
        let value = finding.value.unwrap();
        assert!(
            finding.conclusive && (value / 10.0 - 1.0).abs() < 0.1,
            "{value}"
        );
        assert_eq!((held, long), (finding.value, 1));
        let (again, held, long) = found(value, true);
        assert_eq!((again.value, held, long), (finding.value, None, 0));
        let (_, held, long) = found(value / 2.0, true);
        assert_eq!(
            (held, long),
            (finding.value, 1),
            "a lower rate says nothing of it"
        );
    }

    #[test]
    fn clumps_take_figures_from_methods_that_measure_by_single_gaps_only() {
        let tried = |method, clump| {
            let mut carrier = Carrier::new(true);
            carrier.clump = clump;
            let finding = Finding {
                value: Some(9.0),
                conclusive: true,
                details: serde_json::json!({}),
                ..Finding::default()
            };
            let Ok((finding, _)) = check(method, finding, &mut carrier);
            let is_seen = finding.details["suspicion"].is_string();
            assert_eq!(finding.conclusive, finding.value.is_some());
            (finding.conclusive, is_seen)
        };
        assert_eq!(tried(Method::Pathrate, 1), (true, false));
        assert_eq!(tried(Method::Pathrate, 4), (false, true));
        assert_eq!(tried(Method::Pathchirp, 4), (false, true));
        assert_eq!(tried(Method::Pathload, 4), (true, true));
        assert_eq!(tried(Method::Pathload, 16), (false, true));
        assert_eq!(tried(Method::Yaz, 16), (true, true));
    }

    #[test]
    fn a_figure_that_there_is_no_room_to_try_is_told_as_one() {
        let (finding, held, long) = found(0.0, false);
        assert!(finding.conclusive && finding.says.contains("not tried"));
        assert_eq!(finding.details["untried"], true);
        assert_eq!((held, long), (None, 1));
    }
}
