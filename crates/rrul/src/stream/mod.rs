//! What the streams of a run do, at both ends. Each runs in a thread of its own with blocking sockets: a stream is
//! then a page to be read from top to bottom, and the kernel does the multiplexing.

pub(crate) mod call;
pub(crate) mod connect;
pub(crate) mod dns;
pub(crate) mod echo;
pub(crate) mod line;
pub(crate) mod page;
pub(crate) mod requests;
pub(crate) mod tcp_rr;
pub(crate) mod udp_load;
pub(crate) mod udp_rr;
