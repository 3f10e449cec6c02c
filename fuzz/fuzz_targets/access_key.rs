//! A text is an access key or it is not; a key that was read is written back as it was.
#![no_main]

use libfuzzer_sys::fuzz_target;
use session::AccessKey;

fuzz_target!(|text: &str| {
    if let Ok(key) = text.parse::<AccessKey>() {
        let typed: String = text.split_whitespace().collect();
        assert_eq!(key.to_string(), typed.to_ascii_lowercase());
    }
});
