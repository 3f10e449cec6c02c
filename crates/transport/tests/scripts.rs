//! The rules of the RFCs, packet by packet, in virtual time.
//!
//! Each file in `scripts/` is one case: options as TOML, a line `---`, and then what happens when. It is read top to bottom;
//! before each line all timeouts up to its time are served.
//!
//! ```text
//! # RFC 5681 section 3.2: the third duplicate retransmits.
//! dup_thresh = 3
//! ---
//! 0ms     supply 20            the application has 20 segments
//! 0ms     > 0 1 2 3            exactly these leave now (a copy of a segment sent before has a star: 0*)
//! 100ms   < ack 1              an acknowledgement arrives; `sack 3-4,7`, `win 5`, `ece`, `by 4` (whose packet caused it)
//! 100ms   > nothing
//! 100ms   = cwnd 4 ssthresh inf flight 3
//! ```
//!
//! A receiver's script turns the arrows round: `< 5` is a segment that arrives (`< 5 last`, `< 5 ce`), `> ack 3 sack 5` an
//! acknowledgement that leaves.

#![expect(
    clippy::unwrap_used,
    reason = "a script that cannot be read has failed"
)]

use isobath_transport::{
    Ack, Options, PacketId, Receiver, SackBlocks, Segment, SegmentFlags, Sender, Seq,
};
use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::path::Path;
use units::{Ecn, Instant, Span};

/// Holds btc/slow-start, btc/congestion-avoidance, btc/fast-recovery, btc/retransmission-timer, btc/growth-rule, btc/at-threshold,
/// btc/advanced-recovery, btc/new-algorithms, btc/cap-window, btc/cap-growth.
#[test]
fn the_sender_follows_its_scripts() {
    for_each_script("sender", |options, lines| {
        SenderCase::new(&options).run(lines);
    });
}

/// Holds btc/cap-delayed-acks.
#[test]
fn the_receiver_follows_its_scripts() {
    for_each_script("receiver", |options, lines| {
        ReceiverCase::new(&options).run(lines);
    });
}

/// One line after the options: where it stands, when it happens, what it says.
struct Line<'a> {
    place: String,
    at: Instant,
    words: Vec<&'a str>,
}

fn for_each_script(kind: &str, run: impl Fn(Options, Vec<Line<'_>>)) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/scripts")
        .join(kind);
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    assert!(!files.is_empty());
    let mut failed = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let name = file.file_name().unwrap().to_string_lossy();
        let (options, script) = text.split_once("\n---\n").expect("a line of three dashes");
        let options = toml::from_str(options).unwrap_or_else(|error| panic!("{name}: {error}"));
        let first = text[..text.len() - script.len()].lines().count() + 1;
        let lines = script.lines().enumerate();
        let lines =
            lines.filter_map(|(index, line)| parse(&format!("{name}:{}", first + index), line));
        let lines = lines.collect();
        let outcome =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run(options, lines)));
        failed.extend(outcome.is_err().then(|| name.into_owned()));
    }
    assert!(failed.is_empty(), "these failed: {failed:?}");
}

fn parse<'a>(place: &str, line: &'a str) -> Option<Line<'a>> {
    let said = line.split('#').next().unwrap_or_default();
    let mut words = said.split_whitespace();
    let at: Span = words
        .next()?
        .parse()
        .unwrap_or_else(|error| panic!("{place}: {error}"));
    Some(Line {
        place: place.to_owned(),
        at: Instant::ZERO + at.0,
        words: words.collect(),
    })
}

fn number<T: std::str::FromStr>(place: &str, word: Option<&&str>) -> T {
    let word = word.unwrap_or_else(|| panic!("{place}: a number is missing"));
    word.parse()
        .unwrap_or_else(|_| panic!("{place}: {word} is no number"))
}

/// `3-5,7` as first and last numbers.
fn blocks(place: &str, word: &str) -> Vec<(u32, u32)> {
    let block = |block: &str| {
        let (first, last) = block.split_once('-').unwrap_or((block, block));
        (number(place, Some(&first)), number(place, Some(&last)))
    };
    word.split(',').map(block).collect()
}

struct SenderCase {
    sender: Sender,
    first: Seq,
    /// What has left and has not been looked for yet.
    left: VecDeque<(Instant, String)>,
    /// The latest copy of each segment.
    copies: BTreeMap<u32, Segment>,
    window: u32,
    highest: u32,
}

impl SenderCase {
    fn new(options: &Options) -> Self {
        Self {
            sender: Sender::new(options, 1),
            first: Seq(options.first_seq),
            left: VecDeque::new(),
            copies: BTreeMap::new(),
            window: options.receive_window,
            highest: 0,
        }
    }

    fn run(&mut self, lines: Vec<Line<'_>>) {
        for line in lines {
            self.serve_until(line.at);
            match line.words[0] {
                "supply" => self.sender.supply(number(&line.place, line.words.get(1))),
                "close" => self.sender.close(),
                "<" => self.acknowledge(&line),
                ">" => self.expect_left(&line),
                "=" => self.expect_state(&line),
                other => panic!("{}: what is '{other}'?", line.place),
            }
            self.poll(line.at);
        }
        assert!(self.left.is_empty(), "not looked for: {:?}", self.left);
    }

    fn serve_until(&mut self, at: Instant) {
        while let Some(due) = self.sender.next_timeout().filter(|due| *due <= at) {
            self.sender.handle_timeout(due);
            self.poll(due);
        }
    }

    fn poll(&mut self, now: Instant) {
        while let Some(segment) = self.sender.poll_transmit(now) {
            let seq = segment.seq.minus(self.first).unsigned_abs();
            let is_copy = !segment.flags.probe && self.copies.insert(seq, segment).is_some();
            let mark = match (segment.flags.probe, is_copy) {
                (true, _) => "?",
                (_, true) => "*",
                _ => "",
            };
            let cwr = if segment.flags.cwr { "cwr" } else { "" };
            self.left.push_back((now, format!("{seq}{mark}{cwr}")));
        }
    }

    fn acknowledge(&mut self, line: &Line<'_>) {
        let (mut ack, mut by, mut ece, mut sack) = (0, None, false, Vec::new());
        let mut words = line.words[1..].iter();
        while let Some(word) = words.next() {
            match *word {
                "ack" => ack = number(&line.place, words.next()),
                "sack" => sack = blocks(&line.place, words.next().unwrap()),
                "win" => self.window = number(&line.place, words.next()),
                "by" => by = Some(number(&line.place, words.next())),
                "ece" => ece = true,
                other => panic!("{}: what is '{other}'?", line.place),
            }
        }
        // The first block is the latest to arrive, unless it is a duplicate's.
        let latest = sack
            .iter()
            .find(|(first, _)| *first >= ack)
            .map(|(_, last)| *last);
        let by = by.or(latest).unwrap_or_else(|| ack.saturating_sub(1));
        let top = sack
            .iter()
            .map(|(_, last)| *last)
            .chain([ack.saturating_sub(1), by]);
        self.highest = top.fold(self.highest, u32::max);
        let mut out = SackBlocks::NONE;
        for (first, last) in sack {
            assert!(out.push(self.first.plus(first), self.first.plus(last + 1)));
        }
        let copy = |seq| self.copies.get(&seq).copied();
        let cause = copy(by).unwrap_or_else(|| panic!("{}: {by} has not been sent", line.place));
        let ack = Ack {
            ack: self.first.plus(ack),
            id: cause.id,
            highest: copy(self.highest).map_or(PacketId(0), |segment| segment.id),
            echo: cause.sent,
            delay_ns: 0,
            window: self.window,
            ece,
            sack: out,
        };
        self.sender.handle_ack(&ack, line.at);
    }

    #[track_caller]
    fn expect_left(&mut self, line: &Line<'_>) {
        let expected: Vec<String> = match &line.words[1..] {
            ["nothing"] => Vec::new(),
            words => words
                .iter()
                .flat_map(|word| range(&line.place, word))
                .collect(),
        };
        let left: Vec<String> = self
            .left
            .drain(..)
            .map(|(at, what)| {
                assert_eq!(at, line.at, "{}: {what} left at another time", line.place);
                what
            })
            .collect();
        assert_eq!(
            left, expected,
            "{}: what left (left) and should have (right)",
            line.place
        );
    }

    #[track_caller]
    fn expect_state(&self, line: &Line<'_>) {
        let state = self.sender.snapshot();
        for pair in line.words[1..].chunks(2) {
            let [name, value] = pair else {
                panic!("{}: pairs, please", line.place)
            };
            let is: f64 = match *name {
                "cwnd" => state.cwnd,
                "ssthresh" => state.ssthresh,
                "flight" => f64::from(state.flight),
                "una" => f64::from(state.una.minus(self.first)),
                "next" => f64::from(state.next.minus(self.first)),
                "rto_ms" => state.rto.as_secs_f64() * 1e3,
                "srtt_ms" => state.srtt.map_or(f64::NAN, |srtt| srtt.as_secs_f64() * 1e3),
                "recovery" => f64::from(u8::from(state.in_recovery)),
                "loss" => f64::from(u8::from(state.in_loss)),
                "timeouts" => self.sender.sent().timeouts as f64,
                "undone" => self.sender.sent().undone as f64,
                "violations" => self.sender.sent().violations as f64,
                "done" => f64::from(u8::from(self.sender.is_done())),
                other => panic!("{}: what is '{other}'?", line.place),
            };
            let expected: f64 = number(&line.place, Some(value));
            let is_near =
                is.is_infinite() && expected.is_infinite() || (is - expected).abs() < 0.01;
            assert!(is_near, "{}: {name} is {is}, not {expected}", line.place);
        }
    }
}

/// `3-6` is four segments; anything else is one.
fn range(place: &str, word: &str) -> Vec<String> {
    let Some((first, last)) = word.split_once('-') else {
        return vec![word.to_owned()];
    };
    let digits = |text: &str| text.trim_end_matches(['*', '?']).to_owned();
    let mark = &last[digits(last).len()..];
    let (first, last): (u32, u32) = (
        number(place, Some(&first)),
        number(place, Some(&&*digits(last))),
    );
    (first..=last).map(|seq| format!("{seq}{mark}")).collect()
}

/// Counters of second copies begin here.
const COPIES: u64 = 1_000;

struct ReceiverCase {
    receiver: Receiver,
    first: Seq,
    left: VecDeque<(Instant, String)>,
    /// Which segment each packet carried.
    carried: BTreeMap<u64, u32>,
}

impl ReceiverCase {
    fn new(options: &Options) -> Self {
        Self {
            receiver: Receiver::new(options),
            first: Seq(options.first_seq),
            left: VecDeque::new(),
            carried: BTreeMap::new(),
        }
    }

    fn run(&mut self, lines: Vec<Line<'_>>) {
        for line in lines {
            while let Some(due) = self.receiver.next_timeout().filter(|due| *due <= line.at) {
                self.receiver.handle_timeout(due);
                self.poll(due);
            }
            match line.words[0] {
                "<" => self.arrive(&line),
                "hold" => self.receiver.hold(true, line.at),
                "release" => self.receiver.hold(false, line.at),
                ">" => self.expect_left(&line),
                "=" => self.expect_state(&line),
                other => panic!("{}: what is '{other}'?", line.place),
            }
            self.poll(line.at);
        }
        assert!(self.left.is_empty(), "not looked for: {:?}", self.left);
    }

    fn arrive(&mut self, line: &Line<'_>) {
        let seq: u32 = number(&line.place, line.words.get(1));
        let says = |word| line.words.contains(&word);
        // As if all first copies had left in order, and others after them.
        let counter = u64::from(seq);
        let is_copy = self.carried.contains_key(&(counter << 32));
        let id = if is_copy { counter + COPIES } else { counter } << 32;
        self.carried.insert(id, seq);
        let segment = Segment {
            seq: self.first.plus(seq),
            id: PacketId(id),
            len: 1_000,
            flags: SegmentFlags {
                last: says("last"),
                cwr: says("cwr"),
                probe: says("probe"),
            },
            sent: line.at,
        };
        let ecn = if says("ce") { Ecn::Ce } else { Ecn::Ect0 };
        self.receiver.handle_segment(&segment, ecn, line.at);
    }

    fn poll(&mut self, now: Instant) {
        while let Some(ack) = self.receiver.poll_transmit(now) {
            let mut said = format!("ack {}", ack.ack.minus(self.first));
            if !ack.sack.is_empty() {
                let block = |(first, end): (Seq, Seq)| {
                    let (first, last) = (first.minus(self.first), end.minus(self.first) - 1);
                    if first == last {
                        first.to_string()
                    } else {
                        format!("{first}-{last}")
                    }
                };
                let blocks: Vec<_> = ack.sack.iter().map(block).collect();
                said = format!("{said} sack {}", blocks.join(","));
            }
            if ack.window == 0 {
                said += " win 0";
            }
            if ack.ece {
                said += " ece";
            }
            assert!(self.carried.contains_key(&ack.id.0));
            self.left.push_back((now, said));
        }
    }

    #[track_caller]
    fn expect_left(&mut self, line: &Line<'_>) {
        let said = line.words[1..].join(" ");
        if said == "nothing" {
            assert!(self.left.is_empty(), "{}: {:?} left", line.place, self.left);
            return;
        }
        let (at, left) = self
            .left
            .pop_front()
            .unwrap_or_else(|| panic!("{}: nothing left", line.place));
        assert_eq!((at, left), (line.at, said), "{}", line.place);
    }

    #[track_caller]
    fn expect_state(&self, line: &Line<'_>) {
        let receipts = self.receiver.receipts();
        for pair in line.words[1..].chunks(2) {
            let [name, value] = pair else {
                panic!("{}: pairs, please", line.place)
            };
            let is = match *name {
                "packets" => receipts.packets,
                "segments" => receipts.segments,
                "bytes" => receipts.bytes,
                "duplicates" => receipts.duplicates,
                "reordered" => receipts.reordered,
                "marked" => receipts.marked,
                "refused" => receipts.refused,
                "complete" => u64::from(self.receiver.is_complete()),
                other => panic!("{}: what is '{other}'?", line.place),
            };
            let expected: u64 = number(&line.place, Some(value));
            assert_eq!(is, expected, "{}: {name}", line.place);
        }
    }
}
