//! One-way delays are stamped by two clocks; this takes their difference off.

use record::Run;
use schema::tables::Sample;

/// How far the raw one-way delays are off: the difference of the clocks at the start and its growth.
#[derive(Clone, Copy, Default)]
pub(super) struct ClockError {
    offset_ns: f64,
    skew: f64,
}

impl ClockError {
    pub(super) fn of(run: &Run) -> Self {
        let more = |key: &str| {
            run.instrument
                .more
                .get(key)
                .and_then(serde_json::Value::as_f64)
        };
        Self {
            offset_ns: more("owd_offset_ms").unwrap_or(0.0) * 1e6,
            skew: more("owd_skew_ppm").unwrap_or(0.0) / 1e6,
        }
    }

    pub(super) fn at(self, t_ns: u64) -> f64 {
        self.offset_ns + self.skew * t_ns as f64
    }
}

/// The quantity that a stream is about: its round trip, or else its one-way delay, corrected for the clocks.
pub(super) fn value_ns(row: &Sample, clock: ClockError) -> Option<f64> {
    if let Some(rtt) = row.rtt_ns {
        return Some(rtt as f64);
    }
    let error = clock.at(row.t_ns);
    let up = row.owd_up_ns.map(|owd| owd as f64 - error);
    up.or_else(|| row.owd_down_ns.map(|owd| owd as f64 + error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_way_delays_are_corrected_by_the_clocks_error() {
        let clock = ClockError {
            offset_ns: 5e6,
            skew: 1e-6,
        };
        let up = Sample {
            t_ns: 1_000_000_000,
            owd_up_ns: Some(17_001_000),
            ..Sample::default()
        };
        let down = Sample {
            t_ns: 1_000_000_000,
            owd_down_ns: Some(6_999_000),
            ..Sample::default()
        };
        assert!((value_ns(&up, clock).unwrap() - 12e6).abs() < 1.0);
        assert!((value_ns(&down, clock).unwrap() - 12e6).abs() < 1.0);
        let rtt = Sample {
            rtt_ns: Some(24),
            owd_up_ns: Some(1),
            ..Sample::default()
        };
        assert_eq!(value_ns(&rtt, clock), Some(24.0));
        assert_eq!(value_ns(&Sample::default(), clock), None);
    }
}
