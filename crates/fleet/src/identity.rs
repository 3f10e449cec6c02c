//! Who somebody is to NATS and to the fleet: an Ed25519 key pair, written as NATS writes them (`NKey`).
//!
//! The seed stays in a file of its owner (`SU...`); everybody may know the public key (`U...`). A NATS server that knows the public key lets
//! its owner in without a password, and whoever has the public key sees whether its owner has signed something.

use anyhow::Context as _;
use data_encoding::BASE64URL_NOPAD;
use nkeys::{KeyPair, KeyPairType};
use std::fmt;
use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

/// A key pair, its seed as text, and its public key.
#[derive(Clone)]
pub struct Identity(Arc<(KeyPair, String, PublicKey)>);

impl Identity {
    /// That of the seed in the file at `path`.
    ///
    /// # Errors
    /// When it cannot be read, or is no seed of a user.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let name = path.display();
        let text = fs::read_to_string(path).with_context(|| format!("{name} cannot be read"))?;
        Self::of_seed(text.trim()).with_context(|| {
            format!("{name} holds no NKey user seed - 'isobath fleet key FILE' makes one")
        })
    }

    /// That of the file at `path`, made for its owner alone where there is none.
    ///
    /// # Errors
    /// When it can be neither read nor made.
    pub fn read_or_make(path: &Path) -> anyhow::Result<Self> {
        let mut file = match sys::files::create_private(path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => return Self::read(path),
            Err(error) => {
                return Err(error).with_context(|| format!("{} cannot be made", path.display()));
            }
        };
        let seed = KeyPair::new_user().seed()?;
        file.write_all(format!("{seed}\n").as_bytes())?;
        file.sync_all()?;
        Self::of_seed(&seed)
    }

    fn of_seed(seed: &str) -> anyhow::Result<Self> {
        let pair = KeyPair::from_seed(seed)?;
        anyhow::ensure!(
            pair.key_pair_type() == KeyPairType::User,
            "it is not a user's"
        );
        let public = PublicKey(pair.public_key().into());
        Ok(Self(Arc::new((pair, seed.to_owned(), public))))
    }

    /// The seed: whoever has it is its owner.
    pub fn seed(&self) -> &str {
        &self.0.1
    }

    /// What others know its owner by.
    pub fn public(&self) -> PublicKey {
        self.0.2.clone()
    }

    /// A signature under `octets`, as text.
    ///
    /// # Errors
    /// None, for a pair with a seed.
    pub fn sign(&self, octets: &[u8]) -> anyhow::Result<String> {
        Ok(BASE64URL_NOPAD.encode(&self.0.0.sign(octets)?))
    }
}

/// The public key of a user: `U` and 55 more letters and digits.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct PublicKey(Arc<str>);

/// The text is no public key.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "'{0}' is no public key of a user - 'isobath fleet key FILE' prints that of a file, and an agent its own when it starts"
)]
pub struct PublicKeyError(String);

impl PublicKey {
    /// Its text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether its owner has put `signature` under `octets`.
    pub fn has_signed(&self, octets: &[u8], signature: &str) -> bool {
        let pair = KeyPair::from_public_key(&self.0).ok();
        let signature = BASE64URL_NOPAD.decode(signature.as_bytes()).ok();
        pair.zip(signature)
            .is_some_and(|(pair, signature)| pair.verify(octets, &signature).is_ok())
    }
}

impl FromStr for PublicKey {
    type Err = PublicKeyError;

    fn from_str(text: &str) -> Result<Self, PublicKeyError> {
        match KeyPair::from_public_key(text) {
            Ok(pair) if pair.key_pair_type() == KeyPairType::User => Ok(Self(text.into())),
            _ => Err(PublicKeyError(text.chars().take(60).collect())),
        }
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

crate::name::text_serde!(PublicKey);

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn a_file_is_made_once_for_its_owner_alone_and_read_afterwards() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("nkey");
        let made = Identity::read_or_make(&path).unwrap();
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o600
        );
        let read = Identity::read_or_make(&path).unwrap();
        assert_eq!(made.public(), read.public());
        assert_eq!(made.public().to_string().parse(), Ok(read.public()));
        fs::write(&path, KeyPair::new_account().seed().unwrap()).unwrap();
        assert!(Identity::read(&path).is_err(), "an account's");
    }

    #[test]
    fn a_signature_holds_for_what_was_signed_by_whom_alone() {
        let [one, other] =
            [(); 2].map(|()| Identity::of_seed(&KeyPair::new_user().seed().unwrap()).unwrap());
        let signature = one.sign(b"24 ms").unwrap();
        assert!(one.public().has_signed(b"24 ms", &signature));
        assert!(!one.public().has_signed(b"42 ms", &signature));
        assert!(!other.public().has_signed(b"24 ms", &signature));
        for forged in ["", "?", "AAAA", &signature[1..]] {
            assert!(!one.public().has_signed(b"24 ms", forged));
        }
    }

    #[test]
    fn what_is_no_users_public_key_is_refused() {
        let account = KeyPair::new_account().public_key();
        let seed = KeyPair::new_user().seed().unwrap();
        for text in ["", "U", "hub", &account, &seed] {
            assert!(text.parse::<PublicKey>().is_err(), "{text}");
        }
    }
}
