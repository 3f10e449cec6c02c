//! A preamble: parsed or refused; what is parsed is written back as it was, but for the tag.

use session::wire::Preamble;
use session::{DataKey, DataKeys};

/// Runs the target on an input.
pub fn run(octets: &[u8]) {
    let Some(octets) = octets.first_chunk::<{ Preamble::LEN }>() else {
        return;
    };
    let keys = DataKeys::from(DataKey::new([1; 32]));
    if let Ok(preamble) = Preamble::parse(octets) {
        let again = preamble.emit(&keys.to_server);
        assert_eq!(again[..24], octets[..24]);
        assert_eq!(Preamble::verify(&again, &keys.to_server), Ok(()));
    }
}
