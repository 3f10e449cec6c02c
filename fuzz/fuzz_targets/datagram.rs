//! See `isobath_fuzz::datagram`.
#![no_main]

libfuzzer_sys::fuzz_target!(|octets: &[u8]| isobath_fuzz::datagram::run(octets));
