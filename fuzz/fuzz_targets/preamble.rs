//! A preamble: parsed or refused; what is parsed is written back as it was, but for the tag.
#![no_main]

use libfuzzer_sys::fuzz_target;
use session::wire::Preamble;
use session::{DataKey, DataKeys};

fuzz_target!(|octets: [u8; Preamble::LEN]| {
    let keys = DataKeys::from(DataKey::new([1; 32]));
    if let Ok(preamble) = Preamble::parse(&octets) {
        let again = preamble.emit(&keys.to_server);
        assert_eq!(again[..24], octets[..24]);
        assert_eq!(Preamble::verify(&again, &keys.to_server), Ok(()));
    }
});
