//! What a plan asks of a server, and what the server makes of it.

use far_ends::udpst::{Algorithm, Direction, Terms};
use schema::udpst::{Plan, plan};
use units::Span;

/// What the server is asked for.
pub(crate) fn terms(plan: &Plan, load: &str) -> Terms {
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
pub(crate) fn changed(plan: &Plan, granted: &[Terms]) -> Vec<String> {
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
