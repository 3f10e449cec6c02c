//! See `isobath_fuzz::mgrp_peer`.
#![no_main]

libfuzzer_sys::fuzz_target!(|octets: &[u8]| isobath_fuzz::mgrp_peer::run(octets));
