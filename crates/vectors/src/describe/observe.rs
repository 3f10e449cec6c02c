//! From vectors to sketches, and from sketches to a description.

use super::course::Moments;
use super::udp::Flows;
use super::{Amounts, Description, Measure, Quantity, Shares};
use crate::sketch::Sketch;
use crate::{Body, Side, Transport, Turn, Vector};
use core::time::Duration;
use std::collections::BTreeMap;

/// D's threshold of waits that are replayed, in microseconds (section 3.1.3.3).
const EMULATED_US: u64 = 500_000;
/// What counts as D's window of 64 KB: 44 segments of 1,460 octets are 64,240.
const LARGE_WINDOW: u64 = 60 << 10;
const SMALL_WINDOW: u64 = 8 << 10;
/// Octets of a segment, when a connection does not say.
const SEGMENT: u32 = 1_460;

/// Sketches of all measures of the vectors so far.
#[derive(Clone, Debug)]
pub struct Describer {
    /// In the order of [`Measure::ALL`].
    sketches: [Sketch; Measure::ALL.len()],
    last_start: Duration,
    connections: Amounts,
    bytes: Amounts,
    bytes_each_way: [u64; 2],
    segments_each_way: [u64; 2],
    udp: Flows,
    moments: Moments,
}

impl Default for Describer {
    fn default() -> Self {
        Self {
            sketches: core::array::from_fn(|_| Sketch::default()),
            last_start: Duration::ZERO,
            connections: Amounts::default(),
            bytes: Amounts::default(),
            bytes_each_way: [0; 2],
            segments_each_way: [0; 2],
            udp: Flows::default(),
            moments: Moments::default(),
        }
    }
}

impl Describer {
    /// Enters a connection, or a flow of UDP.
    pub fn enter(&mut self, vector: &Vector) {
        if vector.transport == Transport::Udp {
            self.udp.enter(vector);
            return;
        }
        self.last_start = self.last_start.max(vector.start);
        self.moments.enter(vector);
        self.count(vector);
        self.network(vector);
        match &vector.body {
            Body::Sequential { tail, .. } => {
                self.epochs(&vector.body);
                self.times(Measure::TailMs, *tail);
            }
            Body::Concurrent { turns, tails } => {
                self.concurrent(turns);
                self.times(Measure::TailMs, tails.iter().copied().flatten());
            }
        }
    }

    /// Adds another part of the set.
    pub fn merge(&mut self, other: &Self) {
        for (sketch, more) in self.sketches.iter_mut().zip(&other.sketches) {
            sketch.merge(more);
        }
        self.last_start = self.last_start.max(other.last_start);
        self.connections.add(&other.connections);
        self.bytes.add(&other.bytes);
        add(&mut self.bytes_each_way, other.bytes_each_way);
        add(&mut self.segments_each_way, other.segments_each_way);
        self.udp.merge(&other.udp);
        self.moments.merge(&other.moments);
    }

    /// What the set is like, under this name.
    pub fn describe(&self, name: impl Into<String>) -> Description {
        let quantity = |&measure: &Measure| {
            let quantity = Quantity::of(measure, self.sketch(measure));
            quantity.map(|quantity| (measure, quantity))
        };
        let epochs = self.sketch(Measure::Epochs).sum();
        Description {
            name: name.into(),
            last_start_s: self.last_start.as_secs_f64(),
            connections: self.connections,
            bytes: self.bytes,
            bytes_each_way: self.bytes_each_way,
            segments_each_way: self.segments_each_way,
            epochs: u64::try_from(epochs).unwrap_or(u64::MAX),
            shares: self.shares(),
            udp: self.udp.describe(),
            quantities: Measure::ALL
                .iter()
                .filter_map(quantity)
                .collect::<BTreeMap<_, _>>(),
            course: self.moments.course(self.last_start),
        }
    }

    /// The distribution of one measure.
    pub fn sketch(&self, measure: Measure) -> &Sketch {
        &self.sketches[measure as usize]
    }

    fn shares(&self) -> Shares {
        let part = |part: u64, all: u64| (all > 0).then(|| part as f64 / all as f64);
        let from = |measure, value| self.sketch(measure).share_from(value);
        let below = |measure, value| from(measure, value).map(|share| 1.0 - share);
        let connections = self.connections;
        let known = self.sketch(Measure::MinRttMs).count();
        Shares {
            concurrent_connections: part(connections.concurrent, connections.all),
            concurrent_bytes: part(self.bytes.concurrent, self.bytes.all),
            one_epoch: below(Measure::Epochs, 2),
            intra_epoch_emulated: from(Measure::IntraEpochMs, EMULATED_US),
            inter_epoch_emulated: from(Measure::InterEpochMs, EMULATED_US),
            concurrent_quiet_emulated: from(Measure::ConcurrentQuietMs, EMULATED_US),
            unknown_rtt: part(connections.all.saturating_sub(known), connections.all),
            initiators_64k: from(Measure::InitiatorWindowBytes, LARGE_WINDOW),
            acceptors_64k: from(Measure::AcceptorWindowBytes, LARGE_WINDOW),
            initiators_below_8k: below(Measure::InitiatorWindowBytes, SMALL_WINDOW),
            acceptors_below_8k: below(Measure::AcceptorWindowBytes, SMALL_WINDOW),
        }
    }

    /// Connections, octets and segments.
    fn count(&mut self, vector: &Vector) {
        let bytes = Side::BOTH.map(|side| vector.body.bytes(side));
        let both = bytes[0].saturating_add(bytes[1]);
        let counts = |one: u64| Amounts {
            all: one,
            sequential: if vector.body.is_sequential() { one } else { 0 },
            concurrent: if vector.body.is_sequential() { 0 } else { one },
            one_way: if bytes.contains(&0) { one } else { 0 },
            unfinished: if vector.body.is_unfinished() { one } else { 0 },
        };
        self.connections.add(&counts(1));
        self.bytes.add(&counts(both));
        add(&mut self.bytes_each_way, bytes);
        add(&mut self.segments_each_way, segments(vector));
        self.record(Measure::ConnectionBytes, [both]);
        self.record(Measure::InitiatorBytes, [bytes[0]]);
        self.record(Measure::AcceptorBytes, [bytes[1]]);
        self.times(Measure::WaitingMs, [waiting(&vector.body)]);
    }

    fn network(&mut self, vector: &Vector) {
        let windows = [Measure::InitiatorWindowBytes, Measure::AcceptorWindowBytes];
        let losses = [Measure::InitiatorLoss, Measure::AcceptorLoss];
        self.times(Measure::MinRttMs, vector.min_rtt);
        for (measure, window) in windows.into_iter().zip(vector.windows) {
            self.record(measure, (window > 0).then_some(u64::from(window)));
        }
        for (measure, loss) in losses.into_iter().zip(vector.loss) {
            self.record(measure, [u64::from(loss.millionths())]);
        }
    }

    fn epochs(&mut self, body: &Body) {
        let mut epochs = 0;
        for epoch in body.epochs() {
            epochs += 1;
            let spoken = |bytes: u64| (bytes > 0).then_some(bytes);
            self.record(Measure::RequestBytes, spoken(epoch.a));
            self.record(Measure::ResponseBytes, spoken(epoch.b));
            let answered = epoch.a > 0 && epoch.b > 0;
            self.times(Measure::IntraEpochMs, answered.then_some(epoch.ta));
            self.times(Measure::InterEpochMs, epoch.tb);
        }
        self.record(Measure::Epochs, [epochs]);
    }

    fn concurrent(&mut self, turns: &[Turn]) {
        let adus = u64::try_from(turns.len()).unwrap_or(u64::MAX);
        self.record(Measure::ConcurrentAdus, [adus]);
        let bytes = turns.iter().map(|turn| turn.bytes);
        self.record(Measure::ConcurrentAduBytes, bytes);
        for side in Side::BOTH {
            self.times(Measure::ConcurrentQuietMs, later_waits(turns, side));
        }
    }

    fn record(&mut self, measure: Measure, values: impl IntoIterator<Item = u64>) {
        self.sketches[measure as usize].extend(values);
    }

    fn times(&mut self, measure: Measure, times: impl IntoIterator<Item = Duration>) {
        let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        self.record(measure, times.into_iter().map(micros));
    }
}

impl Amounts {
    fn add(&mut self, more: &Self) {
        let pairs = [
            (&mut self.all, more.all),
            (&mut self.sequential, more.sequential),
            (&mut self.concurrent, more.concurrent),
            (&mut self.one_way, more.one_way),
            (&mut self.unfinished, more.unfinished),
        ];
        for (sum, more) in pairs {
            *sum = sum.saturating_add(more);
        }
    }
}

fn add(sums: &mut [u64; 2], more: [u64; 2]) {
    for (sum, more) in sums.iter_mut().zip(more) {
        *sum = sum.saturating_add(more);
    }
}

/// The waits of one end of a concurrent connection but its first.
fn later_waits(turns: &[Turn], side: Side) -> impl Iterator<Item = Duration> + '_ {
    let of_side = turns.iter().filter(move |turn| turn.side == side);
    of_side.skip(1).map(|turn| turn.wait)
}

fn waiting(body: &Body) -> Duration {
    let sum = |sum: Duration, wait: Duration| sum.saturating_add(wait);
    match body {
        Body::Sequential { turns, .. } => {
            let waits = turns.iter().skip(1).map(|turn| turn.wait);
            waits.fold(Duration::ZERO, sum)
        }
        Body::Concurrent { turns, .. } => {
            let ends = Side::BOTH.map(|side| later_waits(turns, side).fold(Duration::ZERO, sum));
            ends[0].max(ends[1])
        }
    }
}

fn segments(vector: &Vector) -> [u64; 2] {
    let sizes = vector.mss.unwrap_or([SEGMENT; 2]);
    let mut segments = [0_u64; 2];
    for turn in vector.body.turns() {
        let place = turn.side.index();
        let size = match sizes[place] {
            0 => SEGMENT,
            size => size,
        };
        let of_turn = turn.bytes.div_ceil(u64::from(size));
        segments[place] = segments[place].saturating_add(of_turn);
    }
    segments
}
