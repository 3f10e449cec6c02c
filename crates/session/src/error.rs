//! What can go wrong between two hosts: one line each, with what to do.

use crate::key::KeyError;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use thiserror::Error;

/// Why two hosts did not agree, or no longer do. `peer` is the other host as the user named it,
/// with the port.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The port could not be listened on.
    #[error("cannot listen on {address}: {source} - choose another with --port or --address")]
    Bind {
        /// What was asked for.
        address: SocketAddr,
        /// The operating system's reason.
        source: io::Error,
    },
    /// The far end has all the sessions it takes.
    #[error("{peer} is busy: {message} - try again when those have ended")]
    Busy {
        /// The other host.
        peer: String,
        /// The far end's own words.
        message: String,
    },
    /// The far end showed another certificate than the key names.
    #[error(
        "{peer} is not the host that the key was made for (its certificate differs) - print its key \
         with 'isobath serve --show-key' there"
    )]
    Certificate {
        /// The other host.
        peer: String,
    },
    /// The other host ended the conversation.
    #[error("{peer} closed the connection - it was stopped, cut off, or is no isobath server")]
    Closed {
        /// The other host.
        peer: String,
    },
    /// The host on the command line has no known form.
    #[error("'{host}' is not a host - write HOST, HOST:PORT or [IPv6]:PORT")]
    Host {
        /// What was typed.
        host: String,
    },
    /// The server's identity could not be made, read or kept.
    #[error("identity {}: {reason}", path.display())]
    Identity {
        /// The file.
        path: PathBuf,
        /// What was wrong, and what to do.
        reason: String,
    },
    /// A socket call failed.
    #[error("{operation} {peer}: {source}")]
    Io {
        /// What was being done: "read from".
        operation: &'static str,
        /// The other host.
        peer: String,
        /// The operating system's reason.
        source: io::Error,
    },
    /// The text is no access key.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The far end does not do that much.
    #[error("{peer} does not allow that: {message}")]
    Limit {
        /// The other host.
        peer: String,
        /// The far end's own words.
        message: String,
    },
    /// A line is longer than both ends take.
    #[error(
        "a control line with {peer} is longer than {} octets - send it in parts",
        crate::MAX_LINE
    )]
    LineTooLong {
        /// The other host.
        peer: String,
    },
    /// A line was no JSON, or not what was due.
    #[error(
        "{peer} sent a line that was not understood ({reason}) - are both isobath versions the same?"
    )]
    Malformed {
        /// The other host.
        peer: String,
        /// Why, for people who look into it.
        reason: String,
    },
    /// Something else answers there.
    #[error("{peer} is not an isobath server - is the port right?")]
    NotIsobath {
        /// The other host.
        peer: String,
    },
    /// The operating system gave no random octets.
    #[error("the operating system gave no random numbers - no key can be made")]
    Random,
    /// The key's secret was not accepted.
    #[error("{peer} refused the key - print the right one with 'isobath serve --show-key' there")]
    RefusedKey {
        /// The other host.
        peer: String,
    },
    /// The name has no address (of the family asked for).
    #[error("cannot find the address of {host}: {reason} - check the name")]
    Resolve {
        /// What was typed.
        host: String,
        /// The resolver's reason.
        reason: String,
    },
    /// The other host did not answer in time.
    #[error("{peer} did not answer in time ({operation})")]
    Timeout {
        /// The other host.
        peer: String,
        /// What was being done: "connect".
        operation: &'static str,
    },
    /// The TLS library refused our own configuration.
    #[error("TLS: {0}")]
    Tls(#[source] rustls::Error),
    /// No TCP connection.
    #[error("cannot reach {peer}: {source} - is 'isobath serve' running there, and the port open?")]
    Unreachable {
        /// The other host.
        peer: String,
        /// The operating system's reason.
        source: io::Error,
    },
    /// This machine lacks something, in words that say what and what to do.
    #[error("{lack}")]
    Lack {
        /// The words.
        lack: &'static str,
        /// The operating system's reason.
        source: io::Error,
    },
    /// The two programs have no protocol version in common.
    #[error("{peer} runs isobath {theirs}, this is isobath {ours} - {advice}")]
    Version {
        /// The other host.
        peer: String,
        /// The far end's program version and protocols.
        theirs: String,
        /// This program's.
        ours: String,
        /// Which of the two to update.
        advice: &'static str,
    },
    /// The far end serves no strangers.
    #[error(
        "{peer} wants an access key - print it with 'isobath serve --show-key' there, and pass it with --key"
    )]
    WantsKey {
        /// The other host.
        peer: String,
    },
}

/// What is being done when a connection is new and may lead anywhere.
pub(crate) const HANDSHAKE: &str = "TLS handshake";

impl Error {
    /// What `source` means for a conversation with `peer` in which `operation` was being done.
    pub(crate) fn from_io(operation: &'static str, peer: &str, source: io::Error) -> Self {
        let peer = peer.to_owned();
        match source.kind() {
            io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => {
                Self::Timeout { peer, operation }
            }
            io::ErrorKind::UnexpectedEof
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::NotConnected => Self::Closed { peer },
            _ => Self::Io {
                operation,
                peer,
                source,
            },
        }
    }

    /// What a failed TLS exchange with `peer` means: [`Error::from_io`], or the TLS library's own
    /// complaint inside `source`.
    pub(crate) fn from_tls(operation: &'static str, peer: &str, source: io::Error) -> Self {
        let complaint = source
            .get_ref()
            .and_then(|inner| inner.downcast_ref::<rustls::Error>());
        match complaint {
            Some(rustls::Error::InvalidCertificate(
                rustls::CertificateError::ApplicationVerificationFailure,
            )) => Self::Certificate {
                peer: peer.to_owned(),
            },
            // Later, it is our peer that was cut off or tampered with.
            Some(_) if operation == HANDSHAKE => Self::NotIsobath {
                peer: peer.to_owned(),
            },
            _ => Self::from_io(operation, peer, source),
        }
    }
}
