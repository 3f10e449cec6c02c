//! See `isobath_fuzz::browser`.
#![no_main]

libfuzzer_sys::fuzz_target!(|octets: &[u8]| isobath_fuzz::browser::run(octets));
