//! See `isobath_fuzz::twamp`.
#![no_main]

libfuzzer_sys::fuzz_target!(|octets: &[u8]| isobath_fuzz::twamp::run(octets));
