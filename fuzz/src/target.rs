//! A target of model based metrics: text that somebody wrote is one that can be tested, or is refused.

use mbm::diagnostic::{Setup, Test};
use mbm::target::NamedTarget;
use std::time::Duration;
use units::Instant;

/// Runs the target on an input.
pub fn run(octets: &[u8]) {
    let Ok(text) = std::str::from_utf8(octets) else {
        return;
    };
    let Ok(named) = NamedTarget::parse("fuzz", text) else {
        return;
    };
    let setup = Setup::new(&named.target, Duration::from_millis(10));
    for test in Test::ALL {
        if let Some(mut stream) = setup.stream(test, Instant::ZERO) {
            let _ = stream.poll(Instant::ZERO);
        }
    }
}
