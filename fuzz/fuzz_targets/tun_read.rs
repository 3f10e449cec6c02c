//! What a TUN device hands over: cut into packets, marked, joined again and written.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|read: &[u8]| packet::fuzz_tun_read(read));
