//! See `isobath_fuzz::segment`.
#![no_main]

libfuzzer_sys::fuzz_target!(|octets: &[u8]| isobath_fuzz::segment::run(octets));
