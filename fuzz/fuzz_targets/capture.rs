//! See `isobath_fuzz::capture`.
#![no_main]

libfuzzer_sys::fuzz_target!(|octets: &[u8]| isobath_fuzz::capture::run(octets));
