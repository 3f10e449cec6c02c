//! See `isobath_fuzz::target`.
#![no_main]

libfuzzer_sys::fuzz_target!(|octets: &[u8]| isobath_fuzz::target::run(octets));
