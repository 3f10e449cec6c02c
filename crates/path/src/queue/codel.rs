//! Controlled delay (RFC 8289).
//!
//! `CoDel` watches how long packets have waited when they leave. A delay above `target` for a whole
//! `interval` is a standing queue: it drops a packet, and as long as the delay stays above, drops
//! again ever sooner, after `interval` / sqrt(count) (section 3.3), until the delay is below target.

use super::{Queue, mark, store::Store};
use crate::{Cause, Count, Counters, Limit, Packet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use units::{Instant, Span};

/// A new standing queue within this many intervals of the last drop continues where that one's
/// dropping rate left off (section 5.5).
const MEMORY: u32 = 16;

/// The parameters of [`CoDel`].
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct CoDelConfig {
    /// The delay that may stand (section 5.3).
    pub target: Span,
    /// The time within which it must fall below target: about a worst round-trip time (section 5.3).
    pub interval: Span,
    /// The most packets.
    pub packets: u32,
    /// Mark packets of senders that speak ECN, instead of dropping them.
    pub ecn: bool,
}

impl Default for CoDelConfig {
    /// 5 ms in 100 ms (section 5.3), 1,000 packets, without ECN.
    fn default() -> Self {
        Self {
            target: Span::from_millis(5),
            interval: Span::from_millis(100),
            packets: 1_000,
            ecn: false,
        }
    }
}

/// The control loop of one queue: section 5's state and its decisions.
#[derive(Clone, Debug, Default)]
pub(super) struct Control {
    /// When a delay that is now above target will have been so for an interval.
    first_above: Option<Instant>,
    dropping: bool,
    drop_next: Instant,
    /// Drops since the dropping state was entered.
    count: u32,
    /// `count` when it was entered.
    last_count: u32,
    /// The largest packet seen: no more than that in the queue is no standing queue.
    largest: u32,
}

impl Control {
    /// Takes the next packet that is not dropped off `store` (section 5.5). A packet that is marked
    /// instead ends the search.
    pub(super) fn dequeue<B>(
        &mut self,
        config: &CoDelConfig,
        store: &mut Store<B>,
        counters: &mut Counters,
        now: Instant,
    ) -> Option<Packet<B>> {
        let (mut packet, mut above) = self.take(config, store, now)?;
        if self.dropping && !above {
            self.dropping = false;
        }
        if above && !self.dropping {
            self.enter(config, now);
            if mark(&mut packet, config.ecn, counters) {
                return Some(packet);
            }
            counters.drop(packet.size, Cause::Aqm);
            return self.take(config, store, now).map(|(packet, _)| packet);
        }
        while self.dropping && now >= self.drop_next {
            self.count = self.count.saturating_add(1);
            if mark(&mut packet, config.ecn, counters) {
                self.drop_next += spacing(config.interval.0, self.count);
                return Some(packet);
            }
            counters.drop(packet.size, Cause::Aqm);
            (packet, above) = self.take(config, store, now)?;
            if above {
                self.drop_next += spacing(config.interval.0, self.count);
            } else {
                self.dropping = false;
            }
        }
        Some(packet)
    }

    /// The head of `store`, and whether the delay has been above target for an interval (section
    /// 5.6). An empty store ends the dropping state.
    fn take<B>(
        &mut self,
        config: &CoDelConfig,
        store: &mut Store<B>,
        now: Instant,
    ) -> Option<(Packet<B>, bool)> {
        let Some(packet) = store.pop() else {
            self.first_above = None;
            self.dropping = false;
            return None;
        };
        self.largest = self.largest.max(packet.size);
        let short = now.since(packet.at) < config.target.0;
        if short || store.bytes() <= u64::from(self.largest) {
            self.first_above = None;
            return Some((packet, false));
        }
        let due = *self.first_above.get_or_insert(now + config.interval.0);
        Some((packet, now >= due))
    }

    /// Enters the dropping state.
    fn enter(&mut self, config: &CoDelConfig, now: Instant) {
        let recent = now.since(self.drop_next) < config.interval.0 * MEMORY;
        let gained = self.count.saturating_sub(self.last_count);
        self.count = if gained > 1 && recent { gained } else { 1 };
        self.last_count = self.count;
        self.dropping = true;
        self.drop_next = now + spacing(config.interval.0, self.count);
    }
}

/// The control model of section 3.3: the time to the next drop.
fn spacing(interval: Duration, count: u32) -> Duration {
    interval.div_f64(f64::from(count.max(1)).sqrt())
}

/// A queue under `CoDel`.
pub struct CoDel<B> {
    config: CoDelConfig,
    control: Control,
    store: Store<B>,
    counters: Counters,
}

impl<B> CoDel<B> {
    /// An empty queue.
    pub fn new(config: CoDelConfig) -> Self {
        Self {
            config,
            control: Control::default(),
            store: Store::new(),
            counters: Counters::default(),
        }
    }
}

impl<B: Send> Queue<B> for CoDel<B> {
    fn enqueue(&mut self, packet: Packet<B>, _: Instant) {
        self.counters.enter(packet.size);
        if Limit::packets(self.config.packets).admits(self.store.count(), packet.size) {
            self.store.push(packet);
        } else {
            self.counters.drop(packet.size, Cause::Overflow);
        }
    }

    fn dequeue(&mut self, now: Instant) -> Option<Packet<B>> {
        let packet =
            self.control
                .dequeue(&self.config, &mut self.store, &mut self.counters, now)?;
        self.counters.leave(packet.size);
        Some(packet)
    }

    fn backlog(&self) -> Count {
        self.store.count()
    }

    fn counters(&self) -> Counters {
        self.counters
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::{Ecn, FlowId};

    /// A queue of 5,000 packets that all came at zero.
    fn standing(ecn: bool) -> CoDel<()> {
        let mut queue = CoDel::new(CoDelConfig {
            packets: 5_000,
            ecn,
            ..CoDelConfig::default()
        });
        for _ in 0..5_000 {
            let packet = Packet {
                size: 1_500,
                flow: FlowId(0),
                family: crate::Family::V4,
                dscp: units::Dscp::CS0,
                ecn: Ecn::Ect0,
                at: Instant::ZERO,
                body: (),
            };
            queue.enqueue(packet, Instant::ZERO);
        }
        queue
    }

    /// The milliseconds at which a queue that is asked every millisecond drops or marks.
    fn actions(mut queue: CoDel<()>, until_ms: u64) -> Vec<u64> {
        let mut before = 0;
        let mut acts = Vec::new();
        for ms in 1..=until_ms {
            queue.dequeue(Instant::from_millis(ms));
            let acted = queue.counters().aqm.packets + queue.counters().marked.packets;
            if acted > before {
                acts.push(ms);
            }
            before = acted;
        }
        acts
    }

    /// Above target from 5 ms on, dropping from 105 ms on, and the k-th drop follows the one before
    /// by 100 ms / sqrt(k): 105 + 100, + 70.71, + 57.74, + 50, + 44.72, + 40.82, + 37.80, ... each
    /// at the next full millisecond.
    const LAW: [u64; 9] = [105, 205, 276, 334, 384, 429, 469, 507, 543];

    #[test]
    fn drops_follow_the_inverse_square_root_law() {
        assert_eq!(actions(standing(false), 560), LAW);
    }

    #[test]
    fn marks_follow_the_same_law_and_nothing_is_dropped() {
        let queue = standing(true);
        assert_eq!(queue.counters().aqm, Count::default());
        assert_eq!(actions(queue, 560), LAW);
    }

    #[test]
    fn a_delay_below_target_ends_the_dropping_and_a_new_one_resumes_its_rate() {
        let mut control = Control {
            count: 12,
            last_count: 4,
            drop_next: Instant::from_millis(1_000),
            ..Control::default()
        };
        let config = CoDelConfig::default();
        control.enter(&config, Instant::from_millis(2_599));
        assert_eq!(
            (control.count, control.last_count),
            (8, 8),
            "within 16 intervals"
        );
        control.count = 20;
        control.enter(&config, Instant::from_millis(9_000));
        assert_eq!((control.count, control.last_count), (1, 1), "long after");
    }

    #[test]
    fn one_packet_is_no_standing_queue() {
        let mut queue = CoDel::new(CoDelConfig::default());
        for second in 0..100 {
            let packet = Packet {
                size: 1_500,
                flow: FlowId(0),
                family: crate::Family::V4,
                dscp: units::Dscp::CS0,
                ecn: Ecn::NotEct,
                at: Instant::from_millis(second * 1_000),
                body: (),
            };
            queue.enqueue(packet, Instant::from_millis(second * 1_000));
            assert!(
                queue
                    .dequeue(Instant::from_millis(second * 1_000 + 900))
                    .is_some()
            );
        }
        assert_eq!(queue.counters().aqm, Count::default());
    }
}
