//! The access key: the one thing a person carries from the far end to the near end.
//!
//! It answers both questions of two hosts that have never met. *Is that really the far end?* Its
//! certificate must have the **fingerprint** in the key. *May this one use me?* The client must know
//! the **secret** in the key. As text it is one word that survives chat programs, terminals and
//! reading aloud:
//!
//! ```text
//! iso1-  80 characters of base32 (RFC 4648 section 6) in lower case
//!        = 32 octets SHA-256 of the certificate, 16 octets secret, 2 octets check sum
//! ```
//!
//! The check sum tells a mistyped key, which is refused before anything is sent, from a key that
//! the far end does not accept.

use data_encoding::BASE32_NOPAD;
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// What every key begins with; the digit is the version of the layout.
const PREFIX: &str = "iso1-";
const FINGERPRINT: usize = 32;
const SECRET: usize = 16;
const CHECK: usize = 2;

/// The text is no access key.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
#[error(
    "that is not an isobath key (mistyped?) - a key is 'iso1-' and 80 letters and digits; print it \
     with 'isobath serve --show-key' at the far end"
)]
pub struct KeyError;

/// SHA-256 over the DER form of a certificate.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Fingerprint(pub [u8; FINGERPRINT]);

/// What a client must know to pass. Never printed but as part of an [`AccessKey`].
#[derive(Clone, Copy, Eq, PartialEq)]
pub struct Secret(pub [u8; SECRET]);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// Certificate fingerprint and secret of one server.
///
/// `Display` writes the whole key, secret and all; `Debug` leaves the secret out.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct AccessKey {
    /// Which certificate the server must show.
    pub fingerprint: Fingerprint,
    /// What the client must know.
    pub secret: Secret,
}

impl fmt::Display for AccessKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut octets = self.fingerprint.0.to_vec();
        octets.extend(self.secret.0);
        octets.extend(check(&octets));
        let body = BASE32_NOPAD.encode(&octets).to_ascii_lowercase();
        write!(f, "{PREFIX}{body}")
    }
}

impl FromStr for AccessKey {
    type Err = KeyError;

    /// Reads a key in either case, with any white space that a terminal or a mail put into it.
    fn from_str(input: &str) -> Result<Self, KeyError> {
        let text: String = input.split_whitespace().collect();
        let text = text.to_ascii_uppercase();
        let body = text
            .strip_prefix(&PREFIX.to_ascii_uppercase())
            .ok_or(KeyError)?;
        let octets = BASE32_NOPAD.decode(body.as_bytes()).map_err(|_| KeyError)?;
        Self::from_octets(&octets).ok_or(KeyError)
    }
}

impl AccessKey {
    fn from_octets(octets: &[u8]) -> Option<Self> {
        let (fingerprint, rest) = octets.split_first_chunk::<FINGERPRINT>()?;
        let (secret, rest) = rest.split_first_chunk::<SECRET>()?;
        let body = octets.get(..FINGERPRINT + SECRET)?;
        (rest == check(body)).then_some(Self {
            fingerprint: Fingerprint(*fingerprint),
            secret: Secret(*secret),
        })
    }
}

/// The first octets of BLAKE3 over the key's content: one slip in 65,536 goes unseen here, and is
/// then refused by the far end.
fn check(octets: &[u8]) -> [u8; CHECK] {
    let hash = blake3::hash(octets);
    [hash.as_bytes()[0], hash.as_bytes()[1]]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sample() -> AccessKey {
        AccessKey {
            fingerprint: Fingerprint([0xa5; 32]),
            secret: Secret([7; 16]),
        }
    }

    #[test]
    fn a_key_survives_another_case_and_a_broken_line() {
        let text = sample().to_string();
        assert_eq!(text.len(), 85);
        assert_eq!(text.to_uppercase().parse(), Ok(sample()));
        assert_eq!(
            format!(" {}\n  {}\r\n", &text[..40], &text[40..]).parse(),
            Ok(sample())
        );
    }

    #[test]
    fn every_single_slip_of_the_hand_is_noticed() {
        let text = sample().to_string();
        for at in 0..text.len() {
            let mut slipped: Vec<u8> = text.clone().into_bytes();
            slipped[at] = if slipped[at] == b'q' { b'r' } else { b'q' };
            let slipped = String::from_utf8(slipped).unwrap();
            assert_eq!(slipped.parse::<AccessKey>(), Err(KeyError), "{slipped}");
        }
        assert_eq!(text[..84].parse::<AccessKey>(), Err(KeyError));
        assert_eq!(format!("{text}a").parse::<AccessKey>(), Err(KeyError));
    }

    #[test]
    fn debug_shows_no_secret() {
        let shown = format!("{:?}", sample());
        assert!(shown.contains("Secret(..)"), "{shown}");
        assert!(!shown.contains("[7, 7"), "{shown}");
    }

    proptest! {
        #[test]
        fn text_and_back_is_the_same_key(fingerprint: [u8; 32], secret: [u8; 16]) {
            let key = AccessKey { fingerprint: Fingerprint(fingerprint), secret: Secret(secret) };
            prop_assert_eq!(key.to_string().parse(), Ok(key));
        }

        #[test]
        fn any_text_is_a_key_or_an_error(text in ".{0,120}", body in "iso1-[a-z2-7]{78,82}") {
            let _ = text.parse::<AccessKey>();
            let _ = body.parse::<AccessKey>();
        }
    }
}
