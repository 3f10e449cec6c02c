//! Towards hosts that do not cooperate: what ICMP tells of packets that came to their end (`TReno`).
//!
//! Source: M. Mathis, *Windowed ping: an IP layer performance diagnostic* (1994), and his `TReno` after it. Packets
//! of full size go to a port at which nobody listens, or have a hop limit that ends at a router on the way. Whoever gives
//! one up says so in an ICMP error, which quotes the packet's beginning ([`quotes`](crate::quotes)): that is an acknowledgement of one
//! packet ([`acknowledgement`](crate::quotes::acknowledgement)). A receiver at this side ([`super::sending`]) makes of these what TCP's receiver would have said, and
//! the sender is the one that all transfers have. The errors come by the socket's own error queue, which takes no privilege.
//!
//! What is different from a real transfer: an error that is lost on the way back looks like a packet lost on the way there;
//! the answer to a full-sized packet is an error of up to 576 octets by IPv4 and 1,280 by IPv6, so a narrow return path
//! may be what is measured; and errors are limited by nearly everybody. The last is found out after the transfer
//! ([`limit`]), and then there is no figure.

mod limit;
mod round;
mod row;
pub mod run;
