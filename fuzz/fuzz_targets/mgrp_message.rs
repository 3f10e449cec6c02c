//! See `isobath_fuzz::mgrp_message`.
#![no_main]

libfuzzer_sys::fuzz_target!(|octets: &[u8]| isobath_fuzz::mgrp_message::run(octets));
