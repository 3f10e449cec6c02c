//! See `isobath_fuzz::tun_read`.
#![no_main]

#[path = "../src/tun_read.rs"]
#[expect(unreachable_pub, reason = "the library has it, too")]
mod target;

libfuzzer_sys::fuzz_target!(|octets: &[u8]| target::run(octets));
