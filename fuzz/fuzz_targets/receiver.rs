//! See `isobath_fuzz::receiver`.
#![no_main]

libfuzzer_sys::fuzz_target!(|octets: &[u8]| isobath_fuzz::receiver::run(octets));
