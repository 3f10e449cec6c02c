//! How large is the IP-layer capacity of a path? `isobath udpst`: the maximum of RFC 9097, by the UDP Speed Test Protocol (RFC 9946).
//!
//! It asks what a line can carry at most, whatever TCP makes of it: regulators and operators put it beside the rate of a contract. A load of
//! datagrams is made larger until delay or loss begins, and kept there; the capacity is the largest rate of IP packets that arrived in
//! a second. Any server of the protocol will do: Broadband Forum's `udpst`, or `isobath serve --also udpst`.
//!
//! A run goes [`opening`] (setup and activation of a test, on [`terms`]) -> [`run`] (one direction after the other), whose rows are in [`seen`] ->
//! [`summary`] -> [`scorecard`]. The
//! protocol is in [`far_ends::udpst`], the load in [`kit::udpst`].
#![forbid(unsafe_code)]

mod measurement;
mod opening;
pub mod run;
pub mod scorecard;
mod seen;
pub mod summary;
mod terms;

pub use measurement::{Udpst, conclude};

/// How a run goes, for whoever watches.
#[derive(Clone, Copy, Debug, Default)]
pub struct Live {
    /// `down` or `up`.
    pub load: &'static str,
    /// Since the direction began, s.
    pub elapsed_s: f64,
    /// IP packets of the last trial, Mbit/s.
    pub ip_mbps: f64,
    /// The largest of a sub-interval so far, Mbit/s.
    pub capacity_mbps: Option<f64>,
}
