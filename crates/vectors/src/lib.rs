//! What applications said to each other, without the network's part in it.
//!
//! # The idea
//!
//! A packet trace shows applications through the network that carried them: segment sizes, acknowledgements, pauses of a
//! congestion window. Replaying packets replays that old network. A **connection vector** keeps what the applications did and
//! leaves the rest to whatever network it is replayed on: an *application data unit* (ADU) is what one end sent before it
//! waited for the other or for itself, and a vector is the list of them with the waits between. This is the a-b-t model
//! (Hernandez-Campos 2006; Weigle and others, "Tmix", CCR 36(3), 2006; Aikat 2010, section 2.3.2).
//!
//! - In a **sequential** connection the ends take turns. An *epoch* is a request *a* of the initiator, the time *ta* until
//!   the response, the response *b*, and the time *tb* until the next request. Either size may be zero.
//! - In a **concurrent** connection, at some point, both ends sent at once: neither waited for the other. Then each end has a
//!   list of its own, and a wait lies between two ADUs of the same end.
//!
//! A vector has four things of the network too, so that a replay can rebuild the path and the hosts: the minimum round-trip
//! time, the largest receive windows, the loss of each direction, and the time at which the connection began.
//!
//! # The rooms
//!
//! - [`Vector`] and its parts.
//! - [`cvec`]: the two text formats of Tmix, read and written.
//! - [`extract`]: from the segments of a capture to vectors.
//! - [`model`]: what of a vector is replayed; [`play`]: replaying it, end by end.
//! - [`scale`]: more or fewer of them.
//! - [`describe`]: what a set of them is like, in bounded memory ([`sketch`]).
//! - [`synth`]: sets that were never captured.
#![forbid(unsafe_code)]

mod chance;
pub mod cvec;
pub mod describe;
pub mod extract;
mod loss;
pub mod model;
pub mod play;
pub mod scale;
pub mod sketch;
pub mod synth;
mod vector;

pub use loss::Loss;
pub use vector::{Body, Epoch, Epochs, MAX_ADUS, Side, Transport, Turn, Vector};
