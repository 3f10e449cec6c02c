//! A packet-delivery trace: refused, or one with a period and a rate.

use path::Trace;

/// Runs the target on an input.
pub fn run(octets: &[u8]) {
    let Ok(text) = std::str::from_utf8(octets) else {
        return;
    };
    if let Ok(trace) = text.parse::<Trace>() {
        assert!(!trace.period().is_zero());
        // One delivery in a very long time is less than one bit per second, which no rate is.
        assert!(trace.mean_rate().is_none_or(|rate| rate.as_bps() > 0));
    }
}
