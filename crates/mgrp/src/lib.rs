//! Probes that carry other programs' packets (MGRP).
//!
//! # The idea
//!
//! A probe is mostly padding. An application's packet that is on its way to the same host can travel in that padding, at no
//! cost: the probe was to be sent anyway, and the packet need not be. Neither the tool nor the application knows. Whatever the
//! probe has room for is taken from the head of a buffer in which packets wait for a short, constant time; what does not
//! fit is cut, and put together again at the far end.
//!
//! Papageorgiou 2008, "The Measurement Manager: Modular and Efficient End-to-End Measurement Services", chapters 3 and 4,
//! called T here. There it was a protocol of a kernel; here nothing in the packets depends on who carries them.
//!
//! # The rooms
//!
//! - [`packet`]: one packet on the wire: a probe, what it carries, and padding.
//! - [`envelope`]: what it travels in between two hosts that share keys.
//! - [`reassembly`]: packets from their fragments, in bounded memory, whoever sends them.
//! - [`buffer`]: where packets wait for probes, and how a probe is filled.
//! - [`transaction`]: what a tool asks for, a list of probes or ranges that packets fill, and what it is told.
//! - [`message`]: the same over a Unix socket.
//! - [`path_mtu`]: how long the packets are that a path lets pass.
//! - [`peer`]: all of it together, for one peer: what goes to it, what comes from it, and what is counted.
//!
//! Nothing here reads a clock or opens a socket. `docs/mgrp.md` draws what is on the wire.
#![forbid(unsafe_code)]

pub mod buffer;
pub mod echo;
pub mod envelope;
mod ip;
pub mod message;
pub mod packet;
pub mod path_mtu;
pub mod peer;
pub mod reassembly;
pub mod transaction;
