//! See `isobath_fuzz::socks`.
#![no_main]

libfuzzer_sys::fuzz_target!(|octets: &[u8]| isobath_fuzz::socks::run(octets));
