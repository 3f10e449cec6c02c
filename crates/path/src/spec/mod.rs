//! A path as data: what a topology file says.
//!
//! ```toml
//! path = [
//!     { kind = "rate", rate = "16Mbit", queue = { kind = "fifo", bytes = "200kB" } },
//!     { kind = "delay", delay = "12.5ms" },
//!     { kind = "loss", probability = 0.01 },
//! ]
//! ```
//!
//! Every quantity carries its unit, every unknown key is refused, and [`Spec::build`] refuses what
//! contradicts itself before the first packet.

mod build;
mod build_cross;
mod build_queue;
mod cross;
mod describe;
mod queue;
mod stage;

pub use build::Resolver;
pub use cross::{CrossSpec, Then};
pub use queue::QueueSpec;
pub use stage::StageSpec;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A path: its stages in the order that packets pass them.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Spec(pub Vec<StageSpec>);

/// The packet size that packet limits are turned into octets and times with.
const FULL_PACKET: u64 = 1_500;
