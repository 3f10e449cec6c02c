//! Bulk transfer capacity: what standard congestion control gets over a path, by a sender whose every rule is known.
//!
//! Sources: M. Allman, *Measuring End-to-End Bulk Transfer Capacity* (2001), whose tool is *cap*; RFC 3148, a framework for
//! such measurements; M. Mathis's `TReno`. The rules themselves are in the crate `transport`; here they get sockets and a clock.
//!
//! A run goes plan ([`plan`]) -> rounds agreed with the far end ([`messages`], [`run`], [`far`]) -> transfers, each in a thread
//! of its own at both ends ([`sending`], [`receiving`], over a [`link`]; [`kernel`] for the twins of `--compare`) -> rows
//! ([`log`], [`findings`], [`tables`]) -> [`summary`] -> [`scorecard`]. [`simulated`] carries the same plan out in virtual time.
#![forbid(unsafe_code)]

mod allowance;
mod by_number;
mod capture;
pub mod far;
pub mod findings;
pub mod icmp;
mod interface;
mod kernel;
mod link;
pub mod log;
mod measurement;
pub mod messages;
mod near;
pub mod quality;
mod quotes;
mod receiving;
pub mod results;
pub mod run;
pub mod scorecard;
mod sending;
pub mod simulated;
pub mod summary;
pub mod warnings;
mod watch;

pub use measurement::Btc;
use schema::btc::{Plan, plan, tables};

use kit::secret::secret;
use messages::Setup;
use serde::Serialize;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use watch::Watch;

/// The first line of a run, by which a server knows what is wanted.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Opening {
    Btc(Setup),
}

/// How a run goes, for whoever watches.
pub struct Live {
    /// Share of the run that is done.
    pub done: f64,
    /// Mean rate of this round's transfers together so far.
    pub mbps: f64,
    /// Congestion window of the first of them, in segments; none where the sender is elsewhere.
    pub cwnd: Option<f64>,
    /// Packets of this round, and those of them that were copies.
    pub packets: u64,
    /// Those of them that were copies of segments sent before.
    pub retransmits: u64,
}

impl Live {
    fn of(plan: &Plan, watches: &[Arc<Watch>], elapsed: Duration, before: f64) -> Self {
        let sum = |figure: fn(&Watch) -> u64| watches.iter().map(|watch| figure(watch)).sum();
        let bytes: u64 = sum(|watch| watch.bytes.load(Ordering::Relaxed));
        let share = match plan.limit {
            plan::Limit::Duration(span) => elapsed.as_secs_f64() / span.0.as_secs_f64(),
            plan::Limit::Segments(count) => {
                let whole = u64::from(count) * u64::from(plan.options.mss);
                bytes as f64 / (whole * watches.len().max(1) as u64) as f64
            }
        };
        let cwnd = watches
            .first()
            .map_or(0, |w| w.cwnd_milli.load(Ordering::Relaxed));
        Self {
            done: before + share.min(1.0) / plan.rounds().len() as f64,
            mbps: bytes as f64 * 8e-6 / elapsed.as_secs_f64().max(1e-3),
            cwnd: (cwnd > 0).then(|| cwnd as f64 / 1e3),
            packets: sum(|watch| watch.packets.load(Ordering::Relaxed)),
            retransmits: sum(|watch| watch.retransmits.load(Ordering::Relaxed)),
        }
    }
}
