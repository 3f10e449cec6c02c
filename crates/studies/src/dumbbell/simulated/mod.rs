//! A lab's hosts in virtual time, each with applications, connections of [`sim::tcp`] and, at either end of the bottleneck, a manager.
//!
//! The managers are the [machines](manager::machine) that `isobath manager up` drives, with the same files; what differs is what is around them.
//! Connections that go by the overlay are packets of octets there, as long as the kernel's ([`pouch`]), so that they wait, ride, are cut
//! and put together as real ones are, with all the headers of the overlay on the wire. The managers' words and what they tell each other over their control
//! connection take their octets, too ([`control`]).
//!
//! - [`Host`]: a node of the world. [`Application`]: what opens connections and is told what happens to them.
//! - [`late`]: what differs from run to run. [`Here`]: a tool of the near manager's.
//! - [`network()`]: nodes and links of a lab. [`links`]: what waits, and what was carried.

mod body;
mod control;
mod host;
mod line;
pub mod links;
mod network;
mod overlay;
mod pouch;

pub use body::Body;
pub use control::CONTROL;
pub use host::{Application, Host};
pub use line::{Course, Here};
pub use network::{Network, info, network};
pub use overlay::{Overlay, overlays};

use stats::random::SplitMix64;
use std::time::Duration;
use transport::{CongestionControl, Options};

/// TCP of a lab's hosts: by CUBIC, as there.
pub fn options() -> Options {
    Options {
        congestion_control: CongestionControl::Cubic,
        ..Options::default()
    }
}

/// The most by which applications begin later than planned.
const LATE: f64 = 0.1;

/// By how much applications begin later than planned, from a run's `seed`. In a lab it is the time that hosts take to get ready, by which no two
/// runs find others' packets at the same point; here nobody else decides that.
pub fn late(seed: u64) -> Duration {
    let mut chance = SplitMix64::new(seed ^ 0x6c61_7465);
    Duration::from_secs_f64(LATE * chance.unit())
}
