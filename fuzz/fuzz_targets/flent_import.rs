//! See `isobath_fuzz::flent_import`.
#![no_main]

libfuzzer_sys::fuzz_target!(|octets: &[u8]| isobath_fuzz::flent_import::run(octets));
