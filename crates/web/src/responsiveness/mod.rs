//! HTTP/2 and HTTP/3 as a test of responsiveness needs them (draft-ietf-ippm-responsiveness-09): connections whose set-up is timed step by step, an object
//! of one octet, one without end, and an upload without end. [`client`] is the near end, [`server`] a server for anybody's client.

pub mod client;
pub mod server;
#[cfg(test)]
mod tests;
mod upload;
