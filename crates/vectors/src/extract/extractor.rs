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

/// Finds the connections in a capture: see the [module](super).
///
/// - In: [`Extractor::handle_segment`], and [`Extractor::finish`] after the last.
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

    /// Takes the next segment.
    pub fn handle_segment(&mut self, segment: &Segment) {
        if self.origin_ns.is_none() {
            self.origin_ns = Some(segment.at_ns);
            self.swept_ns = segment.at_ns;
        }
        self.sweep(segment.at_ns);
        let (key, place) = Key::of(segment);
        let hash = self.table.hash(&key);
        let Some(number) = self.place_for(hash, key, place, segment) else {
            return;
        };
        let connection = &mut self.table.slot_mut(number).connection;
        match connection.handle(place, segment, &self.options) {
            Fate::Open => {}
            Fate::Closed => {
                self.graves.bury(hash, segment.at_ns);
                self.end(number, End::Closed);
            }
            Fate::Full => self.end(number, End::Full),
        }
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

    /// The number of the connection that a segment belongs to, which it may begin.
    fn place_for(&mut self, hash: u64, key: Key, place: usize, segment: &Segment) -> Option<u32> {
        match self.table.find(hash, &key) {
            Some(number) if self.table.slot(number).connection.is_other(place, segment) => {
                self.end(number, End::Reused);
            }
            Some(number) => return Some(number),
            None if segment.flags.has(Flags::SYN) => self.graves.open(hash),
            None if self.graves.has(hash, segment.at_ns) => {
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
        let number = self
            .table
            .insert(hash, key, Connection::new(place, segment));
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
