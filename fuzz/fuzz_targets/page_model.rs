//! See `isobath_fuzz::page_model`.
#![no_main]

libfuzzer_sys::fuzz_target!(|octets: &[u8]| isobath_fuzz::page_model::run(octets));
