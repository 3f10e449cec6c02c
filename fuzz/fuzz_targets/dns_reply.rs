//! What a resolver answers: read or refused.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|octets: &[u8]| {
    let _ = web::dns::reply(octets);
});
