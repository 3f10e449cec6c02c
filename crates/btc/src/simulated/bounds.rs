//! What a simulation may take: refused before it begins where the figures show that it would not end, and given up where
//! only its run shows it.
//!
//! Time costs nothing in virtual time but for the looks at the queues, and packets cost about a microsecond at each node. So
//! there is a bound for the virtual time after the last transfer's end, and one for the packets.

use ::path::{CrossSpec, Spec, StageSpec};
use anyhow::bail;
use kit::virtual_path::{FULL_PACKET, PATIENCE, Path, packet_time};
use lab::profiles;
use schema::btc::Plan;
use schema::btc::plan::Limit;
use std::time::Duration;
use units::{Instant, Span};

/// The longest time from the first transfer's start to the last one's end.
const LONGEST: Duration = Duration::from_secs(24 * 3_600);
/// After that all packets have arrived: queues and delays are no longer.
const DRAINED: Duration = Duration::from_secs(3_600);
/// Packets of all transfers, and of others on the links: an hour's work.
const MOST_PACKETS: f64 = 1e9;

/// Whether `plan` over `path` comes to an end, as far as the figures tell.
///
/// # Errors
/// What is absurd, in one line.
pub fn check(plan: &Plan, path: &Path, apart: Duration) -> anyhow::Result<()> {
    path.check_round_trip()?;
    let time = time(plan, path, apart);
    if time > LONGEST {
        bail!(
            "the transfers would take {} of virtual time, and at most {} are simulated - ask for less, or a faster path",
            Span(time).words(),
            Span(LONGEST).words()
        );
    }
    let packets = transfers(plan, path) + others(path, time);
    if packets > MOST_PACKETS {
        bail!(
            "up to {packets:.1e} packets would be simulated, more than {MOST_PACKETS:.0e} take hours - lower the rates or the duration, or set a --window"
        );
    }
    Ok(())
}

/// When the last packet must have arrived.
pub(super) fn last(plan: &Plan, apart: Duration) -> Instant {
    let end = match plan.limit {
        Limit::Duration(span) => starts(plan, apart).saturating_add(span.0),
        Limit::Segments(_) => LONGEST,
    };
    Instant::ZERO + end.saturating_add(PATIENCE).saturating_add(DRAINED)
}

/// The start of the last transfer.
fn starts(plan: &Plan, apart: Duration) -> Duration {
    apart.saturating_mul(u32::from(plan.parallel).saturating_sub(1))
}

/// The least time that all transfers take.
fn time(plan: &Plan, path: &Path, apart: Duration) -> Duration {
    match plan.limit {
        Limit::Duration(span) => starts(plan, apart).saturating_add(span.0),
        Limit::Segments(count) => {
            let each = path
                .links
                .iter()
                .map(|link| packet_time(&link.up, FULL_PACKET));
            let all = count.saturating_mul(plan.parallel.into());
            let each = each.max().unwrap_or_default();
            starts(plan, apart).max(each.saturating_mul(all))
        }
    }
}

/// The most packets that the transfers send: as many as their windows and all links let through.
fn transfers(plan: &Plan, path: &Path) -> f64 {
    let seconds = match plan.limit {
        Limit::Segments(count) => return f64::from(count) * f64::from(plan.parallel),
        Limit::Duration(span) => span.0.as_secs_f64(),
    };
    let options = &plan.options;
    let window = options
        .receive_window
        .min(options.max_window.unwrap_or(u32::MAX));
    // Without any delay there is no end to round trips.
    let rounds = seconds / path.round_trip().as_secs_f64() + 1.0;
    let by_window = f64::from(window) * f64::from(plan.parallel) * rounds;
    let stages = path.links.iter().flat_map(|link| &link.up.0);
    let by_links = stages.filter_map(|stage| let_through(stage, seconds));
    by_links.fold(by_window, f64::min)
}

/// Full packets that a link lets through in so many seconds.
fn let_through(stage: &StageSpec, seconds: f64) -> Option<f64> {
    let (rate, burst) = match stage {
        StageSpec::Rate { rate, .. } => (*rate, 0),
        StageSpec::TokenBucket { rate, burst, .. } => (*rate, burst.get()),
        StageSpec::Trace { .. } => (profiles::rate(&Spec(vec![stage.clone()]))?, 0),
        _ => return None,
    };
    let octets = rate.as_bps() as f64 / 8.0 * seconds + burst as f64;
    Some(octets / FULL_PACKET as f64)
}

/// Packets that others send through the links meanwhile.
fn others(path: &Path, time: Duration) -> f64 {
    let links = path.links.iter().flat_map(|link| [&link.up, &link.down]);
    let cross = links.flat_map(|link| &link.0).filter_map(StageSpec::cross);
    cross
        .map(|cross| per_second(cross) * time.as_secs_f64())
        .sum()
}

/// Their packets in a second, at their highest rate.
fn per_second(cross: &CrossSpec) -> f64 {
    let rate = cross
        .rates
        .iter()
        .max()
        .map_or(0.0, |rate| rate.as_bps() as f64);
    let sizes: f64 = cross.sizes.iter().map(|&size| f64::from(size)).sum();
    let size = if cross.sizes.is_empty() {
        FULL_PACKET as f64
    } else {
        sizes / cross.sizes.len() as f64
    };
    rate / 8.0 / size
}

#[cfg(test)]
mod tests {
    use super::*;
    use kit::virtual_path::{Aqm, Figures, Size};
    use schema::Direction;
    use schema::btc::plan::Mode;
    use transport::Options;
    use units::Dscp;

    fn path(rate: &str, rtt: &str) -> Path {
        let figures = Figures {
            rate: rate.parse().unwrap(),
            rtt: rtt.parse().unwrap(),
            loss: ::path::Probability::default(),
            queue: Size::Bdp(1.0),
            aqm: Aqm::Fifo,
            ecn: false,
        };
        figures.path(1)
    }

    fn plan(limit: Limit, parallel: u16) -> Plan {
        Plan {
            mode: Mode::Cooperative,
            hop: None,
            trace: false,
            direction: Direction::Up,
            limit,
            parallel,
            repeat: 1,
            compare: false,
            tools: Vec::new(),
            pace: None,
            options: Options::default(),
            class: Dscp::CS0,
            patience: Span(PATIENCE),
            seed: 1,
        }
    }

    fn said(plan: &Plan, path: &Path, apart: &str) -> String {
        let apart: Span = apart.parse().unwrap();
        check(plan, path, apart.0).map_or_else(|error| error.to_string(), |()| String::new())
    }

    #[test]
    fn what_would_not_end_is_refused() {
        let ten = plan(Limit::Duration("10s".parse().unwrap()), 1);
        let many = plan(ten.limit, 1_000);
        for (rate, rtt) in [("1bit", "40ms"), ("10Mbit", "300s"), ("10Mbit", "9000h")] {
            assert!(
                said(&ten, &path(rate, rtt), "0s").contains("aborted"),
                "{rate} {rtt}"
            );
        }
        for rate in ["2000Gbit", "18000000000Gbit"] {
            assert!(
                said(&ten, &path(rate, "0s"), "0s").contains("packets"),
                "{rate}"
            );
        }
        assert!(said(&many, &path("10Mbit", "1ms"), "100s").contains("virtual time"));
        let segments = plan(Limit::Segments(u32::MAX), 1);
        assert!(said(&segments, &path("10Mbit", "1ms"), "0s").contains("virtual time"));
        assert!(said(&segments, &path("900Gbit", "1ms"), "0s").contains("packets"));
    }

    #[test]
    fn what_is_slow_or_fast_but_ends_is_simulated() {
        let ten = plan(Limit::Duration("10s".parse().unwrap()), 1);
        for (rate, rtt) in [("64bit", "40ms"), ("10Mbit", "299s"), ("100Gbit", "0s")] {
            assert_eq!(said(&ten, &path(rate, rtt), "0s"), "", "{rate} {rtt}");
        }
        // A window bounds what a rate does not.
        let mut small = ten.clone();
        small.options.max_window = Some(10);
        assert_eq!(said(&small, &path("18000000000Gbit", "1ms"), "0s"), "");
        let hour = plan(Limit::Duration("1h".parse().unwrap()), 1_000);
        assert_eq!(said(&hour, &path("1Gbit", "20ms"), "10ms"), "");
    }

    #[test]
    fn every_lab_that_is_limited_can_be_simulated() {
        let ten = plan(Limit::Duration("10s".parse().unwrap()), 1);
        for name in profiles::names() {
            let path = Path::of_lab(name, 1, false).unwrap();
            if path.is_limited() {
                assert_eq!(said(&ten, &path, "10ms"), "", "{name}");
            }
        }
    }
}
