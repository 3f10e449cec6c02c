//! See `isobath_fuzz::dns_answer`.
#![no_main]

#[path = "../src/dns_answer.rs"]
#[expect(unreachable_pub, reason = "the library has it, too")]
mod target;

libfuzzer_sys::fuzz_target!(|octets: &[u8]| target::run(octets));
