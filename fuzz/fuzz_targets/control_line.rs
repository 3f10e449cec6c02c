//! See `isobath_fuzz::control_line`.
#![no_main]

#[path = "../src/control_line.rs"]
#[expect(unreachable_pub, reason = "the library has it, too")]
mod target;

libfuzzer_sys::fuzz_target!(|octets: &[u8]| target::run(octets));
