//! See `isobath_fuzz::mgrp`.
#![no_main]

libfuzzer_sys::fuzz_target!(|octets: &[u8]| isobath_fuzz::mgrp::run(octets));
