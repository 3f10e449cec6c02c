//! Who sent which segment when, and who acknowledged it: the time-sequence graph.
//!
//! At the sender a packet of payload is a stroke at its segment's number; the acknowledgements are a stair below it, of
//! which the horizontal distance is the round trip and the vertical one what is in the network. What was sent again is
//! kept apart and never joined with anything, up to [`MOST_MARKS`].

use super::strokes::{Drawn, Strokes, difference};
use schema::btc::tables::SegmentRow;
use serde::Serialize;
use std::collections::{BTreeMap, HashSet};

/// The most marks of a kind: more than a figure has pixels.
const MOST_MARKS: usize = 20_000;

/// A transfer as one end saw it.
#[derive(Serialize)]
pub(super) struct Sequence {
    /// Which end: `sender`, or `receiver` when the sender's packets are not in the record.
    end: &'static str,
    /// Segments as they passed for the first time.
    sent: Drawn,
    /// Segments as they passed again.
    again: Marks,
    /// Packets that left and never arrived; null when the other end's packets are not in the record.
    lost: Option<Marks>,
    /// The next segment that the receiver expected, after each acknowledgement, and where its window ended.
    acks: Stair,
    /// What it had beyond that, where an acknowledgement brought news.
    sacks: Drawn,
}

/// Single packets, encoded as [`Drawn`].
#[derive(Clone, Debug, Default, Serialize)]
struct Marks {
    t_us: Vec<i64>,
    seq: Vec<i64>,
    /// How many there were; more than are here when they are too many.
    n: u64,
}

/// Acknowledgements, the last of each bin; `t_us` and `ack` encoded as [`Drawn`].
#[derive(Clone, Debug, Default, Serialize)]
struct Stair {
    t_us: Vec<i64>,
    ack: Vec<i64>,
    /// Segments from `ack` to the window's end; null when it was not told.
    window: Vec<Option<u32>>,
    bin_s: Option<f64>,
    n: u64,
}

/// Collects one transfer's packets.
pub(super) struct Collector {
    start_ns: u64,
    most: usize,
    ends: BTreeMap<&'static str, Seen>,
    arrived: HashSet<u64>,
    last_arrival_ns: u64,
}

#[derive(Default)]
struct Seen {
    sent: Option<Strokes>,
    again: Vec<(u64, u64)>,
    again_n: u64,
    /// Time, number of the segment and of the packet.
    left: Vec<(u64, u64, u64)>,
    acks: BTreeMap<u64, (u64, Option<u32>)>,
    acks_width_us: u64,
    acks_n: u64,
    sacks: Option<Strokes>,
    last_sack: String,
}

impl Collector {
    /// Of a transfer that began at `start_ns`, with at most `most` strokes of a kind.
    pub(super) fn new(start_ns: u64, most: usize) -> Self {
        Self {
            start_ns,
            most,
            ends: BTreeMap::new(),
            arrived: HashSet::new(),
            last_arrival_ns: 0,
        }
    }

    pub(super) fn see(&mut self, row: &SegmentRow) {
        let (is_sender, is_data) = (row.end == "sender", row.kind == "data");
        let t_ns = row.t_ns.saturating_sub(self.start_ns);
        if !is_sender && is_data {
            self.arrived.insert(row.id);
            self.last_arrival_ns = self.last_arrival_ns.max(t_ns);
        }
        let end = if is_sender { "sender" } else { "receiver" };
        let most = self.most;
        let seen = self.ends.entry(end).or_default();
        match &*row.kind {
            "data" => seen.data(t_ns, row, most),
            "ack" => seen.ack(t_ns, row, most),
            _ => {}
        }
    }

    /// The transfer as the sender saw it, else as the receiver did; `None` when neither is known.
    pub(super) fn sequence(mut self) -> Option<Sequence> {
        let (end, seen) = match self.ends.remove("sender") {
            Some(seen) => ("sender", seen),
            None => ("receiver", self.ends.remove("receiver")?),
        };
        let is_lost = |&&(t_ns, _, id): &&(u64, u64, u64)| {
            t_ns < self.last_arrival_ns && !self.arrived.contains(&id)
        };
        let knows_both = end == "sender" && !self.arrived.is_empty();
        let lost = knows_both.then(|| {
            let lost: Vec<_> = seen.left.iter().filter(is_lost).collect();
            let kept = lost.iter().take(MOST_MARKS).map(|&&(t, seq, _)| (t, seq));
            Marks::of(kept.collect(), lost.len() as u64)
        });
        Some(Sequence {
            end,
            lost,
            again: Marks::of(seen.again, seen.again_n),
            acks: stair(seen.acks, seen.acks_width_us, seen.acks_n),
            sent: seen.sent.map(Strokes::drawn).unwrap_or_default(),
            sacks: seen.sacks.map(Strokes::drawn).unwrap_or_default(),
        })
    }
}

impl Seen {
    fn data(&mut self, t_ns: u64, row: &SegmentRow, most: usize) {
        self.left.push((t_ns, row.seq, row.id));
        if row.copy == 0 {
            let sent = self.sent.get_or_insert_with(|| Strokes::new(most));
            return sent.push(t_ns, row.seq, row.seq);
        }
        self.again_n += 1;
        if self.again.len() < MOST_MARKS {
            self.again.push((t_ns, row.seq));
        }
    }

    fn ack(&mut self, t_ns: u64, row: &SegmentRow, most: usize) {
        let Some(ack) = row.ack else { return };
        self.acks_n += 1;
        self.acks_width_us = self.acks_width_us.max(1);
        let bin = t_ns / 1_000 / self.acks_width_us * self.acks_width_us;
        let highest = self.acks.entry(bin).or_insert((ack, row.window));
        if ack >= highest.0 {
            *highest = (ack, row.window);
        }
        while self.acks.len() > most {
            self.widen();
        }
        let sack = row.sack.as_str();
        let sacks = self.sacks.get_or_insert_with(|| Strokes::new(most));
        let known: HashSet<&str> = self.last_sack.split(' ').collect();
        for block in sack.split(' ').filter(|block| !known.contains(block)) {
            if let Some((first, last)) = numbers(block) {
                sacks.push(t_ns, first, last);
            }
        }
        sack.clone_into(&mut self.last_sack);
    }

    fn widen(&mut self) {
        self.acks_width_us = self.acks_width_us.saturating_mul(2);
        let narrow = std::mem::take(&mut self.acks);
        for (t_us, (ack, window)) in narrow {
            let bin = t_us / self.acks_width_us * self.acks_width_us;
            let highest = self.acks.entry(bin).or_insert((ack, window));
            if ack >= highest.0 {
                *highest = (ack, window);
            }
        }
    }
}

/// `10-12`, or `10`.
fn numbers(block: &str) -> Option<(u64, u64)> {
    let (first, last) = block.split_once('-').unwrap_or((block, block));
    let (first, last) = (first.parse().ok()?, last.parse().ok()?);
    (first <= last).then_some((first, last))
}

impl Marks {
    fn of(mut marks: Vec<(u64, u64)>, n: u64) -> Self {
        marks.sort_unstable();
        let mut all = Self {
            n,
            ..Self::default()
        };
        let (mut t_before, mut before) = (0, 0);
        for (t_ns, seq) in marks {
            let t_us = t_ns / 1_000;
            all.t_us.push(difference(t_before, t_us));
            all.seq.push(difference(before, seq));
            (t_before, before) = (t_us, seq);
        }
        all
    }
}

fn stair(acks: BTreeMap<u64, (u64, Option<u32>)>, width_us: u64, n: u64) -> Stair {
    let mut stair = Stair {
        bin_s: (width_us > 1).then_some(width_us as f64 / 1e6),
        n,
        ..Stair::default()
    };
    let (mut t_before, mut before) = (0, 0);
    for (t_us, (ack, window)) in acks {
        stair.t_us.push(difference(t_before, t_us));
        stair.ack.push(difference(before, ack));
        stair.window.push(window);
        (t_before, before) = (t_us, ack);
    }
    stair
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn data(t_us: u64, end: &'static str, seq: u64, id: u64, copy: u32) -> SegmentRow {
        SegmentRow {
            t_ns: t_us * 1_000,
            end: end.into(),
            kind: "data".into(),
            seq,
            id,
            copy,
            ..SegmentRow::default()
        }
    }

    fn ack(t_us: u64, ack: u64, sack: &str) -> SegmentRow {
        SegmentRow {
            t_ns: t_us * 1_000,
            end: "sender".into(),
            kind: "ack".into(),
            ack: Some(ack),
            sack: sack.to_owned(),
            window: Some(10),
            ..SegmentRow::default()
        }
    }

    fn seen(rows: &[SegmentRow], most: usize) -> Value {
        let mut collector = Collector::new(1_000_000, most);
        for row in rows {
            collector.see(row);
        }
        serde_json::to_value(collector.sequence()).unwrap()
    }

    #[test]
    fn what_never_arrived_and_what_was_sent_again_are_marks_of_their_own() {
        let rows = [
            data(1_000, "sender", 0, 0, 0),
            data(1_010, "sender", 1, 1, 0),
            data(1_020, "sender", 2, 2, 0),
            data(1_500, "sender", 1, 3, 1),
            data(1_200, "receiver", 0, 0, 0),
            data(1_220, "receiver", 2, 2, 0),
            data(1_700, "receiver", 1, 3, 1),
            ack(1_400, 1, ""),
            ack(1_420, 1, "2-2"),
            ack(1_430, 1, "2-2"),
            ack(1_900, 3, ""),
        ];
        let seen = seen(&rows, 100);
        assert_eq!(seen["sent"]["first"], json!([0, 1, 1]));
        assert_eq!(seen["again"], json!({"t_us": [500], "seq": [1], "n": 1}));
        assert_eq!(seen["lost"], json!({"t_us": [10], "seq": [1], "n": 1}));
        assert_eq!(seen["acks"]["ack"], json!([1, 0, 0, 2]));
        assert_eq!(seen["sacks"]["n"], 1, "a block is drawn when it is news");
    }

    #[test]
    fn a_long_transfer_keeps_every_copy_and_the_last_acknowledgement() {
        let mut rows = Vec::new();
        for i in 0..50_000_u64 {
            rows.push(data(1_000 + i * 12, "sender", i, 2 * i, 0));
            if i % 97 == 0 {
                rows.push(data(1_005 + i * 12, "sender", i, 2 * i + 1, 1));
            }
            rows.push(ack(1_007 + i * 12, i, ""));
        }
        let seen = seen(&rows, 2_000);
        let length = |path: &str| seen.pointer(path).and_then(Value::as_array).unwrap().len();
        assert_eq!(length("/again/t_us"), 516);
        assert!(length("/sent/t_us") <= 2_000 && length("/acks/t_us") <= 2_000);
        let steps = seen["acks"]["ack"].as_array().unwrap();
        assert_eq!(steps.iter().filter_map(Value::as_i64).sum::<i64>(), 49_999);
        assert_eq!(seen["lost"], Value::Null, "nobody saw what arrived");
    }

    #[test]
    fn damaged_blocks_are_left_out() {
        assert_eq!(numbers("10-12"), Some((10, 12)));
        assert_eq!(numbers("7"), Some((7, 7)));
        for block in ["", "-", "12-10", "a-b", "1-2-3"] {
            assert_eq!(numbers(block), None, "{block}");
        }
    }
}
