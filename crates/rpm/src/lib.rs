//! How quickly does a path answer while it is full, as users' own software asks? `isobath rpm`: round trips per minute by HTTP/2 or HTTP/3.
//!
//! Source: draft-ietf-ippm-responsiveness-09. A server of anybody's that has three URLs is enough. Connections that load the path are added
//! one by one, each interval one more; meanwhile small requests are timed, *foreign* ones on connections of their own and *self* ones on
//! those that carry the load. When the goodput has settled, and then the responsiveness, a direction is done; where time runs out before,
//! the figure has less confidence. The arithmetic is in [`probe::responsiveness`] and [`probe::stability`], HTTP in
//! [`web::responsiveness`]; here they meet.
//!
//! A run goes [`target`] (where the server is, and what it has) -> [`run`] ([`probes`], [`load`]) -> [`summary`] -> [`scorecard`].
#![forbid(unsafe_code)]

mod load;
mod measurement;
mod probes;
pub mod run;
pub mod scorecard;
pub mod summary;
pub mod target;

pub use measurement::{Rpm, conclude};

/// What all of a run is done in: this thread.
///
/// # Errors
/// When the system has no event queue left.
pub fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
}

/// How a run goes, for whoever watches.
#[derive(Clone, Debug, Default)]
pub struct Live {
    /// `idle`, `down` or `up`.
    pub phase: &'static str,
    /// Intervals of this direction so far.
    pub intervals: u32,
    /// Of the last interval, in Mbit/s.
    pub goodput_mbps: f64,
    /// Of the last interval, where the goodput has settled.
    pub rpm: Option<f64>,
}
