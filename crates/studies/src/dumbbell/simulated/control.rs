//! The managers' control connection: what they tell each other by it takes its octets and its time on the way.
//!
//! A simulated connection carries numbers of octets and no contents, so lines are handed over beside it ([`Wire`]), and are read when their last octet has come.

use mgrp::transaction::Arrival;
use sim::tcp::{Key, Stack};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use units::FlowId;

/// The flow of the near manager's end; the other one's is the next.
pub const CONTROL: FlowId = FlowId(0);
/// What TLS 1.3 adds to a line of one record: header, type and tag (RFC 8446 section 5.2).
const RECORD: u64 = 5 + 1 + 16;

/// What one manager says to the other.
#[derive(Clone, Debug)]
pub(super) enum Line {
    /// A word of so many octets came.
    Long(u16),
    /// These probes of yours came.
    Told(Vec<Arrival>),
}

/// Lines that are under way, each with the number of octets said up to its end.
pub(super) type Wire = Rc<RefCell<VecDeque<(u64, Line)>>>;

/// One end.
#[derive(Debug)]
pub(super) struct Control {
    pub(super) key: Option<Key>,
    /// Lines that leave, and those that come.
    wires: [Wire; 2],
    /// Octets said, those of them that the connection has taken, and octets heard.
    said: u64,
    taken: u64,
    heard: u64,
}

impl Control {
    /// Both ends, not connected yet.
    pub(super) fn pair() -> [Self; 2] {
        let [there, back] = [Wire::default(), Wire::default()];
        let end = |wires| Self {
            key: None,
            wires,
            said: 0,
            taken: 0,
            heard: 0,
        };
        [
            end([Rc::clone(&there), Rc::clone(&back)]),
            end([back, there]),
        ]
    }

    /// Says a line of so many octets of JSON.
    pub(super) fn say(&mut self, line: Line, octets: usize, stack: &mut Stack) {
        // The line's end is an octet, too.
        self.said += octets as u64 + 1 + RECORD;
        self.wires[0].borrow_mut().push_back((self.said, line));
        self.write(stack);
    }

    /// Gives the connection what it has room for.
    pub(super) fn write(&mut self, stack: &mut Stack) {
        if let Some(key) = self.key.filter(|_| self.taken < self.said) {
            self.taken += stack.write(key, self.said - self.taken);
        }
    }

    /// The lines that have come since the last call.
    pub(super) fn hear(&mut self, stack: &mut Stack) -> Vec<Line> {
        let heard = self.key.map_or(0, |key| stack.take_heard(key));
        self.heard += heard;
        let mut wire = self.wires[1].borrow_mut();
        let whole = wire.partition_point(|(end, _)| *end <= self.heard);
        wire.drain(..whole).map(|(_, line)| line).collect()
    }
}
