//! A world in virtual time: hosts, routers and links whose clock jumps from one deadline to the next.
//!
//! The machines are the same as in the lab and on real networks: links are [`path::Pipeline`]s, transfers are
//! [`transport`]'s sender and receiver. Only the world around them is made of values in memory, so ten seconds pass in
//! milliseconds, nothing disturbs them, and the same seed gives the same octets.
//!
//! | to | use |
//! |---|---|
//! | put machines of any kind into a network | [`Node`], [`Builder`], [`World`] |
//! | run bulk transfers over a path, a chain of links or a shared bottleneck | [`Transfers`] |
//! | open connections, say things over them in both directions, and close them | [`tcp`] |
//! | carry trains of probes over a path | [`Probing`] |
//! | see what happened on the way | [`Log`], or any other [`Observer`] |
//!
//! # How time passes
//!
//! Each link and each host has at most one deadline: the next packet that leaves the link, the next timer of the host. The
//! world goes to the earliest of them, lets that party act, and handles everything that follows at the same instant: a
//! packet that arrives makes its host send another, which may pass a link without delay and arrive somewhere else. Then it
//! goes to the next deadline. Ties are broken by number ([`World`]), so there is no chance in it but the seeds'.
//!
//! Packets that are under way wait inside the links, in rows that are in order already; the calendar holds deadlines of
//! parties, not packets. Nothing is allocated for a packet once the buffers have grown.
//!
//! ```
//! use isobath_sim::{End, Plan, Transfers, pipeline};
//! use std::time::Duration;
//! use transport::Options;
//!
//! #[derive(serde::Deserialize)]
//! struct Path {
//!     up: path::Spec,
//!     down: path::Spec,
//! }
//! let text = r#"
//!     up = [{ kind = "rate", rate = "10Mbit", queue = { kind = "fifo", packets = 33 } }, { kind = "delay", delay = "20ms" }]
//!     down = [{ kind = "delay", delay = "20ms" }]
//! "#;
//! let path: Path = toml::from_str(text)?;
//! let plan = Plan::new(Options::default(), End::After(Duration::from_secs(10)));
//! let mut transfers = Transfers::duplex([(plan, [(), ()])], pipeline(&path.up, 1)?, pipeline(&path.down, 2)?);
//! transfers.run();
//! let [report] = transfers.reports()[..] else { unreachable!() };
//! assert!(report.throughput_mbps().is_some_and(|mbps| (8.0..9.7).contains(&mbps)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod calendar;
mod node;
mod probing;
mod routes;
pub mod tcp;
mod transfer;
mod world;

pub use node::{Addressed, LinkId, Node, NodeId, Parcel};
pub use probing::Probing;
pub use transfer::{
    Duplex, End, Endpoint, Headers, Log, Observer, Outcome, Packet, Plan, Report, Side, Sink,
    Source, Transfers, pipeline, transfer_link,
};
pub use world::{Builder, Tap, Work, World};
