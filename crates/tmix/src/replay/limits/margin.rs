//! Whether a replay asks more of this machine than it can do with some reserve.

use super::{Component, Limits};
use crate::replay::forecast::Forecast;
use record::Warning;
use schema::replay::Summary;

/// Share of a limit beyond which nothing is to be trusted (D keeps generators and routers below such a share, section 4.2).
pub(super) const SHARE: f64 = 0.8;
/// The code of the warning of a replay beyond it; such a run is invalid.
pub const BEYOND: &str = "beyond_limits";
/// The code of the warning of a replay on a machine whose limits nobody knows.
const UNKNOWN: &str = "not_calibrated";

/// What is asked of a component, in its unit.
pub type Demand = (Component, f64);

/// A demand that is too much.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Excess {
    component: Component,
    demand: f64,
    limit: f64,
}

impl Excess {
    /// The figures, as "9000 connections/s, and 80 % of this machine's limit is 4000 connections/s".
    fn words(&self) -> String {
        format!(
            "{}, and {:.0} % of this machine's limit is {}",
            self.component.words(self.demand),
            SHARE * 100.0,
            self.component.words(self.limit * SHARE)
        )
    }

    /// Why a replay is refused, and what to do, in one line.
    pub fn refusal(&self, limits: &Limits) -> String {
        let advice = match (self.component, limits.quick) {
            (_, true) => "find out more with 'isobath replay calibrate' (without --quick), ",
            (Component::Open, _) => "raise 'ulimit -n' and calibrate again, ",
            _ => "",
        };
        format!(
            "this replay would need {} - {advice}thin the vectors with 'isobath trace transform --thin', or replay nevertheless with --beyond-limits",
            self.words()
        )
    }
}

/// What `forecast` asks for.
pub fn planned(forecast: &Forecast) -> [Demand; 4] {
    [
        (Component::Starts, forecast.starts_per_s as f64),
        (Component::Open, forecast.open as f64),
        (Component::Packets, forecast.packets_per_s),
        (Component::Rate, forecast.mbps),
    ]
}

/// What there was in a replay with this `summary` and so many connections `open` at once.
pub fn measured(summary: &Summary, open: u64) -> [Demand; 3] {
    let packets = summary.packets_per_s.unwrap_or_default();
    let mbps = summary.throughput_mbps.unwrap_or_default();
    [
        (Component::Open, open as f64),
        (Component::Packets, packets.forward + packets.reverse),
        (Component::Rate, mbps.forward + mbps.reverse),
    ]
}

/// The demand that is furthest beyond its limit's share, if any is.
pub fn excess(limits: &Limits, demands: &[Demand]) -> Option<Excess> {
    let beyond = demands.iter().filter_map(|(component, demand)| {
        let mut found = limits.components.iter();
        let limit = found.find(|found| found.component == *component)?.limit;
        let excess = Excess {
            component: *component,
            demand: *demand,
            limit,
        };
        (*demand > limit * SHARE).then_some(excess)
    });
    let times = |excess: &Excess| excess.demand / excess.limit.max(1e-9);
    beyond.max_by(|one, other| times(one).total_cmp(&times(other)))
}

/// What the reader of a replay should know of it and the machine's `limits`: whether it was `planned` to go beyond them, and
/// whether, by what was `measured`, it did.
pub fn warnings(
    limits: Option<&Limits>,
    planned: Option<Excess>,
    measured: &[Demand],
) -> Vec<Warning> {
    let warning = |code: &str, message: String, advice: &str| Warning {
        code: code.to_owned(),
        message,
        advice: advice.to_owned(),
    };
    let Some(limits) = limits else {
        return vec![warning(
            UNKNOWN,
            "the replay limits of this machine are unknown".to_owned(),
            "measure them with 'isobath replay calibrate', in a minute",
        )];
    };
    let planned = planned.map(|excess| format!("the replay was to need {}", excess.words()));
    let measured = || {
        let excess = excess(limits, measured)?;
        Some(format!("the replay had {}", excess.words()))
    };
    let message = planned.or_else(measured);
    let advice = "replay less at once, by 'isobath trace transform --thin'";
    let warning = message.map(|message| warning(BEYOND, message, advice));
    warning.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::found;
    use super::super::{Machine, SCHEMA};
    use super::*;

    fn limits(quick: bool) -> Limits {
        Limits {
            schema: SCHEMA.to_owned(),
            machine: Machine::this(),
            taken: jiff::Timestamp::UNIX_EPOCH,
            quick,
            components: vec![
                found(Component::Starts, 1_000.0),
                found(Component::Open, 5_000.0),
                found(Component::Packets, 20_000.0),
                found(Component::Rate, 500.0),
            ],
            warnings: Vec::new(),
        }
    }

    fn forecast(starts_per_s: u64, mbps: f64) -> Forecast {
        Forecast {
            starts_per_s,
            mbps,
            open: 4_000,
            packets_per_s: 16_000.0,
            ..Forecast::default()
        }
    }

    /// Holds tmix/calibration.
    #[test]
    fn up_to_four_fifths_of_every_limit_all_is_well() {
        let demands = planned(&forecast(800, 400.0));
        assert_eq!(excess(&limits(false), &demands), None);
        assert!(warnings(Some(&limits(false)), None, &demands).is_empty());
    }

    #[test]
    fn what_is_furthest_beyond_is_told() {
        let demands = planned(&forecast(900, 800.0));
        let excess = excess(&limits(false), &demands).unwrap();
        assert_eq!(
            excess.refusal(&limits(false)),
            "this replay would need 800 Mbit/s, and 80 % of this machine's limit is 400 Mbit/s - thin the vectors with \
             'isobath trace transform --thin', or replay nevertheless with --beyond-limits"
        );
        assert!(excess.refusal(&limits(true)).contains("without --quick"));
    }

    #[test]
    fn what_was_planned_or_measured_beyond_is_warned_of() {
        let codes = |planned, measured: &[Demand]| -> Vec<String> {
            let warnings = warnings(Some(&limits(false)), planned, measured);
            warnings.into_iter().map(|warning| warning.code).collect()
        };
        let much = [(Component::Packets, 16_001.0)];
        assert_eq!(codes(None, &much), [BEYOND]);
        assert_eq!(codes(excess(&limits(false), &much), &[]), [BEYOND]);
        assert!(codes(None, &[(Component::Packets, 15_999.0)]).is_empty());
    }

    #[test]
    fn without_a_calibration_there_is_advice() {
        let warnings = warnings(None, None, &[(Component::Rate, 1e9)]);
        assert_eq!(warnings[0].code, UNKNOWN);
        assert!(warnings[0].advice.contains("isobath replay calibrate"));
    }
}
