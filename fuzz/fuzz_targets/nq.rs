//! See `isobath_fuzz::nq`.
#![no_main]

libfuzzer_sys::fuzz_target!(|octets: &[u8]| isobath_fuzz::nq::run(octets));
