//! HTTP/3 (RFC 9114) over QUIC, as both ends need it.

pub(crate) mod client;
pub(crate) mod server;
