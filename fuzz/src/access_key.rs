//! A text is an access key or it is not; a key that was read is written back as it was.

use session::AccessKey;

/// Runs the target on an input.
pub fn run(octets: &[u8]) {
    let Ok(text) = std::str::from_utf8(octets) else {
        return;
    };
    if let Ok(key) = text.parse::<AccessKey>() {
        let typed: String = text.split_whitespace().collect();
        assert_eq!(key.to_string(), typed.to_ascii_lowercase());
    }
}
