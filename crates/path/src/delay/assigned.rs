//! Delays that somebody else assigns, flow by flow, while packets pass.
//!
//! A replay gives every connection the round-trip time that it had in the original: it knows the
//! delay when it makes the connection, so it writes it into a table ([`Assigned`]) before the first
//! packet, and the path looks each packet up ([`ConnectionDelay`]). Nothing stands between the two
//! ends: they speak TCP to each other, handshake included, over a path of that length.

use super::DelayModel;
use crate::random::scatter;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use units::{FlowId, Instant, nanos};

/// Parts of the table, each with a lock of its own. One thread looks up and another writes, so two
/// meet at a lock seldom; and a part that grows holds up one packet in that many.
const SHARDS: usize = 64;
/// A model forgets departures that have passed when it remembers this many, or twice as many as the
/// last time.
const LEAST_REMEMBERED: usize = 1_024;

/// A table of delays by flow, shared between whoever assigns and the path that obeys. Clones are
/// the same table.
#[derive(Clone, Debug, Default)]
pub struct Assigned(Arc<Table>);

#[derive(Debug)]
struct Table {
    /// Nanoseconds by the numbers of flows, from 0, for as long as the table lasts; empty where flows come and go.
    settled: Box<[u64]>,
    shards: [Mutex<ByFlow<Duration>>; SHARDS],
    missed: AtomicU64,
}

impl Default for Table {
    fn default() -> Self {
        Self {
            settled: Box::default(),
            shards: std::array::from_fn(|_| Mutex::default()),
            missed: AtomicU64::new(0),
        }
    }
}

impl Assigned {
    /// A table that never changes, of the flows numbered from 0 in the order of `delays`: what is known beforehand is looked up
    /// without a lock.
    pub fn settled(delays: impl IntoIterator<Item = Duration>) -> Self {
        Self(Arc::new(Table {
            settled: delays.into_iter().map(nanos).collect(),
            ..Table::default()
        }))
    }

    /// From now on each packet of `flow` takes `delay`.
    pub fn set(&self, flow: FlowId, delay: Duration) {
        self.shard(flow).insert(flow, delay);
    }

    /// Forgets `flow`: its packets take no time from now on, and count as missed.
    pub fn clear(&self, flow: FlowId) {
        self.shard(flow).remove(&flow);
    }

    /// The delay of `flow`, if it has one.
    pub fn get(&self, flow: FlowId) -> Option<Duration> {
        let settled = self.settled_for(flow).map(Duration::from_nanos);
        settled.or_else(|| self.shard(flow).get(&flow).copied())
    }

    /// Flows with a delay.
    pub fn len(&self) -> usize {
        let shards = self.0.shards.iter();
        shards.map(|shard| lock(shard).len()).sum()
    }

    /// Whether no flow has a delay.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Packets so far whose flow had no delay. With a table that is kept well they are those that
    /// are on their way when a flow is cleared.
    pub fn missed(&self) -> u64 {
        self.0.missed.load(Ordering::Relaxed)
    }

    /// The delay of `flow` in nanoseconds, if it is settled.
    #[inline]
    fn settled_for(&self, flow: FlowId) -> Option<u64> {
        let place = usize::try_from(flow.0).ok()?;
        self.0.settled.get(place).copied()
    }

    fn shard(&self, flow: FlowId) -> MutexGuard<'_, ByFlow<Duration>> {
        // The map within takes its place from the low bits and its tag from the highest seven.
        let number = scatter(flow.0) >> 48;
        lock(&self.0.shards[usize::try_from(number).unwrap_or_default() % SHARDS])
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Every write is one insertion or removal, so there is no half-done state to be poisoned by.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Delays each packet as the table says of its flow; without an entry, not at all.
///
/// Order is kept within a flow, not between flows. A flow whose delay is made shorter has packets
/// under way that the next ones would overtake: these leave together with the last of them.
#[derive(Debug)]
pub struct ConnectionDelay {
    table: Assigned,
    /// The last departure of each flow that may have packets under way.
    last: ByFlow<Instant>,
    /// How many of them are remembered before those that have passed are forgotten.
    most: usize,
}

impl ConnectionDelay {
    /// Delays as `table` says.
    pub fn new(table: Assigned) -> Self {
        Self {
            table,
            last: ByFlow::default(),
            most: LEAST_REMEMBERED,
        }
    }

    /// Bounds what is remembered by twice the flows that have packets under way at `now`.
    fn forget(&mut self, now: Instant) {
        if self.last.len() >= self.most {
            self.last.retain(|_, last| *last > now);
            self.most = LEAST_REMEMBERED.max(self.last.len() * 2);
        }
    }
}

impl DelayModel for ConnectionDelay {
    #[inline]
    fn departure(&mut self, flow: FlowId, at: Instant) -> Instant {
        if let Some(delay) = self.table.settled_for(flow) {
            // It never changes, so the flow keeps its order.
            return at.later(delay);
        }
        let delay = self.table.get(flow).unwrap_or_else(|| {
            self.table.0.missed.fetch_add(1, Ordering::Relaxed);
            Duration::ZERO
        });
        self.forget(at);
        let last = self.last.entry(flow).or_insert(Instant::ZERO);
        *last = (*last).max(at + delay);
        *last
    }
}

type ByFlow<T> = HashMap<FlowId, T, BuildHasherDefault<Scatter>>;

/// A flow's number, scattered: it may be a good hash already, or a count.
#[derive(Default)]
struct Scatter(u64);

impl Hasher for Scatter {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, octets: &[u8]) {
        for octet in octets {
            self.write_u64((*octet).into());
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = scatter(self.0 ^ number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_settled_is_looked_up_by_number_and_the_rest_as_it_is_set() {
        let table = Assigned::settled([5, 7].map(Duration::from_millis));
        table.set(FlowId(2), Duration::from_millis(9));
        let mut delay = ConnectionDelay::new(table);
        let at = Instant::from_millis(100);
        let departures = [1, 0, 2, 3].map(|flow| delay.departure(FlowId(flow), at));
        assert_eq!(departures, [107, 105, 109, 100].map(Instant::from_millis));
        assert_eq!(delay.table.missed(), 1);
    }

    const MS: fn(u64) -> Duration = Duration::from_millis;

    #[test]
    fn a_flow_without_an_entry_takes_no_time_and_is_counted() {
        let table = Assigned::default();
        let mut model = ConnectionDelay::new(table.clone());
        let at = Instant::from_millis(5);
        assert_eq!(model.departure(FlowId(1), at), at);
        table.set(FlowId(1), MS(3));
        assert_eq!(model.departure(FlowId(1), at), at + MS(3));
        assert_eq!(model.departure(FlowId(2), at), at);
        assert_eq!((table.len(), table.missed()), (1, 2));
    }

    #[test]
    fn no_packet_overtakes_those_of_its_flow_when_the_delay_shrinks_or_goes() {
        let table = Assigned::default();
        let mut model = ConnectionDelay::new(table.clone());
        let mut departure = |at| model.departure(FlowId(7), Instant::from_millis(at));
        table.set(FlowId(7), MS(50));
        assert_eq!(departure(0), Instant::from_millis(50));
        table.set(FlowId(7), MS(10));
        assert_eq!(departure(20), Instant::from_millis(50));
        assert_eq!(departure(45), Instant::from_millis(55));
        table.clear(FlowId(7));
        assert!(table.is_empty());
        assert_eq!(departure(46), Instant::from_millis(55));
        assert_eq!(departure(56), Instant::from_millis(56));
    }

    #[test]
    fn departures_that_have_passed_are_forgotten() {
        let table = Assigned::default();
        let mut model = ConnectionDelay::new(table.clone());
        for flow in 0..1_000_000 {
            // A flow a microsecond, each of 5 ms: 5,000 at once.
            table.set(FlowId(flow), MS(5));
            model.departure(FlowId(flow), Instant::from_nanos(flow * 1_000));
            table.clear(FlowId(flow));
        }
        assert!(model.last.len() <= 10_002, "{}", model.last.len());
        assert!(table.is_empty());
    }

    proptest! {
        #[test]
        fn tables_hold_what_was_set_last(
            writes in prop::collection::vec((0_u64..50, prop::option::of(0_u64..1_000)), 0..300),
        ) {
            let table = Assigned::default();
            let mut model = HashMap::new();
            for (flow, delay) in writes {
                if let Some(delay) = delay.map(MS) {
                    table.clone().set(FlowId(flow), delay);
                    model.insert(flow, delay);
                } else {
                    table.clear(FlowId(flow));
                    model.remove(&flow);
                }
            }
            prop_assert_eq!(table.len(), model.len());
            for flow in 0..50 {
                prop_assert_eq!(table.get(FlowId(flow)), model.get(&flow).copied());
            }
        }
    }
}
