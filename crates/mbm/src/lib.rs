//! Model based metrics (RFC 8337): will this path, or this part of a path, carry my application?
//!
//! A flood asks how fast a path is, now, between these two hosts. The answer depends on their distance: the same link is fast for a
//! neighbour and slow for another continent, because a congestion control that halves its window at each loss needs
//! fewer losses the longer its round trip. Model based metrics turn the question around. From the application's
//! [`Target`](target::Target) (rate, and round-trip time of the *complete* path) a [`Model`](model::Model) of its transport
//! says how many packets must pass between two losses. That number does not depend on where the test is made. So any part of the path can be
//! tested by itself, with packets in the patterns that the transport would send, and the path passes when its parts do.
//!
//! | module | from | to |
//! |---|---|---|
//! | [`target`] | rate, round-trip time, packet size | target window |
//! | [`model`] | target window | target run length; what throughput a loss rate permits |
//! | [`sequential`] | packets and losses, one after the other | "few enough", "too many", or "go on" |
//! | [`loss`] | which packets arrived, when, in which order | counts, intervals, runs, reordering |
//! | [`stream`] | `now` and acknowledgements | which packets leave when |
//! | [`diagnostic`] | a target | the tests of RFC 8337 section 8, and how each is judged |
//! | [`verdict`] | preconditions and counts | PASS, FAIL, INCONCLUSIVE or ERROR, with the reason |
//! | [`suite`], [`compose`], [`plan`] | tests; parts of a path; a target | one verdict; a whole path; the cost |
//!
//! Nothing here reads a clock or opens a socket. A carrier sends what a stream asks for and tells what arrived.
//!
//! Sources: RFC 8337 and the thesis that first built it ("the thesis": an evaluation of Model Based Metrics with two tests
//! and a sequential test in a virtual network), RFC 6049 for composition, RFC 4737 for reordering.
//!
//! ```
//! use isobath_mbm::{model::Model, target::{Target, TargetSpec}};
//!
//! // RFC 8337 section 9: video of 2.5 Mbit/s over 50 ms.
//! let rate = "2.5Mbit".parse()?;
//! let rtt = "50ms".parse()?;
//! let target = Target::new(TargetSpec { rate, rtt, mtu: 1_500, overhead: 64, derating: None })?;
//! assert_eq!(target.window(), 11);
//! assert_eq!(Model::Reference.run_length(&target)?.packets, 363);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

pub mod compose;
pub mod diagnostic;
pub mod loss;
pub mod model;
pub mod plan;
pub mod sequential;
pub mod stream;
pub mod suite;
pub mod target;
pub mod verdict;
