//! See `isobath_fuzz::udpst`.
#![no_main]

libfuzzer_sys::fuzz_target!(|octets: &[u8]| isobath_fuzz::udpst::run(octets));
