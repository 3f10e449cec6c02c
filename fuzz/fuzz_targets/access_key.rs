//! See `isobath_fuzz::access_key`.
#![no_main]

#[path = "../src/access_key.rs"]
#[expect(unreachable_pub, reason = "the library has it, too")]
mod target;

libfuzzer_sys::fuzz_target!(|octets: &[u8]| target::run(octets));
