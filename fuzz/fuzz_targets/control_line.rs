//! See `isobath_fuzz::control_line`.
#![no_main]

libfuzzer_sys::fuzz_target!(|octets: &[u8]| isobath_fuzz::control_line::run(octets));
