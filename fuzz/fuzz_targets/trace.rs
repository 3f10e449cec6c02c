//! A packet-delivery trace: refused, or one with a period and a rate.
#![no_main]

use libfuzzer_sys::fuzz_target;
use path::Trace;

fuzz_target!(|text: &str| {
    if let Ok(trace) = text.parse::<Trace>() {
        assert!(!trace.period().is_zero());
        // One delivery in a very long time is less than one bit per second, which no rate is.
        assert!(trace.mean_rate().is_none_or(|rate| rate.as_bps() > 0));
    }
});
