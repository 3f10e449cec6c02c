//! Whether a machine held a load: by the same standards by which a replay is judged afterwards.

use record::Warning;
use schema::replay::Summary;
use serde::{Deserialize, Serialize};

/// A sign that the machine was the bottleneck.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Criterion {
    /// Connections were opened more than 5 ms late at the 99th percentile.
    StartsLate,
    /// The emulated link was 10 ms late or more at the 99th percentile, or lost packets.
    Emulator,
    /// Connections could not be made, or broke.
    Refused,
    /// Processors were saturated, or were taken away.
    Processors,
    /// Not all requests were answered in time.
    Unanswered,
}

impl Criterion {
    const ALL: [Self; 5] = [
        Self::StartsLate,
        Self::Emulator,
        Self::Refused,
        Self::Processors,
        Self::Unanswered,
    ];

    /// What happened, for a sentence.
    pub const fn words(self) -> &'static str {
        match self {
            Self::StartsLate => "connections were opened late",
            Self::Emulator => "the emulator was late",
            Self::Refused => "connections were refused",
            Self::Processors => "the processors were saturated",
            Self::Unanswered => "requests were not answered in time",
        }
    }

    /// The codes of the warnings of a replay that say so.
    const fn codes(self) -> &'static [&'static str] {
        match self {
            Self::StartsLate => &["starts_late"],
            Self::Emulator => &["emulator_late", "emulator_lost"],
            Self::Refused => &["broken"],
            Self::Processors => &["cpu_saturated", "cpu_stolen", "cpu_throttled"],
            Self::Unanswered => &[],
        }
    }
}

/// What broke in a replay with this `summary` and these `warnings`, which was to have so many `answers`.
pub fn broken(warnings: &[Warning], summary: &Summary, answers: u64) -> Vec<Criterion> {
    let warned = |criterion: Criterion| {
        let codes = criterion.codes();
        warnings.iter().any(|w| codes.contains(&w.code.as_str()))
    };
    let answered = summary.response_ms.map_or(0, |spread| spread.of.n);
    let all = Criterion::ALL.into_iter();
    all.filter(|criterion| match criterion {
        Criterion::Unanswered => answered < answers,
        criterion => warned(*criterion),
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::plan::Way;
    use crate::replay::quality::{self, LeftOut};
    use kit::ending::Ending;
    use record::{CpuUse, Distribution, Instrument};
    use schema::replay::{BothWays, Bytes, Connections, Spread, Window};

    fn spread(samples: &[f64]) -> Spread {
        Spread {
            of: Distribution::of(samples.iter().copied()).unwrap(),
            p80: 0.0,
            sd: 0.0,
        }
    }

    fn summary(late_ms: f64) -> Summary {
        Summary {
            connections: Connections::default(),
            bytes: Bytes::default(),
            udp: None,
            start_lateness_ms: Some(spread(&[late_ms; 3])),
            duration_ms: None,
            duration_from_connect_ms: None,
            response_ms: Some(spread(&[1.0; 3])),
            queue_packets: None,
            queue_ms: None,
            queue_empty_pct: None,
            drops: None,
            active_connections: None,
            throughput_mbps: None,
            goodput_mbps: BothWays::default(),
            packets_per_s: None,
            arrivals: None,
            window: Window {
                from_s: 1.0,
                to_s: 2.0,
            },
            forward: Way::Down,
            links: Vec::new(),
        }
    }

    /// By the warnings that a replay would have.
    fn judged(summary: &Summary, busy_pct: f64, answers: u64) -> Vec<Criterion> {
        let instrument = Instrument {
            cpu: vec![CpuUse {
                mean_pct: busy_pct,
                ..CpuUse::default()
            }],
            ..Instrument::default()
        };
        let warnings = quality::warnings(
            &Ending::Complete,
            &[],
            summary,
            &instrument,
            LeftOut::default(),
        );
        broken(&warnings, summary, answers)
    }

    #[test]
    fn a_load_is_held_when_all_is_answered_and_nobody_late() {
        assert!(judged(&summary(0.4), 60.0, 3).is_empty());
    }

    /// Holds tmix/sockets.
    #[test]
    fn every_sign_is_seen() {
        assert_eq!(judged(&summary(5.1), 60.0, 3), [Criterion::StartsLate]);
        assert_eq!(judged(&summary(0.4), 99.0, 3), [Criterion::Processors]);
        assert_eq!(judged(&summary(0.4), 60.0, 4), [Criterion::Unanswered]);
        let mut refused = summary(0.4);
        refused.connections.refused = 1;
        assert_eq!(judged(&refused, 60.0, 3), [Criterion::Refused]);
    }

    #[test]
    fn every_code_is_one_that_a_replay_is_warned_with() {
        let document = include_str!("../../../../../docs/output.md");
        let codes = Criterion::ALL.into_iter().flat_map(Criterion::codes);
        for code in codes {
            assert!(document.contains(&format!("`{code}`")), "{code}");
        }
    }
}
