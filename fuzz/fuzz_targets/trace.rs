//! See `isobath_fuzz::trace`.
#![no_main]

libfuzzer_sys::fuzz_target!(|octets: &[u8]| isobath_fuzz::trace::run(octets));
