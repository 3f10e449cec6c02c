//! TCP connections as applications see them: opened, written to, read from, closed.
//!
//! A [`Connection`] is one end. Both ways it has the machines of [`transport`], a sender and a receiver; around them it puts
//! what a bulk transfer has no need of: the handshake (RFC 9293 section 3.5), octets in place of segments, the peer's window in
//! octets, acknowledgements that ride on data, and the end (FIN, RST). A [`Stack`] has the connections of a host, tens of
//! thousands if need be, and their timers.
//!
//! What RFCs leave free is done as the Linux kernel does it, since that is what a laboratory's hosts run: see
//! [`transport::Options`] for the transfer, [`Settings`] for the rest. Known differences beside those of [`transport`]: there
//! are no SYN cookies, no urgent data, no `TIME_WAIT` that takes memory (a late segment of a connection that is over is
//! answered all the same), and the window that a host offers is constant where the kernel's grows.
//!
//! # Calling order
//!
//! As everywhere: `handle_*` tells what happened; then [`Connection::poll_transmit`] until it says `None`. An application looks
//! at what has changed with the `take_*`, `is_*` and `room` methods, and acts by [`Connection::write`], [`Connection::close`]
//! and [`Connection::abort`].

mod by_flow;
mod connection;
mod flow;
mod handshake;
mod packet;
mod stack;
mod strays;

pub use connection::{Connection, Settings, Terms};
pub use packet::{Data, Datagram, Tcp};
pub use stack::{Fetch, Incoming, Key, Stack, back};

use crate::Addressed;
use path::{Assigned, Pipeline, Resolver, Spec};

/// [`Spec::build_lazy`] for packets of connections, compiled here: with the optimisation that this crate has.
///
/// # Errors
///
/// Those of [`Spec::build`].
pub fn link(
    spec: &Spec,
    seed: u64,
    resolver: Resolver<'_>,
    delays: &Assigned,
) -> Result<Pipeline<Addressed<Tcp>>, path::Error> {
    spec.build_lazy(seed, resolver, delays)
}
