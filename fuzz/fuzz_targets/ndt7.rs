//! See `isobath_fuzz::ndt7`.
#![no_main]

libfuzzer_sys::fuzz_target!(|octets: &[u8]| isobath_fuzz::ndt7::run(octets));
