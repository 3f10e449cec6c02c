//! Captures by script: two ends and a monitor between them.

use crate::extract::{Counters, Extracted, Extractor, Options};
use crate::{Body, Side, Turn};
use capture::dissect::{Endpoint, Flags, Segment, TcpOptions};
use core::net::SocketAddr;
use core::time::Duration;

pub(super) use Side::{Acceptor as A, Initiator as I};

/// Writes segments as they would pass the monitor. Unless it is told otherwise, an end has everything that passed before.
pub(super) struct Stage {
    pub(super) segments: Vec<Segment>,
    now_ms: u64,
    ends: [Endpoint; 2],
    pub(super) next: [u32; 2],
    window: u16,
}

impl Stage {
    pub(super) fn new() -> Self {
        let ends = ["10.0.0.1:40000", "10.0.0.2:80"];
        let ends = ends.map(|end| end.parse::<SocketAddr>().unwrap().into());
        // The acceptor's numbers wrap soon.
        Self {
            segments: Vec::new(),
            now_ms: 0,
            ends,
            next: [1_000, u32::MAX - 3_000],
            window: 60_000,
        }
    }

    /// From now on it is `ms` since the beginning.
    pub(super) fn at(&mut self, ms: u64) -> &mut Self {
        self.now_ms = ms;
        self
    }

    pub(super) fn ends(&mut self, ends: [&str; 2]) -> &mut Self {
        self.ends = ends.map(|end| end.parse::<SocketAddr>().unwrap().into());
        self
    }

    pub(super) fn window(&mut self, window: u16) -> &mut Self {
        self.window = window;
        self
    }

    /// A segment that an end sends now, with whatever numbers.
    pub(super) fn raw(
        &mut self,
        side: Side,
        flags: Flags,
        seq: u32,
        ack: u32,
        payload: u32,
    ) -> &mut Self {
        let [from, to] = [side, side.other()].map(|side| self.ends[side.index()]);
        self.segments.push(Segment {
            at_ns: 1_000_000_000 + self.now_ms * 1_000_000,
            from,
            to,
            seq,
            ack,
            payload,
            packet_len: payload + 40,
            window: self.window,
            flags,
            options: TcpOptions::default(),
        });
        self
    }

    /// The next `payload` octets of an end.
    pub(super) fn data(&mut self, side: Side, payload: u32) -> &mut Self {
        let ack = self.next[side.other().index()];
        self.data_with_ack(side, payload, ack)
    }

    pub(super) fn data_with_ack(&mut self, side: Side, payload: u32, ack: u32) -> &mut Self {
        let seq = self.next[side.index()];
        self.next[side.index()] = seq.wrapping_add(payload);
        self.raw(side, Flags::ACK, seq, ack, payload)
    }

    /// The last segment that was written is not in the capture.
    pub(super) fn missed(&mut self) -> &mut Self {
        self.segments.pop();
        self
    }

    pub(super) fn ack(&mut self, side: Side) -> &mut Self {
        self.data(side, 0)
    }

    pub(super) fn syn(&mut self, side: Side) -> &mut Self {
        let seq = self.next[side.index()];
        self.next[side.index()] = seq.wrapping_add(1);
        match side {
            I => self.raw(I, Flags::SYN, seq, 0, 0),
            A => self.raw(A, Flags::SYN | Flags::ACK, seq, self.next[I.index()], 0),
        }
    }

    /// SYN at 0 ms, SYN and ACK at 20 ms, ACK at 30 ms: half round trips of 10 ms and 20 ms.
    pub(super) fn open(&mut self) -> &mut Self {
        self.at(0).syn(I).at(20).syn(A).at(30).ack(I)
    }

    pub(super) fn fin(&mut self, side: Side) -> &mut Self {
        let ack = self.next[side.other().index()];
        let seq = self.next[side.index()];
        self.next[side.index()] = seq.wrapping_add(1);
        self.raw(side, Flags::FIN | Flags::ACK, seq, ack, 0)
    }

    /// Both close and acknowledge that, `ms` and 20, 30 ms later.
    pub(super) fn close(&mut self, ms: u64) -> &mut Self {
        self.at(ms).fin(I).at(ms + 20).fin(A).at(ms + 30).ack(I)
    }

    pub(super) fn play(&self) -> (Vec<Extracted>, Counters) {
        play(&self.segments, Options::default())
    }

    /// The one connection that there is.
    #[track_caller]
    pub(super) fn one(&self) -> Extracted {
        let (found, counters) = self.play();
        assert_eq!(found.len(), 1, "{counters:#?}");
        found.into_iter().next().unwrap()
    }

    #[track_caller]
    pub(super) fn body(&self) -> Body {
        self.one().vector.body
    }
}

/// What comes of segments.
pub(super) fn play(segments: &[Segment], options: Options) -> (Vec<Extracted>, Counters) {
    let mut extractor = Extractor::new(options);
    let mut found = Vec::new();
    for segment in segments {
        extractor.handle_segment(segment);
        found.extend(core::iter::from_fn(|| extractor.poll()));
    }
    extractor.finish();
    found.extend(core::iter::from_fn(|| extractor.poll()));
    let counters = *extractor.counters();
    assert_eq!(at_once(segments, options), (found.clone(), counters));
    balanced(&counters, segments);
    (found, counters)
}

/// The same in one go.
fn at_once(segments: &[Segment], options: Options) -> (Vec<Extracted>, Counters) {
    let mut extractor = Extractor::new(options);
    extractor.handle_segments(segments);
    let mut found: Vec<_> = core::iter::from_fn(|| extractor.poll()).collect();
    extractor.finish();
    found.extend(core::iter::from_fn(|| extractor.poll()));
    (found, *extractor.counters())
}

/// Every packet is somewhere, once.
fn balanced(counters: &Counters, segments: &[Segment]) {
    let mut sum = counters.sequential;
    for part in [
        counters.concurrent,
        counters.one_way,
        counters.no_data,
        counters.late,
        counters.refused,
    ] {
        sum += part;
    }
    assert_eq!(sum, counters.all);
    let mut vectors = counters.complete;
    vectors += counters.incomplete;
    let mut kinds = counters.sequential;
    kinds += counters.concurrent;
    assert_eq!(vectors, kinds);
    assert_eq!(counters.all.packets, segments.len() as u64);
}

pub(super) const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// A sequential connection in short: who, octets, wait in ms; and the tail in ms.
pub(super) fn sequential(turns: &[(Side, u64, u64)], tail: Option<u64>) -> Body {
    Body::Sequential {
        turns: turns_of(turns),
        tail: tail.map(ms),
    }
}

pub(super) fn concurrent(turns: &[(Side, u64, u64)], tails: [Option<u64>; 2]) -> Body {
    Body::Concurrent {
        turns: turns_of(turns),
        tails: tails.map(|tail| tail.map(ms)),
    }
}

fn turns_of(turns: &[(Side, u64, u64)]) -> Vec<Turn> {
    let turns = turns.iter();
    turns
        .map(|&(side, bytes, wait)| Turn {
            side,
            bytes,
            wait: ms(wait),
        })
        .collect()
}
