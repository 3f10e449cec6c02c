//! A target of model based metrics: text that somebody wrote is one that can be tested, or is refused.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mbm::diagnostic::{Setup, Test};
use mbm::target::NamedTarget;
use std::time::Duration;
use units::Instant;

fuzz_target!(|text: &str| {
    let Ok(named) = NamedTarget::parse("fuzz", text) else {
        return;
    };
    let setup = Setup::new(&named.target, Duration::from_millis(10));
    for test in Test::ALL {
        if let Some(mut stream) = setup.stream(test, Instant::ZERO) {
            let _ = stream.poll(Instant::ZERO);
        }
    }
});
