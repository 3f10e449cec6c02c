//! See `isobath_fuzz::tun_read`.
#![no_main]

libfuzzer_sys::fuzz_target!(|octets: &[u8]| isobath_fuzz::tun_read::run(octets));
