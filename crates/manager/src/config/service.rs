//! Where the estimation service can be asked.

use super::Config;
use serde::Deserialize;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

/// A key must be no shorter: 16 letters and digits at random are 95 bits.
const SHORTEST_KEY: usize = 16;

/// What the file says of the service: the path of its socket, or a table.
#[derive(Clone, Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "service is the path of a socket, or a table of 'socket', 'listen' and 'key'"
)]
pub(super) enum ServiceEntry {
    Socket(PathBuf),
    Table(ServiceTable),
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ServiceTable {
    socket: Option<PathBuf>,
    /// Address and port of TCP, for who has the key.
    listen: Option<SocketAddr>,
    key: Option<String>,
}

/// Where the service is.
#[derive(Clone, Debug)]
pub struct Endpoints {
    /// Path of its Unix socket.
    pub socket: PathBuf,
    /// Address and port, and the key for it.
    pub port: Option<(SocketAddr, Arc<str>)>,
}

impl Default for ServiceEntry {
    fn default() -> Self {
        Self::Table(ServiceTable::default())
    }
}

impl ServiceEntry {
    pub(super) fn check(&self) -> Result<(), String> {
        let Self::Table(table) = self else {
            return Ok(());
        };
        match (&table.listen, &table.key) {
            (Some(_), None) => Err(
                "service.listen without service.key - add a key, such as that of: openssl rand -hex 16"
                    .to_owned(),
            ),
            (None, Some(_)) => {
                Err("service.key without service.listen - add listen, or remove the key".to_owned())
            }
            (Some(_), Some(key)) if !is_key(key) => Err(format!(
                "service.key - give at least {SHORTEST_KEY} letters, digits and signs without spaces"
            )),
            _ => Ok(()),
        }
    }
}

fn is_key(key: &str) -> bool {
    key.len() >= SHORTEST_KEY && key.chars().all(|c| c.is_ascii_graphic())
}

impl Config {
    /// Where the service is: without a word beside the control socket, as `estimates.sock` beside `manager.sock`, and as
    /// `m3-estimates.sock` beside `m3.sock`.
    pub fn endpoints(&self) -> Endpoints {
        let stem = self
            .socket
            .file_stem()
            .map(|stem| stem.to_string_lossy().into_owned());
        let prefix = stem.filter(|stem| stem != "manager");
        let prefix = prefix.map_or_else(String::new, |stem| format!("{stem}-"));
        let usual = self
            .socket
            .with_file_name(format!("{prefix}estimates.sock"));
        match &self.service {
            ServiceEntry::Socket(socket) => Endpoints {
                socket: socket.clone(),
                port: None,
            },
            ServiceEntry::Table(table) => {
                let key = table.key.as_deref().map(Arc::from);
                Endpoints {
                    socket: table.socket.clone().unwrap_or(usual),
                    port: table.listen.zip(key),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn config(service: &str) -> Result<Config, String> {
        Config::parse(&format!(
            "name = \"m3\"\naddresses = [\"10.99.0.1/24\"]\n{service}"
        ))
    }

    #[test]
    fn without_a_word_the_service_is_beside_the_control_socket() {
        let socket = |text| config(text).unwrap().endpoints().socket;
        assert_eq!(socket(""), Path::new("/run/isobath/estimates.sock"));
        assert_eq!(
            socket("socket = \"m3.sock\""),
            Path::new("m3-estimates.sock")
        );
        assert_eq!(socket("service = \"s\""), Path::new("s"));
        assert_eq!(socket("[service]\nsocket = \"t\""), Path::new("t"));
    }

    #[test]
    fn a_port_has_a_key_that_is_long_enough() {
        let listen = "[service]\nlisten = \"127.0.0.1:4894\"\n";
        for (text, part) in [
            (listen.to_owned(), "without service.key"),
            (format!("{listen}key = \"short\""), "at least 16"),
            (
                "[service]\nkey = \"0123456789abcdef\"".to_owned(),
                "without service.listen",
            ),
            (
                "[service]\ncolour = 1".to_owned(),
                "service is the path of a socket",
            ),
        ] {
            let line = config(&text).unwrap_err();
            assert!(line.contains(part) && !line.contains('\n'), "{line}");
        }
        let fine = config(&format!("{listen}key = \"0123456789abcdef\"")).unwrap();
        assert!(fine.endpoints().port.is_some());
    }
}
