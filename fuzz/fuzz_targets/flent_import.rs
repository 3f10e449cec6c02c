//! See `isobath_fuzz::flent_import`.
#![no_main]

#[path = "../src/flent_import.rs"]
#[expect(unreachable_pub, reason = "the library has it, too")]
mod target;

libfuzzer_sys::fuzz_target!(|octets: &[u8]| target::run(octets));
