//! See `isobath_fuzz::fleet_file`.
#![no_main]

libfuzzer_sys::fuzz_target!(|octets: &[u8]| isobath_fuzz::fleet_file::run(octets));
