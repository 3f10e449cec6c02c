//! All connections of a capture.

use super::closed::Closed;
use super::connection::{Connection, Fate};
use super::counters::{Count, Counters};
use super::finish::{End, Extracted};
use super::key::Key;
use super::sweep::Sweep;
use super::table::Table;
use super::udp::Flows;
use super::{Options, nanos};
use capture::dissect::{Datagram, Flags, Segment};
use std::collections::VecDeque;

/// Segments that are looked up together.
const GROUP: usize = 16;

/// Where a segment belongs.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    key: Key,
    /// The place of its sender in the key.
    side: usize,
    hash: u64,
    /// Its connection, if there was one.
    number: Option<u32>,
}

/// What has ended.
#[derive(Debug)]
pub(super) struct Ended {
    /// When the trace began.
    pub(super) origin_ns: Option<u64>,
    pub(super) quiet_ns: u64,
    pub(super) counters: Counters,
    pub(super) queue: VecDeque<Extracted>,
}

/// Finds the connections in a capture: see the [module](super).
///
/// - In: [`Extractor::handle_segment`] or [`Extractor::handle_segments`], [`Extractor::handle_datagram`], and
///   [`Extractor::finish`] after the last.
/// - Out: [`Extractor::poll`], after each of these until it has nothing more.
/// - Asking: [`Extractor::counters`], [`Extractor::most_open`].
///
/// Times are those of the capture; they may go back.
#[derive(Debug)]
pub struct Extractor {
    options: Options,
    table: Table<Connection>,
    closed: Closed,
    flows: Flows,
    ended: Ended,
    sweep: Sweep,
    most_open: usize,
    /// Connections and flows that end with the capture, the first last.
    left: Vec<u32>,
    left_flows: Vec<u32>,
}

impl Extractor {
    /// Nothing seen yet.
    pub fn new(options: Options) -> Self {
        Self {
            options,
            table: Table::new(options.seed),
            closed: Closed::new(),
            flows: Flows::new(&options),
            ended: Ended {
                origin_ns: None,
                quiet_ns: nanos(options.quiet),
                counters: Counters::default(),
                queue: VecDeque::new(),
            },
            sweep: Sweep::default(),
            most_open: 0,
            left: Vec::new(),
            left_flows: Vec::new(),
        }
    }

    /// The trace begins: to be said when its first packet is not this extractor's. Only the first time counts.
    pub fn begin(&mut self, at_ns: u64) {
        self.ended.origin_ns.get_or_insert(at_ns);
    }

    /// Takes the next segments: the same as one by one, and faster where many connections are open.
    ///
    /// A connection that has not spoken for a while is not in the processor's cache, and waiting for memory is most of what
    /// its segment costs. Here the connections of some segments are looked up first, none waiting for another.
    pub fn handle_segments(&mut self, segments: &[Segment]) {
        for group in segments.chunks(GROUP) {
            let mut places = [Place::default(); GROUP];
            for (place, segment) in places.iter_mut().zip(group) {
                *place = self.place(segment);
                self.table.touch_index(place.hash);
            }
            for place in &mut places[..group.len()] {
                place.number = self.table.find(place.hash, &place.key);
            }
            for number in places.iter().filter_map(|place| place.number) {
                self.table.touch(number, Connection::near);
            }
            for (place, segment) in places.into_iter().zip(group) {
                self.handle(place, segment);
            }
        }
    }

    /// Takes the next segment.
    pub fn handle_segment(&mut self, segment: &Segment) {
        let place = self.place(segment);
        self.handle(place, segment);
    }

    /// Takes the next datagram of UDP.
    pub fn handle_datagram(&mut self, datagram: &Datagram) {
        self.ended.origin_ns.get_or_insert(datagram.at_ns);
        self.flows.handle(datagram, &self.options, &mut self.ended);
    }

    /// The capture ends, and all that is open with it, one by one as it is polled, connections before flows. There must be
    /// no packets after that.
    pub fn finish(&mut self) {
        self.left = self.table.numbers(|_| true);
        self.left.reverse();
        self.left_flows = self.flows.numbers();
        self.left_flows.reverse();
    }

    /// The next connection or flow that has ended and has a vector.
    pub fn poll(&mut self) -> Option<Extracted> {
        while self.ended.queue.is_empty() {
            if let Some(number) = self.left.pop() {
                self.end(number, End::Capture);
            } else {
                let number = self.left_flows.pop()?;
                self.flows.end(number, End::Capture, &mut self.ended);
            }
        }
        self.ended.queue.pop_front()
    }

    /// What was seen, of connections and flows that have ended.
    pub const fn counters(&self) -> &Counters {
        &self.ended.counters
    }

    /// The most connections and flows that were open at once since this was last asked.
    pub fn most_open(&mut self) -> [usize; 2] {
        let connections = core::mem::replace(&mut self.most_open, self.table.len());
        [connections, self.flows.most_open()]
    }

    /// Where a segment belongs; its connection is not looked up yet.
    #[inline]
    fn place(&self, segment: &Segment) -> Place {
        let (key, side) = Key::of(segment.from, segment.to);
        let hash = self.table.hash(&key);
        Place {
            key,
            side,
            hash,
            number: None,
        }
    }

    fn handle(&mut self, mut place: Place, segment: &Segment) {
        self.ended.origin_ns.get_or_insert(segment.at_ns);
        self.sweep(segment.at_ns);
        // It may have ended since it was looked up, or begun.
        if !place
            .number
            .is_some_and(|number| self.table.is(number, &place.key))
        {
            place.number = self.table.find(place.hash, &place.key);
        }
        let Some(number) = self.connection(&place, segment) else {
            return;
        };
        let connection = &mut self.table.slot_mut(number).connection;
        match connection.handle(place.side, segment, &self.options) {
            Fate::Open => {}
            Fate::Closed => {
                self.closed.insert(place.hash, segment.at_ns);
                self.end(number, End::Closed);
            }
            Fate::Full => self.end(number, End::Full),
        }
    }

    /// The number of the connection that a segment belongs to, which it may begin.
    fn connection(&mut self, place: &Place, segment: &Segment) -> Option<u32> {
        match place.number {
            Some(number)
                if self
                    .table
                    .slot(number)
                    .connection
                    .is_other(place.side, segment) =>
            {
                self.end(number, End::Reused);
            }
            Some(number) => return Some(number),
            None if segment.flags.has(Flags::SYN) => self.closed.open(place.hash),
            None if self.closed.has(place.hash, segment.at_ns) => {
                let one = Count::packet(segment.packet_len);
                self.ended.counters.late += one;
                self.ended.counters.all += one;
                return None;
            }
            None => {}
        }
        if self.table.len() >= self.options.most_open {
            let one = Count::packet(segment.packet_len);
            self.ended.counters.refused += one;
            self.ended.counters.all += one;
            return None;
        }
        let number = self.table.insert(place.hash, place.key);
        let connection = &mut self.table.slot_mut(number).connection;
        connection.begin(place.side, segment);
        self.most_open = self.most_open.max(self.table.len());
        Some(number)
    }

    /// Ends silent connections, now and then.
    fn sweep(&mut self, at_ns: u64) {
        let options = self.options;
        let patience_ns = nanos(options.transitory.min(options.idle));
        if !self.sweep.is_due(at_ns, self.table.len(), patience_ns) {
            return;
        }
        let silent = self.table.numbers(|connection| {
            at_ns.saturating_sub(connection.last_ns) > connection.patience_ns(&options)
        });
        for number in silent {
            self.end(number, End::Silence);
        }
    }

    fn end(&mut self, number: u32, end: End) {
        let origin_ns = self.ended.origin_ns.unwrap_or_default();
        let counters = &mut self.ended.counters;
        let vector = self.table.remove(number, |key, connection| {
            connection.finish(key, end, origin_ns, counters)
        });
        self.ended.queue.extend(vector);
    }
}
