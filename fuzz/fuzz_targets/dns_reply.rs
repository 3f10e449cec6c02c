//! See `isobath_fuzz::dns_reply`.
#![no_main]

libfuzzer_sys::fuzz_target!(|octets: &[u8]| isobath_fuzz::dns_reply::run(octets));
