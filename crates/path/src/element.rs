//! The one trait of this crate, and the counters that every element keeps.

use crate::{Arrival, Packet};
use std::collections::VecDeque;
use std::ops::Add;
use std::time::Duration;
use units::Instant;

/// One stage of a path.
///
/// # Calling order
///
/// 1. `process(Some(packet), packet.at, out)` for each packet that arrives, in order of arrival;
/// 2. `process(None, now, out)` when the instant that the last call returned has come.
///
/// `now` never goes back. Each call first does everything that was due up to `now`, each thing at
/// its own logical time, so calling late changes no departure stamp, and calling early is harmless.
pub trait Element<B>: Send {
    /// Takes `packet`, if there is one, at `now`; appends to `out` every packet that has left the
    /// element by `now`, in order of departure and stamped with it; returns when the element wants
    /// to be called next (`None`: not before the next packet).
    fn process(
        &mut self,
        packet: Option<Packet<B>>,
        now: Instant,
        out: &mut VecDeque<Packet<B>>,
    ) -> Option<Instant>;

    /// What has happened to the packets so far.
    fn counters(&self) -> Counters;

    /// What waits in the element's queue, the packet in transmission apart; `None` where there is
    /// no queue.
    fn backlog(&self) -> Option<Count> {
        None
    }

    /// No packet leaves earlier than this after it entered.
    fn least_delay(&self) -> Duration {
        Duration::ZERO
    }

    /// Shows packets that go on soon after `now`: an opportunity to have at hand what they need. Not all of them, and each at most once by each
    /// stage.
    fn foresee(&mut self, now: Instant, see: &mut dyn FnMut(&Packet<B>)) {
        let _ = (now, see);
    }

    /// Notes from now on what comes to its queue, dropped there or not; nothing where there is no queue.
    fn watch(&mut self) {}

    /// What has come since the last call, in order, if it is watched.
    fn take_arrivals(&mut self) -> Vec<Arrival> {
        Vec::new()
    }

    /// Which of the packets that have entered and left are made up inside of the element; none where nobody shares it.
    fn others(&self) -> Others {
        Others::default()
    }
}

/// Other people's packets, which come from no stage before and go to none after.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Others {
    /// Those that came to the queue.
    pub entered: Count,
    /// Those that left the link.
    pub left: Count,
}

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Cause {
    /// The queue was full.
    Overflow,
    /// Active queue management chose it.
    Aqm,
    /// A loss process chose it.
    Loss,
}

/// A number of packets and the octets in them.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Count {
    /// Packets.
    pub packets: u64,
    /// Octets.
    pub bytes: u64,
}

impl Count {
    /// One packet of `size` octets more.
    #[inline]
    pub fn put(&mut self, size: u32) {
        self.packets += 1;
        self.bytes += u64::from(size);
    }

    /// One packet of `size` octets less; saturates at zero.
    #[inline]
    pub fn take(&mut self, size: u32) {
        self.packets = self.packets.saturating_sub(1);
        self.bytes = self.bytes.saturating_sub(u64::from(size));
    }
}

impl Add for Count {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            packets: self.packets + other.packets,
            bytes: self.bytes + other.bytes,
        }
    }
}

/// The counters of an element. They balance at every moment:
/// `entered + duplicated = left + queued + overflow + aqm + loss`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Counters {
    /// Packets taken in.
    pub entered: Count,
    /// Packets given out.
    pub left: Count,
    /// Packets inside now: waiting, in transmission, or in flight.
    pub queued: Count,
    /// Copies made.
    pub duplicated: Count,
    /// Dropped because a queue was full.
    pub overflow: Count,
    /// Dropped by active queue management.
    pub aqm: Count,
    /// Dropped by a loss process.
    pub loss: Count,
    /// Marked CE instead of dropped (these are also among `left` or `queued`).
    pub marked: Count,
}

impl Counters {
    /// Everything dropped, whatever the cause.
    pub fn dropped(&self) -> Count {
        self.overflow + self.aqm + self.loss
    }

    /// Whether the counters balance.
    pub fn is_balanced(&self) -> bool {
        self.entered + self.duplicated == self.left + self.queued + self.dropped()
    }

    /// Counters a packet in.
    pub fn enter(&mut self, size: u32) {
        self.entered.put(size);
        self.queued.put(size);
    }

    /// Counters a copy of a packet inside.
    pub fn duplicate(&mut self, size: u32) {
        self.duplicated.put(size);
        self.queued.put(size);
    }

    /// Counters a packet out.
    pub fn leave(&mut self, size: u32) {
        self.queued.take(size);
        self.left.put(size);
    }

    /// Counters the loss of a packet inside.
    pub fn drop(&mut self, size: u32, cause: Cause) {
        self.queued.take(size);
        match cause {
            Cause::Overflow => self.overflow.put(size),
            Cause::Aqm => self.aqm.put(size),
            Cause::Loss => self.loss.put(size),
        }
    }
}
