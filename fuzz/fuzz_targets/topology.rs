//! See `isobath_fuzz::topology`.
#![no_main]

libfuzzer_sys::fuzz_target!(|octets: &[u8]| isobath_fuzz::topology::run(octets));
