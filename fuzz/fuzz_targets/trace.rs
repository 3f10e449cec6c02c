//! A packet-delivery trace: refused, or one with a period and a rate.
#![no_main]

use libfuzzer_sys::fuzz_target;
use path::Trace;

fuzz_target!(|text: &str| {
    if let Ok(trace) = text.parse::<Trace>() {
        assert!(!trace.period().is_zero());
        assert!(trace.mean_rate().is_some());
    }
});
