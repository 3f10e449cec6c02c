//! A replay in virtual time: the same vectors, models, tables and figures, over connections of [`sim`].
//!
//! What the kernel, the sockets and the emulated path are to [`crate::replay`], [`sim::tcp`] and [`path`] are here. What an end
//! says and when is decided by the same [`vectors::play::Player`]; what the record holds is made of the same rows. So a trace's
//! whole hour is played in minutes, the same seed gives the same octets, and nothing depends on the machine.
//!
//! - [`feed`]: the connections, read as they begin. [`host`]: an end of each connection; [`flows`]: of each flow of UDP. [`links`]: queues, arrivals and departures of the path, and who is alive.
//! - [`capturing`]: a capture of them, with the headers ([`headers`]) that they would have on a network.
//! - [`mod@run`]: the loop around them. [`books`]: rows and figures of what they found. [`mod@world`]: hosts and links put together.

mod books;
mod capturing;
mod feed;
mod flows;
mod headers;
mod host;
mod links;
mod run;
mod world;

pub use feed::{Parts, Survey};
pub use links::Hop;
pub use run::{Context, run};

use units::FlowId;

/// The flow from the initiator of part `number`; the way back is the next ([`sim::tcp::back`]).
fn flow_of(number: u32) -> FlowId {
    FlowId(u64::from(number) * 2)
}

/// The part to which a flow belongs.
fn number_of(flow: FlowId) -> u32 {
    u32::try_from(flow.0 / 2).unwrap_or(u32::MAX)
}
