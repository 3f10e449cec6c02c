//! Who a server is: a certificate, its private key, and the secret that clients must know.
//!
//! It is made once and kept in one file, so that the access key stays the same over restarts. The
//! file belongs to its owner alone (mode 0600) and is refused when others may read it. It appears
//! whole or not at all, and two servers that start at the same time end up with the same one.

use crate::key::{AccessKey, Fingerprint, Secret};
use crate::random::random;
use crate::{Error, tls};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use sys::files;

/// From the private key come the secrets of clients that have one each.
const HOLDERS: &str = "isobath 1 secrets of clients with a key each";
/// No identity file is longer; a larger file is something else.
const MAX_FILE: u64 = 64 * 1024;

/// A server's certificate, private key and secret.
#[derive(Clone, Deserialize, Serialize)]
pub struct Identity {
    #[serde(with = "crate::base64")]
    certificate: Vec<u8>,
    #[serde(with = "crate::base64")]
    private_key: Vec<u8>,
    #[serde(with = "crate::base64")]
    secret: [u8; 16],
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity")
            .field("fingerprint", &self.fingerprint())
            .finish_non_exhaustive()
    }
}

impl Identity {
    /// A new identity, in memory only.
    ///
    /// # Errors
    /// When the system gives no random numbers.
    pub fn generate() -> Result<Self, Error> {
        let made = rcgen::generate_simple_self_signed(vec!["isobath".to_owned()])
            .map_err(|_| Error::Random)?;
        Ok(Self {
            certificate: made.cert.der().to_vec(),
            private_key: made.signing_key.serialize_der(),
            secret: random()?,
        })
    }

    /// The identity kept at `path`; made and kept there when there is none yet.
    ///
    /// # Errors
    /// [`Error::Identity`] when the file cannot be read or written, is damaged, or may be read by
    /// others.
    pub fn load_or_create(path: &Path) -> Result<Self, Error> {
        if let Some(identity) = Self::load(path)? {
            return Ok(identity);
        }
        Self::generate()?.keep(path)?;
        // Whoever was first has decided, be it another process.
        Self::load(path)?.ok_or_else(|| wrong(path, "vanished while it was made"))
    }

    /// The identity kept at `path`; `None` when there is no such file.
    ///
    /// # Errors
    /// As [`Identity::load_or_create`].
    pub fn load(path: &Path) -> Result<Option<Self>, Error> {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(wrong(path, format!("cannot be read: {error}"))),
        };
        let facts = file.metadata().map_err(|error| wrong(path, error))?;
        if !files::is_private(&facts) {
            let advice = format!(
                "must not be readable by others - run: chmod 600 {}",
                path.display()
            );
            return Err(wrong(path, advice));
        }
        let mut text = String::new();
        file.take(MAX_FILE)
            .read_to_string(&mut text)
            .map_err(|error| wrong(path, error))?;
        let identity: Self = serde_json::from_str(&text).map_err(|_| damaged(path))?;
        // What TLS does not take is found now, not when the first client comes.
        tls::server_config(&identity).map_err(|_| damaged(path))?;
        Ok(Some(identity))
    }

    /// The key that clients need.
    pub fn key(&self) -> AccessKey {
        AccessKey {
            fingerprint: self.fingerprint(),
            secret: self.secret(),
        }
    }

    /// The key of one client among several that are told apart by it ([`ServerConfig::secrets`](crate::ServerConfig::secrets)); the
    /// same for the same `holder`, and of no use to find another's. It is made from the private key, which never leaves this
    /// host, so whoever has [`Identity::key`] does not know it.
    pub fn key_for(&self, holder: &str) -> AccessKey {
        let key = blake3::derive_key(HOLDERS, &self.private_key);
        let mut secret = [0; 16];
        blake3::Hasher::new_keyed(&key)
            .update(holder.as_bytes())
            .finalize_xof()
            .fill(&mut secret);
        AccessKey {
            fingerprint: self.fingerprint(),
            secret: Secret(secret),
        }
    }

    /// The certificate in DER form, for whatever else is served under it.
    pub fn certificate(&self) -> &[u8] {
        &self.certificate
    }

    /// The certificate's private key in DER form (PKCS #8). Keep it where the identity is kept.
    pub fn private_key(&self) -> &[u8] {
        &self.private_key
    }

    pub(crate) const fn secret(&self) -> Secret {
        Secret(self.secret)
    }

    fn fingerprint(&self) -> Fingerprint {
        tls::fingerprint(&self.certificate)
    }

    /// Writes the file whole under another name, then gives it its own, unless that is taken.
    fn keep(&self, path: &Path) -> Result<(), Error> {
        let folder = path.parent().unwrap_or_else(|| Path::new("."));
        files::create_private_folders(folder)
            .map_err(|error| wrong(path, format!("cannot make its folder: {error}")))?;
        let draft = path.with_extension(format!("new-{:016x}", u64::from_ne_bytes(random()?)));
        let kept = self
            .write(&draft)
            .and_then(|()| match fs::hard_link(&draft, path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
                linked => linked,
            });
        let cleared = fs::remove_file(&draft);
        kept.and(cleared)
            .map_err(|error| wrong(path, format!("cannot be written: {error}")))
    }

    fn write(&self, draft: &Path) -> io::Result<()> {
        let mut file = files::create_private(draft)?;
        file.write_all(serde_json::to_string_pretty(self)?.as_bytes())?;
        file.sync_all()
    }
}

/// Where a server's identity is kept: [`state_file`] `identity.json`.
pub fn default_path() -> Option<PathBuf> {
    state_file("identity.json")
}

/// Where this program keeps the file `name` from one run to the next: in `$XDG_STATE_HOME/isobath`, or
/// `~/.local/state/isobath` (XDG Base Directory Specification), on Windows in `%LOCALAPPDATA%\isobath`; `None` without any of
/// these variables.
pub fn state_file(name: &str) -> Option<PathBuf> {
    let folder = |name| std::env::var_os(name).map(PathBuf::from);
    let own = if cfg!(windows) {
        folder("LOCALAPPDATA").map(|folder| folder.join("isobath"))
    } else {
        state_folder(folder("XDG_STATE_HOME"), folder("HOME"))
    };
    Some(own?.join(name))
}

fn state_folder(state: Option<PathBuf>, home: Option<PathBuf>) -> Option<PathBuf> {
    let state = state
        .filter(|folder| folder.is_absolute())
        .or_else(|| Some(home?.join(".local/state")))?;
    Some(state.join("isobath"))
}

fn wrong(path: &Path, reason: impl fmt::Display) -> Error {
    Error::Identity {
        path: path.to_owned(),
        reason: format!("{reason}"),
    }
}

fn damaged(path: &Path) -> Error {
    wrong(
        path,
        "is damaged - remove it to make a new one (clients then need the new key)",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

    #[test]
    fn an_identity_is_made_once_and_belongs_to_its_owner() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/er/identity.json");
        let first = Identity::load_or_create(&path).unwrap();
        let again = Identity::load_or_create(&path).unwrap();
        assert_eq!(first.key(), again.key());
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        let left: Vec<_> = fs::read_dir(path.parent().unwrap()).unwrap().collect();
        assert_eq!(left.len(), 1, "{left:?}");
    }

    #[test]
    fn an_identity_that_others_may_read_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("identity.json");
        Identity::load_or_create(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let message = Identity::load_or_create(&path).unwrap_err().to_string();
        assert!(
            message.contains("must not be readable by others"),
            "{message}"
        );
        assert!(message.contains("chmod 600"), "{message}");
    }

    #[test]
    fn a_damaged_identity_is_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("identity.json");
        let nonsense =
            r#"{"certificate":"AAAA","private_key":"AAAA","secret":"AAAAAAAAAAAAAAAAAAAAAA"}"#;
        for text in ["", "{}", nonsense] {
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
            let message = Identity::load_or_create(&path).unwrap_err().to_string();
            assert!(message.contains("is damaged"), "{message}");
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
    }

    #[test]
    fn the_state_folder_follows_the_environment() {
        let under = |text: &str| Some(PathBuf::from(text));
        assert_eq!(state_folder(under("/s"), under("/h")), under("/s/isobath"));
        assert_eq!(
            state_folder(under("relative"), under("/h")),
            under("/h/.local/state/isobath")
        );
        assert_eq!(state_folder(None, None), None);
    }

    #[test]
    fn each_holder_has_a_key_of_its_own_and_keeps_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("identity.json");
        let made = Identity::load_or_create(&path).unwrap();
        let loaded = Identity::load_or_create(&path).unwrap();
        assert_eq!(made.key_for("m3 1"), loaded.key_for("m3 1"));
        let other = Identity::generate().unwrap();
        let secrets = [
            made.key().secret,
            made.key_for("m3 1").secret,
            made.key_for("m3 2").secret,
            made.key_for("m4 1").secret,
            other.key_for("m3 1").secret,
        ];
        let different: std::collections::BTreeSet<_> = secrets.iter().map(|s| s.0).collect();
        assert_eq!(different.len(), secrets.len());
        assert_eq!(made.key_for("m3 1").fingerprint, made.key().fingerprint);
    }

    #[test]
    fn debug_shows_neither_private_key_nor_secret() {
        let shown = format!("{:?}", Identity::generate().unwrap());
        assert!(!shown.contains("secret"), "{shown}");
        assert!(!shown.contains("private"), "{shown}");
    }
}
