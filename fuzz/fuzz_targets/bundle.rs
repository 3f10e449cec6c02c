//! See `isobath_fuzz::bundle`.
#![no_main]

libfuzzer_sys::fuzz_target!(|octets: &[u8]| isobath_fuzz::bundle::run(octets));
