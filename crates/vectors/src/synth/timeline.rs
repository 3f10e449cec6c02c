//! When a connection says what, and what of it falls into a window of time.
//!
//! A capture has a beginning and an end, and connections that are under way then are cut there: what was said before is not
//! in it, and what is said after is not either. [`cut`] does the same to a vector, so the vector must say when its ADUs pass.
//! It tells the waits; how long an ADU takes is the network's, and is assumed here:
//!
//! - a window's worth of an ADU passes at once, and the rest as fast as the receiver's window and the round trip allow, a
//!   window each round trip. There is no slow start and no loss, so this is the least time that it can take.
//! - An ADU of no more than a window takes no time, nor does any where window or round trip is unknown.
//! - The time from a request to its response is the wait between them, in which the extraction has the round trip.
//!
//! The rest is as `trace extract` does it: a cut connection starts with its first octet within the window, of an ADU under
//! way at the cut only the octets within the window remain, a wait that spans the cut is not known, and neither is a close
//! after the window. A connection keeps its kind, also a concurrent one of which only one end speaks within the window (which a
//! capture would take for sequential).

use crate::{Body, Side, Turn, Vector};
use core::time::Duration;

/// All ADUs of a vector with their times, from the beginning of the connection.
pub(super) struct Timeline<'a> {
    vector: &'a Vector,
    /// Of a sequential connection all in the first list, of a concurrent one a list for each end.
    lanes: [Vec<Adu>; 2],
}

/// An ADU that passes.
#[derive(Clone, Copy)]
struct Adu {
    turn: Turn,
    begin: Duration,
    end: Duration,
    /// Octets that pass at once, and the time in which as many pass again.
    window: u64,
    rtt: Duration,
}

/// What of an ADU falls into a window of time.
#[derive(Clone, Copy)]
struct Piece {
    turn: Turn,
    begin: Duration,
    end: Duration,
    /// Whether its last octet is in it.
    ends: bool,
}

impl<'a> Timeline<'a> {
    pub(super) fn of(vector: &'a Vector) -> Self {
        let mut lanes = [Vec::new(), Vec::new()];
        let mut clocks = [Duration::ZERO; 2];
        for turn in vector.body.turns() {
            let lane = lane(&vector.body, turn.side);
            let adu = Adu::new(vector, *turn, clocks[lane].saturating_add(turn.wait));
            clocks[lane] = adu.end;
            lanes[lane].push(adu);
        }
        Self { vector, lanes }
    }

    /// When all is said.
    pub(super) fn end(&self) -> Duration {
        let ends = self.lanes.iter().filter_map(|lane| lane.last());
        ends.map(|adu| adu.end).max().unwrap_or_default()
    }

    /// When the first octet within a window passes.
    pub(super) fn first(&self, from: Duration, to: Duration) -> Option<Duration> {
        let firsts = [0, 1].map(|lane| self.pieces(lane, from, to).next());
        firsts.into_iter().flatten().map(|piece| piece.begin).min()
    }

    /// What falls into the window of one list.
    fn pieces(
        &self,
        lane: usize,
        from: Duration,
        to: Duration,
    ) -> impl Iterator<Item = Piece> + '_ {
        let lane = &self.lanes[lane];
        let before = lane.partition_point(|adu| adu.begin < from && adu.end <= from);
        let rest = lane[before..].iter();
        let within = rest.take_while(move |adu| adu.begin < to);
        within.filter_map(move |adu| adu.piece(from, to))
    }
}

/// What is said from `from` to `to`, both from the beginning of the connection; nothing if that is nothing. A connection that
/// is cut at its beginning starts, from the beginning of the window, when its first octet within passes; else its start stays.
pub(super) fn cut(vector: &Vector, from: Duration, to: Duration) -> Option<Vector> {
    let timeline = Timeline::of(vector);
    let first = timeline.first(from, to)?;
    let origin = if from.is_zero() {
        Duration::ZERO
    } else {
        first
    };
    let start = if from.is_zero() {
        vector.start
    } else {
        first.saturating_sub(from)
    };
    let body = timeline.body(from, to, origin);
    Some(Vector {
        start,
        body,
        ..*vector
    })
}

impl Timeline<'_> {
    fn body(&self, from: Duration, to: Duration, origin: Duration) -> Body {
        let (tail, tails) = match self.vector.body {
            Body::Sequential { tail, .. } => (tail, [None; 2]),
            Body::Concurrent { tails, .. } => (None, tails),
        };
        let mut lists = [Vec::new(), Vec::new()];
        let mut closes = [None; 2];
        for (lane, list) in lists.iter_mut().enumerate() {
            let mut before = origin;
            let mut last = None;
            for piece in self.pieces(lane, from, to) {
                let wait = piece.begin.saturating_sub(before);
                list.push((piece.begin, Turn { wait, ..piece.turn }));
                before = piece.end;
                last = Some(piece);
            }
            let tail = tail.or(tails[lane]);
            closes[lane] = tail.filter(|&tail| self.closes(lane, last, tail, to));
        }
        let [mut all, other] = lists;
        all.extend(other);
        all.sort_by_key(|&(begin, _)| begin);
        let turns = all.into_iter().map(|(_, turn)| turn).collect();
        match self.vector.body {
            Body::Sequential { .. } => Body::Sequential {
                turns,
                tail: closes[0],
            },
            Body::Concurrent { .. } => Body::Concurrent {
                turns,
                tails: closes,
            },
        }
    }

    /// Whether a list's last word and the close after it are within the window.
    fn closes(&self, lane: usize, last: Option<Piece>, tail: Duration, to: Duration) -> bool {
        let end = self.lanes[lane].last().map(|adu| adu.end);
        last.is_some_and(|last| last.ends && Some(last.end) == end)
            && end.is_some_and(|end| end.saturating_add(tail) <= to)
    }
}

impl Adu {
    fn new(vector: &Vector, turn: Turn, begin: Duration) -> Self {
        let window = u64::from(vector.windows[turn.side.other().index()]);
        let rtt = vector.min_rtt.unwrap_or_default();
        let takes = if window == 0 || turn.bytes <= window {
            Duration::ZERO
        } else {
            let windows = (turn.bytes - window) as f64 / window as f64;
            let takes = Duration::try_from_secs_f64(rtt.as_secs_f64() * windows);
            takes.unwrap_or(Duration::MAX)
        };
        Self {
            turn,
            begin,
            end: begin.saturating_add(takes),
            window,
            rtt,
        }
    }

    /// Octets that have passed before `at`.
    fn passed(&self, at: Duration) -> u64 {
        if at <= self.begin {
            return 0;
        }
        if at >= self.end {
            return self.turn.bytes;
        }
        let round_trips = at.saturating_sub(self.begin).as_secs_f64() / self.rtt.as_secs_f64();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "saturating, and not below zero"
        )]
        let more = (round_trips * self.window as f64) as u64;
        let passed = self.window.saturating_add(more);
        passed.min(self.turn.bytes - 1)
    }

    fn piece(&self, from: Duration, to: Duration) -> Option<Piece> {
        let bytes = self.passed(to) - self.passed(from);
        let turn = Turn { bytes, ..self.turn };
        (bytes > 0).then(|| Piece {
            turn,
            begin: self.begin.max(from),
            end: self.end.min(to),
            ends: self.end <= to,
        })
    }
}

const fn lane(body: &Body, side: Side) -> usize {
    match body {
        Body::Sequential { .. } => 0,
        Body::Concurrent { .. } => side.index(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::samples::{a, any_vector, b, concurrent, ms, sequential, vector};
    use proptest::prelude::*;

    /// Windows of 65,535 and 8,192 octets over 80 ms: a request of 3 x 8,192 octets takes two round trips.
    fn long() -> Vector {
        vector(sequential(
            &[a(24_576, 0), b(100, 40), a(10, 800)],
            Some(Duration::ZERO),
        ))
    }

    #[test]
    fn an_adu_takes_a_round_trip_for_each_window_after_the_first() {
        let vector = long();
        let timeline = Timeline::of(&vector);
        assert_eq!(timeline.end(), ms(160 + 40 + 800));
        assert_eq!(timeline.first(ms(0), ms(1)), Some(ms(0)));
        assert_eq!(timeline.first(ms(100), ms(2_000)), Some(ms(100)));
        assert_eq!(timeline.first(ms(201), ms(2_000)), Some(ms(1_000)));
        assert_eq!(timeline.first(ms(201), ms(1_000)), None);
        assert_eq!(timeline.first(ms(1_001), ms(2_000)), None);
    }

    #[test]
    fn a_window_has_what_is_said_in_it() {
        // After half a round trip one and a half windows have passed; the request ends 120 ms into the window.
        let cut = cut(&long(), ms(40), ms(1_000)).unwrap();
        assert_eq!(cut.start, ms(0));
        let expected = sequential(&[a(12_288, 0), b(100, 40)], None);
        assert_eq!(cut.body, expected);
        // The last request alone, and the close with it.
        let cut = super::cut(&long(), ms(300), ms(1_001)).unwrap();
        assert_eq!(cut.start, ms(700));
        assert_eq!(cut.body, sequential(&[a(10, 0)], Some(ms(0))));
        // A connection that begins in the window keeps its start.
        let cut = super::cut(&long(), ms(0), ms(80)).unwrap();
        assert_eq!(cut.start, ms(7_000));
        assert_eq!(cut.body, sequential(&[a(16_384, 0)], None));
    }

    #[test]
    fn each_end_of_a_concurrent_connection_is_cut_for_itself() {
        let turns = [a(1, 0), b(2, 0), a(3, 500), b(4, 900), b(5, 900)];
        let vector = vector(concurrent(&turns, [Some(ms(0)), Some(ms(0))]));
        let cut = |from, to| cut(&vector, ms(from), ms(to)).map(|cut| (cut.start, cut.body));
        let both = concurrent(&[a(3, 0), b(4, 400), b(5, 900)], [Some(ms(0)); 2]);
        assert_eq!(cut(400, 2_000), Some((ms(100), both)));
        let both = concurrent(&[a(3, 0), b(4, 400)], [Some(ms(0)), None]);
        assert_eq!(cut(400, 1_800), Some((ms(100), both)));
        let one = concurrent(&[b(4, 0), b(5, 900)], [None, Some(ms(0))]);
        assert_eq!(cut(600, 2_000), Some((ms(300), one)));
        assert_eq!(cut(901, 1_800), None);
    }

    fn bytes(vector: &Vector) -> u128 {
        let turns = vector.body.turns().iter();
        turns.map(|turn| u128::from(turn.bytes)).sum()
    }

    proptest! {
        #[test]
        fn the_windows_of_a_partition_have_all_octets(vector in any_vector(), mut cuts in prop::collection::vec(0..20_000_u64, 0..6)) {
            cuts.sort_unstable();
            let ends = cuts.iter().copied().map(ms).chain([Duration::MAX]);
            let begins = [Duration::ZERO].into_iter().chain(cuts.iter().copied().map(ms));
            let timeline = Timeline::of(&vector);
            let mut sum = 0;
            for (from, to) in begins.zip(ends) {
                let piece = cut(&vector, from, to);
                let first = timeline.first(from, to);
                prop_assert_eq!(piece.is_some(), first.is_some());
                if let Some(piece) = piece {
                    prop_assert!(piece.body.turns().iter().all(|turn| turn.bytes > 0));
                    if !from.is_zero() {
                        prop_assert_eq!(piece.body.turns()[0].wait, Duration::ZERO);
                        prop_assert_eq!(Some(piece.start + from), first);
                    }
                    sum += bytes(&piece);
                }
            }
            // What is never said is in no window.
            let never = timeline.lanes.iter().flatten().filter(|adu| adu.end == Duration::MAX);
            if never.count() == 0 {
                prop_assert_eq!(sum, bytes(&vector));
            }
        }

        #[test]
        fn a_window_without_bounds_cuts_nothing(mut vector in any_vector()) {
            let (Body::Sequential { turns, .. } | Body::Concurrent { turns, .. }) = &mut vector.body;
            turns.retain(|turn| turn.bytes > 0);
            for turn in turns.iter_mut() {
                turn.bytes = turn.bytes.min(1 << 20);
                turn.wait = turn.wait.min(ms(10_000));
            }
            vector.min_rtt = vector.min_rtt.map(|rtt| rtt.min(ms(10_000)));
            prop_assume!(!vector.body.turns().is_empty());
            let whole = cut(&vector, Duration::ZERO, Duration::MAX).unwrap();
            prop_assert_eq!(whole.start, vector.start);
            let waits = |side| {
                let of = |vector: &Vector| -> Vec<Turn> {
                    vector.body.turns().iter().filter(|turn| turn.side == side).copied().collect()
                };
                (of(&whole), of(&vector))
            };
            for side in Side::BOTH {
                let (whole, vector) = waits(side);
                prop_assert_eq!(whole, vector);
            }
        }
    }
}
