//! Versions of HTTP.

use core::fmt;
use core::str::FromStr;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A version of HTTP.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize, JsonSchema)]
pub enum HttpVersion {
    /// HTTP/1.1 (RFC 9112): at most six connections to a host, one request at a time on each.
    #[serde(rename = "http/1.1")]
    Http1,
    /// HTTP/2 (RFC 9113): one connection to a host, all requests at once.
    #[serde(rename = "h2")]
    H2,
    /// HTTP/3 (RFC 9114): the same over QUIC.
    #[serde(rename = "h3")]
    H3,
}

impl HttpVersion {
    /// Its name in ALPN (RFC 7301), records and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Http1 => "http/1.1",
            Self::H2 => "h2",
            Self::H3 => "h3",
        }
    }
}

impl fmt::Display for HttpVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for HttpVersion {
    type Err = UnknownHttpVersion;

    fn from_str(input: &str) -> Result<Self, Self::Err> {
        [Self::Http1, Self::H2, Self::H3]
            .into_iter()
            .find(|version| version.name() == input)
            .ok_or_else(|| UnknownHttpVersion(input.to_owned()))
    }
}

/// A name that no [`HttpVersion`] has.
#[derive(Clone, Debug, Eq, PartialEq, Error)]
#[error("'{0}' is no web protocol - write http/1.1, h2 or h3")]
pub struct UnknownHttpVersion(String);
