//! A data file of Flent's, whole or mutilated, packed or plain.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|octets: &[u8]| {
    let limits = flent::Limits {
        unpacked_bytes: 1 << 20,
        ..flent::Limits::default()
    };
    let _ = flent::import(octets, &limits);
});
