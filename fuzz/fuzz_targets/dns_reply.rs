//! See `isobath_fuzz::dns_reply`.
#![no_main]

#[path = "../src/dns_reply.rs"]
#[expect(unreachable_pub, reason = "the library has it, too")]
mod target;

libfuzzer_sys::fuzz_target!(|octets: &[u8]| target::run(octets));
