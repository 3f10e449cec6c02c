//! The counters of the bottleneck: what it carried of whom, and what became of every probe.
//!
//! # Calling order
//!
//! [`Ledger::entered`] for each packet that came to the bottleneck's queue, then [`Ledger::left`] for each that left it, in batches and in
//! this order; [`Ledger::cross`] as the link's own traffic grows; [`Ledger::settle`] when nothing before a moment is missing any more,
//! after which [`Ledger::take`] has the rows up to there.

use super::decode::Seen;
use super::tables::{KINDS, LossRow, TenthRow, ThroughputRow};
use mgrp::transaction::Outcome;
use probe::train::Train;
use schema::estimate::tables::TrainRow;
use std::collections::BTreeMap;

/// Nanoseconds of a second, by which is booked.
pub(super) const SECOND: u64 = 1_000_000_000;
/// Parts of a train in which losses are counted.
const PARTS: usize = 10;

/// Packets and octets of each kind, in the order of [`KINDS`].
type Shares = [(u64, u64); KINDS.len()];

const SOURCE: usize = 0;
const RIDER: usize = 1;
const PROBE: usize = 2;
const CROSS: usize = 3;
const OTHER: usize = 4;

/// Probes of one tenth of their trains.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Part {
    /// Probes with something of the application's that came to the bottleneck.
    carrying: u64,
    /// Of these, lost there.
    carrying_lost: u64,
    /// Probes with nothing but padding.
    empty: u64,
    /// Of these, lost.
    empty_lost: u64,
}

/// A probe that has come to the queue and has not been seen behind it.
#[derive(Clone, Copy)]
struct Waiting {
    at_ns: u64,
    carried: bool,
}

/// A train, as far as is known.
#[derive(Default)]
struct TrainBook {
    row: TrainRow,
    seen: bool,
    /// Whether the tool lets it carry.
    may_carry: bool,
    told: bool,
}

/// See the [module](self).
#[derive(Default)]
pub(super) struct Ledger {
    seconds: BTreeMap<u64, Shares>,
    waiting: BTreeMap<(u32, u32), Waiting>,
    trains: BTreeMap<u32, TrainBook>,
    losses: Vec<LossRow>,
    /// Of trains that may carry.
    parts: [Part; PARTS],
    /// Probes that left without having come, as far as was captured.
    pub(super) unmatched: u64,
    /// Probes that carried, and all probes, behind the bottleneck.
    pub(super) carried: u64,
    pub(super) probes: u64,
    /// Octets of packets that left.
    pub(super) octets: u64,
    /// Before this moment all is known.
    settled_ns: u64,
}

impl Ledger {
    /// A tool has handed over a train.
    pub(super) fn offered(&mut self, number: u32, train: &Train) {
        let book = self.trains.entry(number).or_default();
        book.may_carry = train.probes.iter().any(|probe| probe.may_carry);
        book.row.train = number;
        book.row.probes = u32::try_from(train.probes.len()).unwrap_or(u32::MAX);
        book.row.bytes = train.octets();
        book.row.planned_ns = nanos(train.duration());
    }

    /// The manager has told how it left.
    pub(super) fn told(&mut self, number: u32, outcome: &Outcome) {
        let Some(book) = self.trains.get_mut(&number) else {
            return;
        };
        book.told = true;
        book.row.probes = u32::try_from(outcome.gaps.len()).unwrap_or(u32::MAX);
        book.row.lasted_ns = nanos(outcome.transmission);
        book.row.worst_gap_error_ns = nanos(outcome.worst_error());
    }

    /// A packet has come to the bottleneck's queue.
    pub(super) fn entered(&mut self, at_ns: u64, seen: Seen) {
        let Seen::Probe {
            train,
            place,
            rider,
        } = seen
        else {
            return;
        };
        let carried = rider.is_some();
        self.waiting
            .insert((train, place), Waiting { at_ns, carried });
        if let Some(book) = self.trains.get_mut(&train) {
            if !book.seen {
                book.seen = true;
                book.row.t_ns = at_ns;
            }
            if let Some(part) = part(&mut self.parts, book, place) {
                part.carrying += u64::from(carried);
                part.empty += u64::from(!carried);
            }
        }
    }

    /// A packet of `length` octets has left it.
    pub(super) fn left(&mut self, at_ns: u64, length: u32, seen: Seen) {
        let length = u64::from(length);
        self.octets += length;
        let shares = self.seconds.entry(at_ns / SECOND).or_default();
        let mut book = |kind: usize, octets: u64| {
            shares[kind].0 += 1;
            shares[kind].1 += octets;
        };
        match seen {
            Seen::Source => book(SOURCE, length),
            Seen::Cross => book(CROSS, length),
            Seen::Other => book(OTHER, length),
            Seen::Probe {
                train,
                place,
                rider,
            } => {
                let riding = rider.map_or(0, u64::from);
                if rider.is_some() {
                    book(RIDER, riding);
                }
                book(PROBE, length.saturating_sub(riding));
                self.arrived(train, place, rider.is_some());
            }
        }
    }

    fn arrived(&mut self, train: u32, place: u32, carried: bool) {
        self.probes += 1;
        self.carried += u64::from(carried);
        self.unmatched += u64::from(self.waiting.remove(&(train, place)).is_none());
        if let Some(book) = self.trains.get_mut(&train) {
            book.row.arrived += 1;
        }
    }

    /// So much more of the link's own traffic has left it.
    pub(super) fn cross(&mut self, at_ns: u64, packets: u64, octets: u64) {
        let shares = self.seconds.entry(at_ns / SECOND).or_default();
        shares[CROSS].0 += packets;
        shares[CROSS].1 += octets;
    }

    /// Nothing of before `until_ns` is still under way: probes of then that have not left are lost.
    pub(super) fn settle(&mut self, until_ns: u64) {
        self.settled_ns = until_ns;
        let lost = self
            .waiting
            .iter()
            .filter(|(_, probe)| probe.at_ns < until_ns);
        let mut lost: Vec<_> = lost.map(|(key, probe)| (*key, *probe)).collect();
        lost.sort_unstable_by_key(|(_, probe)| probe.at_ns);
        for ((train, place), probe) in lost {
            self.waiting.remove(&(train, place));
            let book = self.trains.get(&train);
            if let Some(part) = book.and_then(|book| part(&mut self.parts, book, place)) {
                part.carrying_lost += u64::from(probe.carried);
                part.empty_lost += u64::from(!probe.carried);
            }
            self.losses.push(LossRow {
                t_ns: probe.at_ns,
                train,
                probe: place,
                probes: book.map_or(0, |book| book.row.probes),
                carried: probe.carried,
            });
        }
    }

    /// The tenths of all trains that may carry.
    pub(super) fn tenths(&self) -> Vec<TenthRow> {
        let rows = (0..).zip(&self.parts).flat_map(|(tenth, part)| {
            let row = |carried, sent, lost| TenthRow {
                tenth,
                carried,
                sent,
                lost,
            };
            [
                row(true, part.carrying, part.carrying_lost),
                row(false, part.empty, part.empty_lost),
            ]
        });
        rows.collect()
    }

    /// The rows that can no longer change: of whole seconds, of trains, of probes.
    pub(super) fn take(&mut self) -> (Vec<ThroughputRow>, Vec<TrainRow>, Vec<LossRow>) {
        let open = self.seconds.split_off(&(self.settled_ns / SECOND));
        let done = std::mem::replace(&mut self.seconds, open);
        let rows = done.into_iter().flat_map(|(second, shares)| {
            let kinds = KINDS.into_iter().zip(shares);
            kinds.map(move |(kind, (packets, bytes))| ThroughputRow {
                t_ns: second * SECOND,
                kind: kind.into(),
                packets,
                bytes,
            })
        });
        let settled = self.settled_ns;
        let over = |book: &TrainBook| {
            book.told && book.seen && book.row.t_ns.saturating_add(book.row.lasted_ns) < settled
        };
        let numbers: Vec<u32> = self
            .trains
            .iter()
            .filter(|(_, book)| over(book))
            .map(|(number, _)| *number)
            .collect();
        let trains = numbers
            .iter()
            .filter_map(|number| Some(self.trains.remove(number)?.row));
        let trains = trains.collect();
        (rows.collect(), trains, std::mem::take(&mut self.losses))
    }
}

/// The tenth of its train that a probe is in; only of trains that may carry.
fn part<'a>(parts: &'a mut [Part; PARTS], book: &TrainBook, place: u32) -> Option<&'a mut Part> {
    let count = u64::from(book.row.probes);
    let index = (u64::from(place) * PARTS as u64).checked_div(count)?;
    parts
        .get_mut(usize::try_from(index).ok()?)
        .filter(|_| book.may_carry)
}

fn nanos(span: std::time::Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::super::decode::tests::{ENDS, probe, source};
    use super::*;
    use std::time::Duration;

    fn told(count: usize) -> Outcome {
        Outcome {
            gaps: vec![mgrp::transaction::Gap::default(); count],
            ..Outcome::default()
        }
    }

    /// Holds manager/measures.
    #[test]
    fn every_octet_is_booked_once_and_a_rider_apart_from_its_probe() {
        let mut ledger = Ledger::default();
        ledger.offered(1, &Train::periodic(2, 300, Duration::from_millis(1)));
        for (at, packet) in [
            (5, probe(1, 0, 300, 100)),
            (6, probe(1, 1, 300, 0)),
            (7, source(1_500)),
        ] {
            ledger.entered(at, ENDS.look(&packet));
            let length = u32::try_from(packet.len()).unwrap();
            ledger.left(at + 1, length, ENDS.look(&packet));
        }
        ledger.cross(9, 2, 3_000);
        ledger.told(1, &told(2));
        ledger.settle(2 * SECOND);
        let (rows, trains, losses) = ledger.take();
        let of = |kind: &str| {
            rows.iter()
                .find(|row| row.kind == kind)
                .map(|row| (row.packets, row.bytes))
        };
        assert_eq!(of("source"), Some((1, 1_500)));
        assert_eq!(of("rider"), Some((1, 100)));
        assert_eq!(of("probe"), Some((2, 500)));
        assert_eq!(of("cross"), Some((2, 3_000)));
        let all: u64 = rows.iter().map(|row| row.bytes).sum();
        assert_eq!(all, ledger.octets + 3_000);
        assert_eq!((trains.len(), trains[0].arrived, trains[0].t_ns), (1, 2, 5));
        assert!(losses.is_empty() && ledger.unmatched == 0);
        assert!(ledger.take().0.is_empty(), "each row once");
    }

    /// Holds manager/losses.
    #[test]
    fn a_probe_that_came_and_did_not_leave_is_lost_in_its_tenth() {
        let mut ledger = Ledger::default();
        let mut opening = Train::periodic(20, 300, Duration::ZERO);
        opening
            .probes
            .iter_mut()
            .for_each(|probe| probe.may_carry = false);
        ledger.offered(1, &opening);
        ledger.offered(2, &Train::periodic(20, 300, Duration::ZERO));
        for (train, place, rider) in [(1, 19, 0), (2, 0, 100), (2, 18, 0), (2, 19, 100)] {
            let packet = probe(train, place, 300, rider);
            ledger.entered(u64::from(train * 100 + place), ENDS.look(&packet));
            if place == 0 {
                ledger.left(300, 300, ENDS.look(&packet));
            }
        }
        ledger.settle(200);
        let (_, _, losses) = ledger.take();
        assert_eq!(losses.len(), 1, "later ones may still come");
        ledger.settle(SECOND);
        let (_, _, losses) = ledger.take();
        let lost: Vec<_> = losses
            .iter()
            .map(|row| (row.train, row.probe, row.probes, row.carried))
            .collect();
        assert_eq!(lost, [(2, 18, 20, false), (2, 19, 20, true)]);
        assert_eq!(
            ledger.parts[0],
            Part {
                carrying: 1,
                ..Part::default()
            }
        );
        let tail = Part {
            carrying: 1,
            carrying_lost: 1,
            empty: 1,
            empty_lost: 1,
        };
        assert_eq!(
            ledger.parts[9], tail,
            "trains that may not carry are not in it"
        );
    }

    #[test]
    fn only_seconds_that_are_over_have_rows() {
        let mut ledger = Ledger::default();
        for second in 0..3 {
            ledger.left(second * SECOND, 100, ENDS.look(&source(100)));
        }
        ledger.settle(2 * SECOND + 1);
        let seconds: Vec<_> = ledger
            .take()
            .0
            .iter()
            .step_by(KINDS.len())
            .map(|row| row.t_ns / SECOND)
            .collect();
        assert_eq!(seconds, [0, 1]);
    }
}
