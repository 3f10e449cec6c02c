//! A datagram of the data plane: parsed or refused; what is parsed is written back as it was, but
//! for the tag.

use session::wire::Probe;
use session::{DataKey, DataKeys};

/// Runs the target on an input.
pub fn run(datagram: &[u8]) {
    let keys = DataKeys::from(DataKey::new([1; 32]));
    // No assertion: the fuzzer watches comparisons, and so learns the right tag after a while.
    let _ = Probe::verify(datagram, &keys.to_client);
    if let Ok(probe) = Probe::parse(datagram) {
        let mut again = datagram.to_vec();
        probe
            .emit(&mut again, &keys.to_server)
            .expect("it was long enough to parse");
        assert_eq!(again[..24], datagram[..24]);
        assert_eq!(again[32..], datagram[32..]);
        assert_eq!(Probe::verify(&again, &keys.to_server), Ok(()));
    }
}
