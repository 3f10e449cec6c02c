//! ndt7 over sockets: a download or an upload by WebSocket within TLS. [`client`] is the near end, [`server`] a server for anybody's client.
//! What they say to each other is in `far_ends::ndt7`.

pub mod client;
pub mod server;

#[cfg(test)]
mod tests;
