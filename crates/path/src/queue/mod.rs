//! Queues and their management.
//!
//! A queue decides twice: when a packet comes, whether it may enter ([`Fifo`]'s limit, [`Red`],
//! [`Pie`]), and when the link asks for the next packet, which one goes and which are dropped on
//! the way ([`CoDel`], [`FqCoDel`]). Instead of dropping a packet whose sender speaks ECN, the four
//! managed queues can mark it (`ecn`).
//!
//! While a packet waits, its stamp is the instant at which it entered, so every queue knows its
//! age.

mod codel;
mod fifo;
mod fq_codel;
mod pie;
mod red;
mod store;

pub use codel::{CoDel, CoDelConfig};
pub use fifo::{Fifo, Limit};
pub use fq_codel::{FqCoDel, FqCoDelConfig};
pub use pie::{Pie, PieConfig};
pub use red::{Red, RedConfig};

use crate::{Count, Counters, Packet};
use units::{Ecn, Instant};

/// A queue in front of a link. Calls come in order of time.
pub trait Queue<B>: Send {
    /// Takes `packet`, stamped with `now`, or drops it.
    fn enqueue(&mut self, packet: Packet<B>, now: Instant);

    /// Gives the next packet to the link at `now`, dropping what management chooses before it;
    /// `None` when nothing is left.
    fn dequeue(&mut self, now: Instant) -> Option<Packet<B>>;

    /// What waits.
    fn backlog(&self) -> Count;

    /// What has happened to the packets so far; `left` counts those given to the link.
    fn counters(&self) -> Counters;
}

/// Marks `packet` instead of dropping it, if `ecn` is on and its sender allows; says whether it did.
fn mark<B>(packet: &mut Packet<B>, ecn: bool, counters: &mut Counters) -> bool {
    let marks = ecn && packet.ecn.is_capable();
    if marks {
        packet.ecn = Ecn::Ce;
        counters.marked.put(packet.size);
    }
    marks
}
