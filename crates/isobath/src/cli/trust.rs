//! Certificate verification.

use std::path::PathBuf;
use web::Trust;

/// What a user says of the certificates of other people's servers.
#[derive(Debug, clap::Args)]
pub(crate) struct TrustArgs {
    /// For an HTTPS, ndt7, dot or doh server: trust only the CA certificates in this PEM file [default: the system's].
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
    /// For an HTTPS, ndt7, dot or doh server: accept any certificate.
    #[arg(long, conflicts_with = "ca")]
    insecure: bool,
}

impl TrustArgs {
    /// Whether anything was said.
    pub(crate) const fn is_given(&self) -> bool {
        self.insecure || self.ca.is_some()
    }

    /// The same for those who connect.
    pub(crate) fn trust(&self) -> Trust {
        match &self.ca {
            _ if self.insecure => Trust::Anybody,
            Some(file) => Trust::File(file.clone()),
            None => Trust::System,
        }
    }
}
