//! See `isobath_fuzz::preamble`.
#![no_main]

libfuzzer_sys::fuzz_target!(|octets: &[u8]| isobath_fuzz::preamble::run(octets));
