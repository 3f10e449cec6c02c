//! What does an application pay for being measured beside, and what when its packets ride on the probes? `isobath manager trial`.
//!
//! # What is done
//!
//! In a lab an application sends at a constant rate by the kernel's TCP, a measurement tool probes the same way, and others send
//! too; all share one bottleneck. With riding *on* the application goes by the overlay of two managers, where its packets wait a
//! little for a probe ([`manager`]); with riding *off* it goes beside it. The probes always go by the manager, so that
//! they are as well timed in both cases. This is the experiment of Papageorgiou 2008 ("T"), chapter 5.
//!
//! # What is known
//!
//! The lab keeps every packet that comes to the bottleneck and every one that leaves it ([`ledger`]). Each says itself what it is
//! ([`decode`]): the application's, a probe with or without a rider, others'. So it is known, second by second, what the link carried
//! of whom, which probes were lost, where in their train, and with what on board; and what was really available while a tool
//! estimated it.
//!
//! # The rooms
//!
//! A run goes plan ([`plan`], in its [`Place`](crate::dumbbell::Place)) -> [`run`], with the [`managers`](crate::dumbbell::managers), the [`source`], the traffic of the [`web`] and the
//! [`prober`] in threads of their own -> [`tables`] -> [`summary`] -> [`scorecard`], and [`figures`] on its [`page`]. In virtual
//! time hosts and managers are [`simulated`], and the rest is the same.

mod books;
mod decode;
pub mod figures;
mod ledger;
mod measurement;
pub mod page;
mod parts;
pub mod plan;
mod prober;
pub mod quality;
pub mod run;
pub mod scorecard;
pub mod simulated;
mod source;
pub mod summary;
pub mod tables;
mod truth;
mod web;

pub use measurement::Trial;
pub use plan::Plan;

/// Nanoseconds of a second.
const SECOND_NS: f64 = 1e9;
/// The name of the measurement in `run.json`.
pub const TEST: &str = "trial";
/// The same in virtual time.
pub const SIMULATED: &str = "sim-trial";

/// How a run goes, for whoever watches.
#[derive(Clone, Debug, Default)]
pub struct Live {
    /// Share of the run that is over.
    pub done: f64,
    /// What the application read in the last whole second, in Mbit/s.
    pub source_mbps: f64,
    /// Trains that were sent.
    pub trains: u64,
    /// Probes that carried something.
    pub riders: u64,
    /// Estimations that came to an end.
    pub estimates: usize,
}
