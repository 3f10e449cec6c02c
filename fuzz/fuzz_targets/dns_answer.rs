//! See `isobath_fuzz::dns_answer`.
#![no_main]

libfuzzer_sys::fuzz_target!(|octets: &[u8]| isobath_fuzz::dns_answer::run(octets));
