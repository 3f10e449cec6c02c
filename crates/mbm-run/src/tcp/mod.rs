//! Tests carried by the kernel's TCP, as the thesis carried them (its sections 3.5 and 3.6).
//!
//! TCP Reno sends full segments at the target's rate, in the target's window or in its bursts ([`feed`]), and its own figures
//! (`TCP_INFO`) are the counters: packets are segments that left with data, a loss is a segment that was sent again. That is what a sender
//! *believes* to be lost, and it also slows down for it: a path on which TCP does not keep 0.9 of the target rate fails by its rate, and
//! no further loss need be counted. That is the thesis's stricter reading of a failure; a UDP stream would go on and count.
//!
//! The packet rate is the target's, as with datagrams, so a link sees the same load from both: each segment is as long as the target's
//! packets, and TCP is paced by the data in them. (The kernel's own pacing counts data alone. On an interface whose queue
//! discipline is `fq` that queue paces instead and counts headers as well: some 4 % slower.)
//!
//! | module | what |
//! |---|---|
//! | [`feed`] | what is written when |
//! | [`sending`] | drives a feed, reads the counters, judges |
//! | [`receiving`] | throws away what comes, and bounds the window |
//! | [`near`], [`far`] | both ends' part of a run |

pub(super) mod far;
mod feed;
mod near;
mod receiving;
mod sending;

use super::plan::Plan;
use std::io;
use sys::tcp;

/// Kind octet of a test's connection in the preamble.
const STREAM_KIND: u8 = 3;
/// The congestion control of every test: the models are of it.
const CONGESTION: &str = "reno";
/// Octets of IPv4 and TCP headers without options, and of IPv6's.
const HEADERS: [u32; 2] = [40, 60];
/// Octets of TCP's time stamps, which kernels use unless told otherwise.
const TIMESTAMPS: u32 = 12;
/// Octets of TCP options that a segment has at most.
const OPTIONS: u32 = 40;

/// Readies a socket before it connects: class, segments as long as the target's packets, and Reno where it sends.
fn prepare(socket: &socket2::Socket, plan: &Plan, v6: bool, sends: bool) -> io::Result<()> {
    kit::stream::prepare(socket, plan.class, sends.then_some(CONGESTION))?;
    let room = plan.target.mtu().saturating_sub(headers(v6));
    tcp::set_max_segment(socket, room).map_err(io::Error::other)
}

fn headers(v6: bool) -> u32 {
    HEADERS[usize::from(v6)]
}
