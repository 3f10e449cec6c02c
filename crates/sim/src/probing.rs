//! Trains of probes in virtual time.

use path::{Element, Family, Packet, Pipeline};
use probe::riders::Riders;
use probe::train::{Arrival, Back, Passage, Train};
use std::collections::VecDeque;
use std::time::Duration;
use units::{Dscp, Ecn, FlowId, Instant};

/// A probe that has not come this long after the last one left, or arrived, is lost.
const PATIENCE: Duration = Duration::from_secs(1);
/// How far the receiver's clock is ahead of the sender's, so that nobody relies on one clock.
const AHEAD: Duration = Duration::from_secs(77);

/// A row of links there and one back, over which trains are carried one after the other.
///
/// The pipelines do everything at its own logical time, so a probe is put in when it leaves and taken out when it arrives,
/// and nothing in between has to be waited for.
pub struct Probing {
    there: Way,
    back: Way,
    now: Instant,
}

/// One direction, whose packets are numbers of probes.
struct Way {
    pipeline: Pipeline<u64>,
    /// The next packet's number, over all trains.
    next: u64,
    leaving: VecDeque<Packet<u64>>,
}

impl Probing {
    /// Over these ways, at the instant zero.
    pub const fn new(there: Pipeline<u64>, back: Pipeline<u64>) -> Self {
        Self {
            there: Way::new(there),
            back: Way::new(back),
            now: Instant::ZERO,
        }
    }

    /// What time it is: until a train is carried, when all was known of the one before.
    pub const fn now(&self) -> Instant {
        self.now
    }

    /// A moment of the receiver's clock, in nanoseconds, on the sender's.
    pub fn to_sender(receiver_ns: u64) -> u64 {
        receiver_ns.saturating_sub(u64::try_from(AHEAD.as_nanos()).unwrap_or(0))
    }

    /// What the links there have done to packets.
    pub const fn there(&self) -> &Pipeline<u64> {
        &self.there.pipeline
    }

    /// Carries a train, not before this moment, and tells what came of it.
    pub fn carry(&mut self, train: &Train, not_before: Instant) -> Passage {
        let mut at = self.now.max(not_before);
        let mut departures = Vec::with_capacity(train.probes.len());
        for probe in &train.probes {
            if !departures.is_empty() {
                at += probe.gap;
            }
            departures.push((at, probe.octets));
        }
        let (arrived, known) = self.there.carry(departures.iter().copied(), at);
        self.now = known;
        let mut arrivals: Vec<Arrival> = Vec::with_capacity(arrived.len());
        for (number, arrived) in &arrived {
            let sent = departures.get(*number as usize);
            arrivals.push(Arrival {
                number: *number,
                sent_ns: sent.map_or(0, |(at, _)| at.as_nanos()),
                arrived_ns: (*arrived + AHEAD).as_nanos(),
                back: None,
            });
        }
        if train.echo {
            self.echo(train, &arrived, &mut arrivals);
        }
        arrivals.sort_by_key(|arrival| arrival.number);
        arrivals.dedup_by_key(|arrival| arrival.number);
        Passage {
            sent: u32::try_from(train.probes.len()).unwrap_or(u32::MAX),
            octets: train.octets(),
            lasted: train.duration(),
            arrivals,
            riders: Riders::default(),
        }
    }

    /// Sends back what arrived; what does not come back is not known to have arrived.
    fn echo(&mut self, train: &Train, arrived: &[(u32, Instant)], arrivals: &mut Vec<Arrival>) {
        let octets = |number: u32| {
            let probe = train.probes.get(number as usize);
            probe.map_or(0, |probe| probe.octets)
        };
        let leaving = arrived.iter().map(|(number, at)| (*at, octets(*number)));
        let (returned, known) = self.back.carry(leaving, self.now);
        self.now = known;
        let place = |at: u32| arrivals.get(at as usize).copied();
        let back = returned.iter().filter_map(|(at, returned)| {
            let arrival = place(*at)?;
            Some(Arrival {
                back: Some(Back {
                    left_ns: arrival.arrived_ns,
                    returned_ns: returned.as_nanos(),
                }),
                ..arrival
            })
        });
        *arrivals = back.collect();
    }
}

impl Way {
    const fn new(pipeline: Pipeline<u64>) -> Self {
        Self {
            pipeline,
            next: 0,
            leaving: VecDeque::new(),
        }
    }

    /// Carries packets that leave at these times with these octets, the last of them by `last`: which arrived, by their places,
    /// and when; and when that was known.
    fn carry(
        &mut self,
        departures: impl ExactSizeIterator<Item = (Instant, u32)>,
        last: Instant,
    ) -> (Vec<(u32, Instant)>, Instant) {
        let (first, count) = (self.next, departures.len());
        let mut wake = None;
        for (at, octets) in departures {
            let packet = packet(self.next, octets, at);
            self.next += 1;
            wake = self.pipeline.process(Some(packet), at, &mut self.leaving);
        }
        let mut known = last;
        loop {
            // What belongs to an earlier train was given up with it.
            self.leaving.retain(|packet| packet.body >= first);
            let latest = self
                .leaving
                .back()
                .map_or(last, |packet| packet.at.max(last));
            let next = wake.filter(|at| *at <= latest + PATIENCE);
            let Some(at) = next.filter(|_| self.leaving.len() < count) else {
                break;
            };
            wake = self.pipeline.process(None, at, &mut self.leaving);
        }
        if self.leaving.len() < count {
            known += PATIENCE;
        }
        let place = |packet: &Packet<u64>| u32::try_from(packet.body - first).unwrap_or(u32::MAX);
        let arrived = self
            .leaving
            .drain(..)
            .map(|packet| (place(&packet), packet.at));
        let arrived: Vec<_> = arrived.collect();
        let latest = arrived.last().map_or(last, |(_, at)| *at);
        (arrived, known.max(latest))
    }
}

/// A packet of the conversation that all probes are.
fn packet(number: u64, octets: u32, at: Instant) -> Packet<u64> {
    Packet {
        size: octets,
        flow: FlowId(1),
        family: Family::V4,
        dscp: Dscp::CS0,
        ecn: Ecn::NotEct,
        at,
        body: number,
    }
}
