//! All connections of a capture.

use super::books::{Books, Count};
use super::connection::{Connection, Fate};
use super::finish::{End, Extracted};
use super::graves::Graves;
use super::key::Key;
use super::table::Table;
use super::{Options, nanos};
use capture::dissect::{Flags, Segment};
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

/// Finds the connections in a capture: see the [module](super).
///
/// - In: [`Extractor::handle_segment`] or [`Extractor::handle_segments`], and [`Extractor::finish`] after the last.
/// - Out: [`Extractor::poll`], after each of these until it has nothing more.
/// - Asking: [`Extractor::books`], [`Extractor::open`].
///
/// Times are those of the capture; they may go back.
#[derive(Debug)]
pub struct Extractor {
    options: Options,
    table: Table,
    graves: Graves,
    ended: VecDeque<Extracted>,
    books: Books,
    /// The first segment of all.
    origin_ns: Option<u64>,
    /// When silent connections were looked for, and segments since then.
    swept_ns: u64,
    since_sweep: usize,
    most_open: usize,
    /// Connections that end with the capture, the first last.
    left: Vec<u32>,
}

impl Extractor {
    /// Nothing seen yet.
    pub fn new(options: Options) -> Self {
        Self {
            options,
            table: Table::new(options.seed),
            graves: Graves::new(),
            ended: VecDeque::new(),
            books: Books::default(),
            origin_ns: None,
            swept_ns: 0,
            since_sweep: 0,
            most_open: 0,
            left: Vec::new(),
        }
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
                self.table.touch(number);
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

    /// The capture ends, and all that is open with it, one by one as it is polled. There must be no segments after that.
    pub fn finish(&mut self) {
        self.left = self.table.numbers(|_| true);
        self.left.reverse();
    }

    /// The next connection that has ended and has a vector.
    pub fn poll(&mut self) -> Option<Extracted> {
        while self.ended.is_empty() {
            let number = self.left.pop()?;
            self.end(number, End::Capture);
        }
        self.ended.pop_front()
    }

    /// What was seen, of connections that have ended.
    pub const fn books(&self) -> &Books {
        &self.books
    }

    /// Connections that are open, and the most that ever were.
    pub fn open(&self) -> (usize, usize) {
        (self.table.len(), self.most_open)
    }

    /// Where a segment belongs; its connection is not looked up yet.
    #[inline]
    fn place(&self, segment: &Segment) -> Place {
        let (key, side) = Key::of(segment);
        let hash = self.table.hash(&key);
        Place {
            key,
            side,
            hash,
            number: None,
        }
    }

    fn handle(&mut self, mut place: Place, segment: &Segment) {
        if self.origin_ns.is_none() {
            self.origin_ns = Some(segment.at_ns);
            self.swept_ns = segment.at_ns;
        }
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
                self.graves.bury(place.hash, segment.at_ns);
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
            None if segment.flags.has(Flags::SYN) => self.graves.open(place.hash),
            None if self.graves.has(place.hash, segment.at_ns) => {
                let one = alone(segment);
                self.books.late += one;
                self.books.all += one;
                return None;
            }
            None => {}
        }
        if self.table.len() >= self.options.most_open {
            let one = alone(segment);
            self.books.refused += one;
            self.books.all += one;
            return None;
        }
        let connection = Connection::new(place.side, segment);
        let number = self.table.insert(place.hash, place.key, connection);
        self.most_open = self.most_open.max(self.table.len());
        Some(number)
    }

    /// Ends silent connections, now and then: when time has passed, and at least one segment for each connection that is to
    /// be looked at, so that no clock makes it expensive.
    fn sweep(&mut self, at_ns: u64) {
        self.since_sweep += 1;
        if self.since_sweep <= self.table.len() {
            return;
        }
        let interval = nanos(self.options.transitory.min(self.options.idle)) / 4;
        if at_ns.abs_diff(self.swept_ns) < interval {
            return;
        }
        self.since_sweep = 0;
        self.swept_ns = at_ns;
        let options = self.options;
        let silent = self.table.numbers(|connection| {
            at_ns.saturating_sub(connection.last_ns) > connection.patience_ns(&options)
        });
        for number in silent {
            self.end(number, End::Silence);
        }
    }

    fn end(&mut self, number: u32, end: End) {
        let slot = self.table.remove(number);
        let origin_ns = self.origin_ns.unwrap_or_default();
        let ended = slot
            .connection
            .finish(&slot.key, end, origin_ns, &mut self.books);
        self.ended.extend(ended);
    }
}

/// A packet of no connection.
fn alone(segment: &Segment) -> Count {
    Count {
        connections: 0,
        packets: 1,
        bytes: segment.packet_len.into(),
    }
}
