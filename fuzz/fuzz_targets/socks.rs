//! What a browser says to the proxy: understood, incomplete or refused.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|octets: &[u8]| {
    let _ = web::browser::socks::greeting(octets);
    let _ = web::browser::socks::request(octets);
});
