//! See `isobath_fuzz::fit`.
#![no_main]

libfuzzer_sys::fuzz_target!(|octets: &[u8]| isobath_fuzz::fit::run(octets));
