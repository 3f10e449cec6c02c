//! An application that needs to know its path: `MediaNet`, whose streams of frames adapt to what the path has for them.
//!
//! The thesis's case study (T, chapter 6). A *local scheduler* sends three streams over one connection and drops frames when it cannot keep
//! up; a *global scheduler* decides which frames are sent at all. By itself it learns from the local scheduler's reports, which say when
//! there is less and never when there is more. So it asks for estimates of the available bandwidth; and since probes and
//! frames take the same path, frames can ride on the probes.
//!
//! Pure machines: [`frames`], [`local`], [`global`], [`decoder`], [`wire`]. Sockets and threads: [`sender`], [`receiver`], [`asking`], in a
//! lab ([`dumbbell`](crate::dumbbell)) with a manager on either end. A run ([`run`], [`collector`]) goes plan -> tables -> [`summary`] -> [`scorecard`],
//! and [`figures`] on its [`page`].

pub(crate) mod asking;
mod collector;
pub(crate) mod decoder;
pub(crate) mod figures;
pub(crate) mod frames;
pub(crate) mod global;
pub(crate) mod local;
mod news;
pub(crate) mod page;
pub(crate) mod plan;
pub(crate) mod quality;
mod receiver;
pub(crate) mod run;
pub(crate) mod scorecard;
mod sender;
pub(crate) mod summary;
pub(crate) mod tables;
mod wire;

use std::time::Duration;

/// The name of the measurement in its records.
pub(crate) const TEST: &str = "medianet";

/// How a run goes, for whoever watches.
#[derive(Clone, Debug, Default)]
pub(crate) struct Live {
    pub(crate) elapsed: Duration,
    pub(crate) planned: Duration,
    pub(crate) view_mbps: f64,
    /// The level of each stream.
    pub(crate) levels: String,
    /// Frames so far.
    pub(crate) decoded: u64,
    /// Estimates so far that can be believed.
    pub(crate) estimates: u64,
}
