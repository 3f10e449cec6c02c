//! See `isobath_fuzz::cvec`.
#![no_main]

libfuzzer_sys::fuzz_target!(|octets: &[u8]| isobath_fuzz::cvec::run(octets));
