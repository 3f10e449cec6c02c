//! See `isobath_fuzz::far_end`.
#![no_main]

libfuzzer_sys::fuzz_target!(|octets: &[u8]| isobath_fuzz::far_end::run(octets));
