//! The text of a fit: refused, or one from which vectors can be made.

use vectors::synth::Fit;

/// Runs the target on an input.
pub fn run(octets: &[u8]) {
    let Ok(text) = std::str::from_utf8(octets) else {
        return;
    };
    if let Ok(fit) = Fit::parse(text) {
        assert!(fit.starts_per_second.is_finite());
        assert!((0.0..=1.0).contains(&fit.concurrent_share));
        let _ = fit.mean_bytes();
        let _ = fit.statements();
    }
}
