//! Who said how much, and when: ADUs that are being put together.

use crate::{Body, MAX_ADUS, Side, Turn};
use core::time::Duration;

/// The highest bit of [`Adu::bytes`]: who sent it, by place in the key.
const PLACE: u64 = 1 << 63;

/// An ADU in 24 octets: an open connection may have thousands.
#[derive(Clone, Copy, Debug)]
struct Adu {
    bytes: u64,
    /// When its first and last segment passed.
    first_ns: u64,
    last_ns: u64,
}

impl Adu {
    const fn place(&self) -> usize {
        (self.bytes & PLACE != 0) as usize
    }

    const fn size(&self) -> u64 {
        self.bytes & !PLACE
    }
}

/// What both ends said. A connection is sequential until the contrary is proved.
#[derive(Debug, Default)]
pub(super) struct Talk {
    concurrent: bool,
    /// While it is sequential, all ADUs in order in the first list; then a list for each end.
    lists: [Vec<Adu>; 2],
}

impl Talk {
    /// The end at `place` says `bytes` more; `quiet` when it had been silent before that.
    pub(super) fn say(&mut self, place: usize, bytes: u64, quiet: bool, now_ns: u64) {
        let list = &mut self.lists[if self.concurrent { place } else { 0 }];
        match list.last_mut() {
            Some(adu) if adu.place() == place && !quiet => {
                adu.bytes += bytes;
                adu.last_ns = now_ns;
            }
            _ => list.push(Adu {
                bytes: bytes & !PLACE | if place == 0 { 0 } else { PLACE },
                first_ns: now_ns,
                last_ns: now_ns,
            }),
        }
    }

    /// What the end at `place` said last is still under way.
    pub(super) fn go_on(&mut self, place: usize, now_ns: u64) {
        let list = &mut self.lists[if self.concurrent { place } else { 0 }];
        if let Some(adu) = list.last_mut().filter(|adu| adu.place() == place) {
            adu.last_ns = now_ns;
        }
    }

    /// Both ends spoke at once. ADUs of an end are one unless `quiet_ns` lie between them.
    pub(super) fn becomes_concurrent(&mut self, quiet_ns: u64) {
        if self.concurrent {
            return;
        }
        self.concurrent = true;
        let mixed = core::mem::take(&mut self.lists[0]);
        for adu in mixed {
            let list = &mut self.lists[adu.place()];
            match list.last_mut() {
                Some(before) if adu.first_ns.saturating_sub(before.last_ns) < quiet_ns => {
                    before.bytes += adu.size();
                    before.last_ns = adu.last_ns;
                }
                _ => list.push(adu),
            }
        }
    }

    pub(super) const fn is_concurrent(&self) -> bool {
        self.concurrent
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.lists[0].is_empty() && self.lists[1].is_empty()
    }

    /// No vector may have more.
    pub(super) const fn is_full(&self) -> bool {
        self.lists[0].len() + self.lists[1].len() >= MAX_ADUS
    }

    /// When the last ADU of an end ended; while it is sequential, the last of all.
    fn last_ns(&self, place: usize) -> Option<u64> {
        self.lists[if self.concurrent { place } else { 0 }]
            .last()
            .map(|adu| adu.last_ns)
    }

    /// As turns. `initiator` is the place of that end, `established_ns` when both could speak, and `closed_ns` says when the
    /// end at a place closed, for a last ADU that ended at the time it is given.
    pub(super) fn body(
        &self,
        initiator: usize,
        established_ns: Option<u64>,
        closed_ns: impl Fn(usize, u64) -> Option<u64>,
    ) -> Body {
        let side = |place| {
            if place == initiator {
                Side::Initiator
            } else {
                Side::Acceptor
            }
        };
        let mut before = [established_ns; 2];
        let turns = self.in_order().map(|adu| {
            let lane = if self.concurrent { adu.place() } else { 0 };
            let since = before[lane].replace(adu.last_ns).unwrap_or(adu.first_ns);
            Turn {
                side: side(adu.place()),
                bytes: adu.size(),
                wait: span(since, adu.first_ns),
            }
        });
        let turns = turns.collect();
        let tail = |place| {
            let last = self.last_ns(place)?;
            closed_ns(place, last).map(|closed| span(last, closed))
        };
        if self.concurrent {
            let tails = [tail(initiator), tail(1 - initiator)];
            Body::Concurrent { turns, tails }
        } else {
            Body::Sequential {
                turns,
                tail: tail(0),
            }
        }
    }

    /// In the order in which they began.
    fn in_order(&self) -> impl Iterator<Item = &Adu> {
        let [mut one, mut two] = self.lists.each_ref().map(|list| list.iter().peekable());
        core::iter::from_fn(move || match (one.peek(), two.peek()) {
            (Some(a), Some(b)) if a.first_ns > b.first_ns => two.next(),
            (Some(_), _) => one.next(),
            (None, _) => two.next(),
        })
    }
}

fn span(from_ns: u64, to_ns: u64) -> Duration {
    Duration::from_nanos(to_ns.saturating_sub(from_ns))
}
