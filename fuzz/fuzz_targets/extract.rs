//! See `isobath_fuzz::extract`.
#![no_main]

libfuzzer_sys::fuzz_target!(|octets: &[u8]| isobath_fuzz::extract::run(octets));
