//! One-way delays by the client's clock.
//!
//! Those in a record's `samples` are as right as the offset between the clocks that was known when the run began. What
//! the delays themselves told of it later stands in run.json; Flent has no place for that, so it is taken off here.

use record::Run;
use schema::tables::Sample;

/// By how much the far end's clock is still ahead.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Line {
    /// At the run's start, in ns.
    offset_ns: f64,
    /// How much that grows, in millionths.
    skew_ppm: f64,
}

impl Line {
    /// What run.json says, in `instrument` or `summary.clock`; `None` when it says nothing.
    fn of(run: &Run) -> Option<Self> {
        let more = |key: &str| run.instrument.more.get(key)?.as_f64();
        let clock = |key: &str| run.summary.get("clock")?.get(key)?.as_f64();
        let offset_ms = more("owd_offset_ms").or_else(|| clock("offset_ms"))?;
        let skew_ppm = more("owd_skew_ppm").or_else(|| clock("skew_ppm"));
        Some(Self {
            offset_ns: offset_ms * 1e6,
            skew_ppm: skew_ppm.unwrap_or_default(),
        })
    }

    #[expect(clippy::cast_possible_truncation, reason = "saturates")]
    fn at(self, t_ns: u64) -> i64 {
        (self.offset_ns + self.skew_ppm * t_ns as f64 / 1e6).round() as i64
    }
}

/// Corrects the one-way delays of all samples.
pub(super) fn correct(run: &Run, samples: &mut [Sample]) {
    let Some(line) = Line::of(run) else { return };
    for row in samples {
        let ahead = line.at(row.t_ns);
        row.owd_up_ns = row.owd_up_ns.map(|ns| ns.saturating_sub(ahead));
        row.owd_down_ns = row.owd_down_ns.map(|ns| ns.saturating_add(ahead));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn what_is_taken_off_one_way_is_added_to_the_other() {
        let mut run = Run::new("rrul", "2026-11-21T07:29:11Z".parse().unwrap(), Value::Null);
        let row = Sample {
            t_ns: 10_000_000_000,
            owd_up_ns: Some(9_000_000),
            owd_down_ns: Some(9_000_000),
            ..Sample::default()
        };
        let mut samples = [row.clone()];
        correct(&run, &mut samples);
        assert_eq!(samples[0], row, "nothing is known");
        run.summary = json!({"clock": {"offset_ms": 2.0, "skew_ppm": 100.0}});
        correct(&run, &mut samples);
        assert_eq!(samples[0].owd_up_ns, Some(6_000_000));
        assert_eq!(samples[0].owd_down_ns, Some(12_000_000));
    }
}
