//! What a load of a page came to, whoever loaded it.
//!
//! The native loader and a real browser give the same values, so that both fill the same tables. The
//! phases of an object are those of the Resource Timing specification (W3C, section 4.4): they follow
//! each other, and one that did not take place is `None`.

use core::fmt;
use core::time::Duration;
use serde::{Deserialize, Serialize};
use units::{HttpVersion, Instant};

/// What an object of a page is.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The page itself: HTML.
    Document,
    /// A style sheet.
    Style,
    /// A script.
    Script,
    /// An image.
    Image,
    /// A font.
    Font,
    /// What a script asks for: data.
    Fetch,
    /// Anything else that a browser reports.
    Other,
}

impl Kind {
    /// The kind's name in page models and records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Document => "document",
            Self::Style => "style",
            Self::Script => "script",
            Self::Image => "image",
            Self::Font => "font",
            Self::Fetch => "fetch",
            Self::Other => "other",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// One load of a page.
#[derive(Clone, Debug, PartialEq)]
pub struct PageLoad {
    /// When it was begun, on the monotonic clock of the host that loaded it.
    pub started: Instant,
    /// What carried it, as agreed with the page's own host; what was asked for when it came to
    /// nothing.
    pub protocol: HttpVersion,
    /// From `started` until all of the page was there (the load event); `None` when it never was.
    pub load_time: Option<Duration>,
    /// From `started` until the first octet of the answer with the document.
    pub first_byte: Option<Duration>,
    /// What went wrong first, in one line; `None` when nothing did.
    pub error: Option<String>,
    /// The objects that were found, in the order in which they were.
    pub objects: Vec<ObjectLoad>,
}

impl PageLoad {
    /// A load that begins.
    pub const fn begun(protocol: HttpVersion, started: Instant) -> Self {
        Self {
            started,
            protocol,
            load_time: None,
            first_byte: None,
            error: None,
            objects: Vec::new(),
        }
    }

    /// Objects that arrived whole.
    pub fn loaded(&self) -> usize {
        let whole = |object: &&ObjectLoad| object.total.is_some();
        self.objects.iter().filter(whole).count()
    }

    /// Octets of all bodies.
    pub fn bytes(&self) -> u64 {
        self.objects.iter().map(|object| object.bytes).sum()
    }
}

/// One object of a page in one load.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectLoad {
    /// Its number in the page model, from 0: the document.
    pub object: u16,
    /// The host that serves it.
    pub host: String,
    /// Path and query of its URL.
    pub path: String,
    /// What it is.
    pub kind: Kind,
    /// From the load's start until the loader knew that it needs the object.
    pub found: Duration,
    /// Waited for its turn or for a connection.
    pub blocked: Option<Duration>,
    /// Looked up the host's name.
    pub dns: Option<Duration>,
    /// Connected by TCP; `None` with HTTP/3.
    pub connect: Option<Duration>,
    /// Agreed on TLS; with HTTP/3 the handshake of QUIC, which has TLS's in it.
    pub tls: Option<Duration>,
    /// Sent the request and waited for the first octet of the answer.
    pub wait: Option<Duration>,
    /// From the first octet to the last.
    pub receive: Option<Duration>,
    /// From `found` to the last octet; `None` when it never came.
    pub total: Option<Duration>,
    /// Octets of the body that arrived.
    pub bytes: u64,
    /// Status of the answer (RFC 9110 section 15); `None` when there was none, or the object failed.
    pub status: Option<u16>,
    /// Number of the connection within the load, from 0; `None` when unknown.
    pub connection: Option<u16>,
}

impl ObjectLoad {
    /// An object that has been found and has nothing else yet.
    pub const fn found(object: u16, kind: Kind, found: Duration) -> Self {
        Self {
            object,
            host: String::new(),
            path: String::new(),
            kind,
            found,
            blocked: None,
            dns: None,
            connect: None,
            tls: None,
            wait: None,
            receive: None,
            total: None,
            bytes: 0,
            status: None,
            connection: None,
        }
    }
}

/// One small request on a new connection.
#[derive(Clone, Debug, PartialEq)]
pub struct Probe {
    /// When it was begun.
    pub started: Instant,
    /// Connected by TCP; `None` when that failed.
    pub connect: Option<Duration>,
    /// Agreed on TLS 1.3; `None` when that failed.
    pub tls: Option<Duration>,
    /// From sending the request to the first octet of the answer; `None` when there was none.
    pub http: Option<Duration>,
    /// What went wrong, in one line.
    pub error: Option<String>,
}
