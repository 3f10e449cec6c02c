//! See `isobath_fuzz::far_setup`.
#![no_main]

#[path = "../src/far_setup.rs"]
#[expect(unreachable_pub, reason = "the library has it, too")]
mod target;

libfuzzer_sys::fuzz_target!(|octets: &[u8]| target::run(octets));
