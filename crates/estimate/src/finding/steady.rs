//! What a steady stream met: delays, their variation, losses.

use probe::isochronous::{Estimate, Outcome, Way};
use schema::Direction;
use schema::estimate::Finding;
use serde_json::{Value, json};
use stats::interval::Interval;

const MS: f64 = 1e-6;

/// The round trip.
pub(in super::super) fn rtt(estimate: &Estimate) -> Finding {
    let median = estimate.round_trips.as_ref().and_then(|all| all.median_ms);
    let says = estimate.round_trips.as_ref().map(|all| {
        let ms = &all.ms;
        format!(
            "the median of {} round trips; least {:.2}, 95 % up to {:.2} ms",
            ms.n, ms.min, ms.p95
        )
    });
    finding(estimate, says).within(median, 1.0)
}

/// The delay of one way.
pub(in super::super) fn owd(estimate: &Estimate, direction: Direction) -> Finding {
    let way = way_of(estimate, direction);
    let delay = way.and_then(|way| way.delay_ms);
    let error = estimate.clock.map(|clock| clock.uncertainty_ns * MS);
    let interval = delay.zip(error).map(|(delay, error)| Interval {
        estimate: delay.p50,
        low: (delay.p50 - error).max(0.0),
        high: delay.p50 + error,
    });
    let says = delay.zip(error).map(|(delay, error)| {
        format!(
            "the median of {}; both ways are taken for equally long, which may be wrong by {error:.2} ms",
            delay.n
        )
    });
    finding(estimate, says).within(interval, 1.0)
}

/// The variation of the delay of one way.
pub(in super::super) fn jitter(estimate: &Estimate, direction: Direction) -> Finding {
    let way = way_of(estimate, direction);
    let says = way.map(|way| {
        format!(
            "how much neighbours differ on average; J of RFC 3550 {:.3} ms, 95 % wait up to {:.3} ms longer than the luckiest",
            way.jitter_ms, way.pdv_ms.p95
        )
    });
    Finding {
        value: way.and_then(|way| way.mean_ipdv_ms),
        ..finding(estimate, says)
    }
}

/// The way that was asked for: probes that do not come back go that way, echoes go both.
fn way_of(estimate: &Estimate, direction: Direction) -> Option<&Way> {
    match direction {
        Direction::Down if estimate.back.is_some() => estimate.back.as_ref(),
        _ => estimate.there.as_ref(),
    }
}

/// The share that was lost.
pub(in super::super) fn loss(estimate: &Estimate) -> Finding {
    let says = estimate.call.as_ref().map(|call| {
        format!(
            "{} of {} probes were lost, at most {} in a row",
            call.lost, call.sent, call.lost_runs.longest
        )
    });
    finding(estimate, says).within(estimate.loss, 100.0)
}

/// All but the figures.
fn finding(estimate: &Estimate, says: Option<String>) -> Finding {
    let says = match estimate.outcome {
        Outcome::Nothing => "nothing arrived".to_owned(),
        Outcome::Untimed => {
            "the sender could not keep its interval - use a host that does less".to_owned()
        }
        Outcome::Conclusive => says.unwrap_or_else(|| "too little arrived".to_owned()),
    };
    Finding {
        conclusive: estimate.outcome == Outcome::Conclusive,
        says,
        details: json!({
            "rtt_ms": estimate.round_trips.as_ref().map(|all| all.ms),
            "loss_pct": estimate.loss.map(|loss| loss.estimate * 100.0),
            "longest_run_lost": estimate.call.as_ref().map(|call| call.lost_runs.longest),
            "clock_skew_ppm": estimate.clock.map(|clock| clock.skew_ppm),
            "there": estimate.there.as_ref().map(way),
            "back": estimate.back.as_ref().map(way),
        }),
        ..Finding::default()
    }
}

fn way(way: &Way) -> Value {
    json!({
        "delay_ms": way.delay_ms,
        "jitter_ms": way.jitter_ms,
        "highest_jitter_ms": way.highest_jitter_ms,
        "ipdv_ms": way.ipdv_ms,
        "pdv_ms": way.pdv_ms,
        "reordered": way.reordered,
    })
}
