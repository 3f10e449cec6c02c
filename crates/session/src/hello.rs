//! The first lines of a control connection: `hello` from the client, then `welcome` or `refused`
//! from the server.
//!
//! ```text
//! > {"protocol":[1,1],"version":"0.1.0","proof":"..."}
//! < {"welcome":{"protocol":1,"version":"0.1.0","session":...,"data_key":"...","limits":{...},...}}
//! < {"refused":{"code":"version","message":"...","protocol":[2,3],"version":"0.9.0"}}
//! ```
//!
//! Later versions may add fields, which earlier ones ignore, but `protocol` and `refused` stay as
//! they are: that is how any two versions can tell that they do not fit.

use crate::limits::Limits;
use crate::tag::DataKey;
use crate::tls::Proof;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use units::{Instant, Stamp};

/// The oldest and the newest protocol that this program speaks.
pub const PROTOCOL: [u16; 2] = [1, 1];
/// This program's version.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What a client says first.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Hello {
    /// The oldest and the newest protocol the client speaks.
    pub protocol: [u16; 2],
    /// The client's program version.
    pub version: String,
    /// That it knows the secret; absent when it has no key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) proof: Option<Proof>,
}

impl Hello {
    /// This program's hello.
    pub(crate) fn new(proof: Option<Proof>) -> Self {
        Self {
            protocol: PROTOCOL,
            version: VERSION.to_owned(),
            proof,
        }
    }

    /// The newest protocol that both ends speak.
    pub(crate) fn common_protocol(&self) -> Option<u16> {
        let newest = self.protocol[1].min(PROTOCOL[1]);
        (newest >= self.protocol[0].max(PROTOCOL[0])).then_some(newest)
    }
}

/// What the server answers.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Answer {
    Welcome(Welcome),
    Refused(Refusal),
}

/// The session has begun.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Welcome {
    /// The protocol that both ends use from here.
    pub protocol: u16,
    /// The server's program version.
    pub version: String,
    /// The session's name on the data plane.
    pub session: u64,
    /// What the data plane's tags are made with.
    pub data_key: DataKey,
    /// What the session may do.
    pub limits: Limits,
    /// What the server says of its host: kernel, congestion controls, processors.
    pub host: Value,
    /// The server's wall clock when it wrote this, in nanoseconds since the Unix epoch.
    pub wall_ns: u64,
    /// The server's monotonic clock at the same moment, in nanoseconds.
    pub mono_ns: u64,
}

impl Welcome {
    /// The server's clocks when it wrote this.
    pub const fn stamp(&self) -> Stamp {
        Stamp {
            wall_ns: self.wall_ns,
            mono: Instant::from_nanos(self.mono_ns),
        }
    }
}

/// Why a server refuses.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Code {
    /// All sessions are taken.
    Busy,
    /// No key, or not the right one.
    Key,
    /// More than one client, or one plan, is given.
    Limit,
    /// No protocol in common.
    Version,
}

/// A refusal: a code for the program and a line for the person.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Refusal {
    /// What it is about.
    pub code: Code,
    /// In words.
    pub message: String,
    /// The oldest and the newest protocol the server speaks.
    pub protocol: [u16; 2],
    /// The server's program version.
    pub version: String,
}

impl Refusal {
    /// A refusal by this program.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            protocol: PROTOCOL,
            version: VERSION.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hello(oldest: u16, newest: u16) -> Hello {
        Hello {
            protocol: [oldest, newest],
            ..Hello::new(None)
        }
    }

    #[test]
    fn the_newest_common_protocol_is_chosen() {
        assert_eq!(hello(1, 1).common_protocol(), Some(1));
        assert_eq!(hello(0, 9).common_protocol(), Some(1));
        assert_eq!(hello(2, 9).common_protocol(), None);
        assert_eq!(hello(0, 0).common_protocol(), None);
        assert_eq!(hello(9, 0).common_protocol(), None);
    }

    #[test]
    fn a_hello_of_a_later_version_is_still_read() {
        let line = r#"{"protocol":[2,3],"version":"9.0.0","proof":null,"extra":{"a":[1]}}"#;
        let hello: Hello = serde_json::from_str(line).unwrap();
        assert_eq!(hello.protocol, [2, 3]);
        assert_eq!(hello.common_protocol(), None);
    }

    #[test]
    fn a_refusal_reads_as_documented() {
        let json =
            serde_json::to_string(&Answer::Refused(Refusal::new(Code::Busy, "full"))).unwrap();
        assert_eq!(
            json,
            format!(
                r#"{{"refused":{{"code":"busy","message":"full","protocol":[1,1],"version":"{VERSION}"}}}}"#
            )
        );
    }
}
