//! Models: what is kept of a connection when it is replayed, and what is left out.
//!
//! A vector says all that was seen of a connection. The question of Aikat 2010 ("An Investigation of the Effects of Modeling
//! Application Workloads and Path Characteristics on Network Performance", called D here) is what of it matters: does it
//! do to know how much was sent, or must one know in which pieces, and with which pauses, and over which distance? So a
//! vector is rewritten, in three ways that know nothing of each other:
//!
//! | model | says | of |
//! |---|---|---|
//! | [`Structure`] | in which pieces, in which order, with which pauses the ends send | [`Body`](crate::Body) |
//! | [`rtt`] | how far the ends are apart | [`Vector::min_rtt`](crate::Vector::min_rtt) |
//! | [`Windows`] | how much may be under way | [`Vector::windows`](crate::Vector::windows) |
//!
//! What all structures have in common is checked, not assumed: each connection begins when it began and carries as many
//! octets each way ([`Conserved`]). Only then are two replays comparable (D, section 6.3.2).
//!
//! The full model, *a-t-b-t* with *usernet* and empirical windows, is the **control**: the other models are compared with
//! it and not with the trace, for it leaves things out too (D, section 4.4.1).

mod conserved;
mod latencies;
pub mod rtt;
mod structure;
mod transform;
mod windows;

pub use conserved::{Conserved, Footprint};
pub use latencies::Latencies;
pub use structure::{Pieces, Structure, UnknownStructure};
pub use transform::Transform;
pub use windows::{UnknownWindows, Windows};

#[cfg(test)]
pub(crate) mod samples;
