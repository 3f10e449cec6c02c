//! See `isobath_fuzz::socks`.
#![no_main]

#[path = "../src/socks.rs"]
#[expect(unreachable_pub, reason = "the library has it, too")]
mod target;

libfuzzer_sys::fuzz_target!(|octets: &[u8]| target::run(octets));
