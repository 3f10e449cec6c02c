//! See `isobath_fuzz::iperf3`.
#![no_main]

libfuzzer_sys::fuzz_target!(|octets: &[u8]| isobath_fuzz::iperf3::run(octets));
