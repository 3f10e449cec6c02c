//! See `isobath_fuzz::access_key`.
#![no_main]

libfuzzer_sys::fuzz_target!(|octets: &[u8]| isobath_fuzz::access_key::run(octets));
