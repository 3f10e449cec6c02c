//! An application that needs to know its path: `MediaNet`, whose streams of frames adapt to what the path has for them.
//!
//! The thesis's case study (T, chapter 6). A *local scheduler* sends three streams over one connection and drops frames when it cannot keep
//! up; a *global scheduler* decides which frames are sent at all. By itself it learns from the local scheduler's reports, which say when
//! there is less and never when there is more. So it asks for estimates of the available bandwidth; and since probes and
//! frames take the same path, frames can ride on the probes.
//!
//! Pure machines: [`frames`], [`local`], [`global`], [`decoder`], [`wire`]. Sockets and threads: [`sender`], [`receiver`], [`asking`], in a
//! lab ([`dumbbell`](crate::dumbbell)) with a manager on either end. A run ([`run`], [`collector`]) goes plan -> tables -> [`summary`] -> [`scorecard`],
//! and [`figures`] on its [`page`]. In virtual time hosts and managers are [`simulated`], and the rest is the same.

pub mod asking;
mod collector;
pub mod decoder;
pub mod figures;
pub mod frames;
pub mod global;
pub mod local;
mod measurement;
mod news;
pub mod page;
pub mod plan;
pub mod quality;
mod receiver;
pub mod run;
pub mod scorecard;
mod sender;
pub mod simulated;
pub mod summary;
pub mod tables;
mod wire;

pub use measurement::MediaNet;

use std::time::Duration;

/// The name of the measurement in its records.
pub const TEST: &str = "medianet";
/// The same in virtual time.
pub const SIMULATED: &str = "sim-medianet";

/// How a run goes, for whoever watches.
#[derive(Clone, Debug, Default)]
pub struct Live {
    /// Time since the first frame.
    pub elapsed: Duration,
    /// How long frames are to be sent.
    pub planned: Duration,
    /// What the global scheduler believes the path has for frames, in Mbit/s.
    pub view_mbps: f64,
    /// The level of each stream.
    pub levels: String,
    /// Frames so far.
    pub decoded: u64,
    /// Estimates so far that can be believed.
    pub estimates: u64,
}
