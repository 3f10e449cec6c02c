//! See `isobath_fuzz::page_model`.
#![no_main]

#[path = "../src/page_model.rs"]
#[expect(unreachable_pub, reason = "the library has it, too")]
mod target;

libfuzzer_sys::fuzz_target!(|octets: &[u8]| target::run(octets));
