//! The estimators of the service, and what they typically cost; the figures are those of docs/estimate.md.

use jiff::Timestamp;
use probe::service::{Cost, Offer};
use schema::Direction;
use schema::estimate::Plan;
use schema::estimate::plan::{Method, What};
use std::time::Duration;
use units::{Dscp, Rate, Span};

/// No stream is faster than this, whoever asks.
const MOST_BPS: u64 = 1_000_000_000;

/// A way to find something out.
pub(super) struct Way {
    pub(super) what: What,
    pub(super) method: Method,
    /// How long is measured, in seconds, where the method does not end by itself.
    duration_s: u64,
    /// Typical: kilobytes of probes, seconds in all, half of the interval in percent.
    kilobytes: u64,
    seconds: u64,
    interval_pct: Option<f64>,
    /// Whether it is chosen for who wants no quality in particular.
    is_usual: bool,
}

/// All ways, in the order of docs/manager.md. A stream for a round trip is as long as it takes to know the median well; what ends with a
/// check has the check's octets in its figure. What elastic and opportunistic trains find includes the applications' own rate and is nothing without
/// applications; so they promise no interval, and are for who names them.
pub(super) const WAYS: [Way; 13] = [
    way(What::Rtt, Method::Isochronous, 2, (20, 3, Some(5.0)), true),
    way(
        What::Owd,
        Method::Isochronous,
        2,
        (20, 3, Some(100.0)),
        true,
    ),
    way(What::Jitter, Method::Isochronous, 5, (50, 6, None), true),
    way(
        What::Loss,
        Method::Isochronous,
        10,
        (100, 11, Some(100.0)),
        true,
    ),
    way(
        What::Loss,
        Method::Badabing,
        60,
        (13_000, 63, Some(20.0)),
        false,
    ),
    way(
        What::Capacity,
        Method::Pathrate,
        10,
        (4_000, 25, Some(5.0)),
        true,
    ),
    way(
        What::Available,
        Method::PathloadFast,
        10,
        (8_000, 20, Some(6.0)),
        true,
    ),
    way(
        What::Available,
        Method::Pathload,
        10,
        (8_000, 80, Some(5.0)),
        true,
    ),
    way(
        What::Available,
        Method::Yaz,
        60,
        (30_000, 65, Some(10.0)),
        false,
    ),
    way(
        What::Available,
        Method::Pathchirp,
        60,
        (2_500, 65, Some(40.0)),
        false,
    ),
    way(
        What::Available,
        Method::SemiElastic,
        10,
        (5_500, 30, Some(6.0)),
        false,
    ),
    way(What::Available, Method::Elastic, 30, (50, 31, None), false),
    way(
        What::Available,
        Method::Opportunistic,
        30,
        (0, 31, None),
        false,
    ),
];

const fn way(
    what: What,
    method: Method,
    duration_s: u64,
    (kilobytes, seconds, interval_pct): (u64, u64, Option<f64>),
    is_usual: bool,
) -> Way {
    Way {
        what,
        method,
        duration_s,
        kilobytes,
        seconds,
        interval_pct,
        is_usual,
    }
}

impl Way {
    fn offer(&self) -> Offer {
        Offer {
            what: self.what.name(),
            estimator: self.method.name(),
            typical: Cost {
                octets: self.kilobytes * 1_000,
                time: Duration::from_secs(self.seconds),
                interval_pct: self.interval_pct,
            },
            is_usual: self.is_usual,
        }
    }

    /// The run that it takes.
    pub(super) fn plan(&self) -> Option<Plan> {
        let nanos = Timestamp::now().as_nanosecond();
        Some(Plan {
            what: self.what,
            method: self.method,
            direction: Direction::Up,
            duration: Span(Duration::from_secs(self.duration_s)),
            most: Rate::from_bps(MOST_BPS)?,
            class: Dscp::default(),
            // No two runs look at the same slots.
            seed: u64::try_from(nanos).unwrap_or_default(),
        })
    }
}

/// What there is to choose from, by the numbers of [`WAYS`].
pub(super) fn offers() -> Vec<Offer> {
    WAYS.iter().map(Way::offer).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_is_a_run_that_could_be_asked_for() {
        for way in &WAYS {
            assert_eq!(way.plan().unwrap().check(), Ok(()));
        }
    }

    /// Holds manager/properties.
    #[test]
    fn whatever_can_be_asked_can_be_found_within_a_minute_without_a_wish() {
        for way in &WAYS {
            let mut same = WAYS.iter().filter(|other| other.what == way.what);
            assert!(same.any(|way| way.is_usual && way.seconds < 60));
        }
    }
}
