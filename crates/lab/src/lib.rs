//! Emulated networks of real packets.
//!
//! A lab is hosts, routers and links described in TOML ([`Topology`]). Brought up ([`Network::up`]), each node is a network
//! namespace with the kernel's own TCP/IP, and each link is a pair of TUN devices between which one thread carries
//! packets through pipelines of [`path`] elements. Programs on the nodes are ordinary programs; the packets are the kernel's;
//! only the wire is ours.
//!
//! The counters of each link ([`Link::take_log`]) are the ground truth that measurements are compared with: queue
//! lengths every 10 ms, output in bins of 100 us, drops by cause, and how late the emulator itself was; where asked for
//! ([`Options`]), what came to the queue, the beginnings and ends of connections, every single packet.
//!
//! Nothing outlives the process: namespaces have no names, interfaces close with their descriptors, children are killed
//! with their parent, and what escapes all that is swept by the next lab.

mod capture;
mod congestion;
mod error;
mod limit;
mod margin;
mod monitor;
mod network;
mod node;
mod options;
pub mod profiles;
mod runner;
mod signal;
mod topology;
mod urgency;
mod watch;

pub use capture::{Capture, Captured};
pub use congestion::Congestion;
pub use error::Error;
pub use limit::{CpuShare, LimitSpec};
pub use monitor::{BIN, Bin, Log, Quality, QueueSample};
pub use network::{Link, Network, OWNER};
pub use node::Node;
pub use options::Options;
pub use signal::Signal;
pub use topology::{LinkSpec, Topology};
pub use watch::{KEPT, Passage, Watch};
