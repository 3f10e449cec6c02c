//! The text of a fit: refused, or one from which vectors can be made.
#![no_main]

use libfuzzer_sys::fuzz_target;
use vectors::synth::Fit;

fuzz_target!(|text: &str| {
    if let Ok(fit) = Fit::parse(text) {
        assert!(fit.starts_per_second.is_finite());
        assert!((0.0..=1.0).contains(&fit.concurrent_share));
        let _ = fit.mean_bytes();
        let _ = fit.statements();
    }
});
