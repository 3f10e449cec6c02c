//! Streams of MPEG-2 frames: which frame is due when, and which frames depend on which.
//!
//! A stream is a loop of *groups* of pictures (T, table 6.1). An I frame stands alone. A P frame is the difference from the I or P frame
//! before it, its *anchor*; a B frame lies between two anchors and needs both, so it is sent after the later one. A
//! group of half a second is sent in this order, in which the first two B frames belong between the last P frame of the group before
//! and this I frame:
//!
//! ```text
//! I B B P B B P B B P B B P B B
//! ```
//!
//! An adaptation leaves kinds of frames out. What is left can be decoded: a stream goes down at once, and up at an I frame. After a time
//! without P frames the two B frames behind that I frame have no earlier anchor; they are left out as well, as an encoder closes a
//! group.

use std::time::Duration;
use units::Instant;

/// Frames of a group.
const GROUP: u64 = 15;
/// Anchors of a group: its I frame and its P frames.
const ANCHORS: u64 = 5;
/// Groups a second.
const GROUPS_PER_S: u64 = 2;
/// B frames between two anchors.
const BETWEEN: u64 = GROUP / ANCHORS - 1;

/// A kind of frame, the most important first.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Kind {
    /// A picture.
    I,
    /// What differs from the anchor before.
    P,
    /// What differs from the anchors before and after.
    B,
}

impl Kind {
    /// All, the most important first.
    pub const ALL: [Self; 3] = [Self::I, Self::P, Self::B];

    /// Octets of a frame: the mean of T, table 6.1.
    pub const fn octets(self) -> u32 {
        match self {
            Self::I => 13_500,
            Self::P => 7_625,
            Self::B => 2_850,
        }
    }

    /// Frames a second in a whole stream.
    pub const fn per_s(self) -> u64 {
        GROUPS_PER_S
            * match self {
                Self::I => 1,
                Self::P => ANCHORS - 1,
                Self::B => GROUP - ANCHORS,
            }
    }

    /// The letter for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::I => "I",
            Self::P => "P",
            Self::B => "B",
        }
    }
}

/// Which frames of a stream are sent.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Level {
    /// I frames alone.
    Low,
    /// I and P frames.
    Medium,
    /// All.
    High,
}

impl Level {
    /// All, the least first.
    pub const ALL: [Self; 3] = [Self::Low, Self::Medium, Self::High];

    /// Whether frames of this kind are sent.
    pub fn has(self, kind: Kind) -> bool {
        match kind {
            Kind::I => true,
            Kind::P => self >= Self::Medium,
            Kind::B => self == Self::High,
        }
    }

    /// What it is worth to the one who watches (T, 6.3.1).
    pub const fn utility(self) -> f64 {
        match self {
            Self::Low => 0.3,
            Self::Medium => 0.5,
            Self::High => 1.0,
        }
    }

    /// Octets a second.
    pub fn octets_per_s(self) -> u64 {
        let kinds = Kind::ALL.into_iter().filter(|kind| self.has(*kind));
        kinds
            .map(|kind| kind.per_s() * u64::from(kind.octets()))
            .sum()
    }

    /// The letter for it.
    pub const fn letter(self) -> char {
        match self {
            Self::Low => 'L',
            Self::Medium => 'M',
            Self::High => 'H',
        }
    }
}

/// A frame, without its octets.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Frame {
    /// Of which stream.
    pub stream: u8,
    /// Whether it is an I, P or B frame.
    pub kind: Kind,
    /// Its place in the stream, in the order of sending, from 0.
    pub number: u64,
    /// When it was due.
    pub due: Instant,
}

/// What the frame at a place of a stream is.
pub const fn kind_at(number: u64) -> Kind {
    match number % GROUP {
        0 => Kind::I,
        place if place.is_multiple_of(BETWEEN + 1) => Kind::P,
        _ => Kind::B,
    }
}

/// The number of the anchor that the frame at a place of a stream is, or of the later one that it lies before.
pub const fn anchor_at(number: u64) -> u64 {
    number / (BETWEEN + 1)
}

/// A stream that is being sent.
#[derive(Clone, Debug)]
pub struct Stream {
    id: u8,
    begin: Instant,
    /// The next frame.
    next: u64,
    level: Level,
    /// The level from the next I frame on.
    wanted: Level,
    /// Whether the B frames behind the latest I frame have an earlier anchor.
    open: bool,
}

impl Stream {
    /// Stream `id`, whose first frame is due at `begin`, at the highest level.
    pub const fn new(id: u8, begin: Instant) -> Self {
        Self {
            id,
            begin,
            next: 0,
            level: Level::High,
            wanted: Level::High,
            open: false,
        }
    }

    /// Changes the level: downwards at once, upwards at the next I frame.
    pub fn set(&mut self, level: Level) {
        self.wanted = level;
        self.level = self.level.min(level);
    }

    /// When the next frame is due, sent or left out.
    pub fn next_timeout(&self) -> Instant {
        let nanos = self.next.saturating_mul(1_000_000_000) / (GROUP * GROUPS_PER_S);
        self.begin + Duration::from_nanos(nanos)
    }

    /// The next frame that is due by `now` and belongs to the level.
    pub fn poll_frame(&mut self, now: Instant) -> Option<Frame> {
        loop {
            let due = self.next_timeout();
            if due > now {
                return None;
            }
            let number = self.next;
            self.next += 1;
            let kind = kind_at(number);
            if kind == Kind::I {
                // The last P frame was sent unless the level was the lowest.
                self.open = number > 0 && self.level > Level::Low;
                self.level = self.wanted;
            }
            let is_orphan = kind == Kind::B && number % GROUP <= BETWEEN && !self.open;
            if self.level.has(kind) && !is_orphan {
                return Some(Frame {
                    stream: self.id,
                    kind,
                    number,
                    due,
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::from_millis(ms)
    }

    fn kinds(stream: &mut Stream, until: u64) -> String {
        std::iter::from_fn(|| stream.poll_frame(at(until)))
            .map(|frame| frame.kind.name())
            .collect()
    }

    /// Holds manager/frames.
    #[test]
    fn a_stream_has_the_rates_of_the_thesis() {
        let rates = Level::ALL.map(Level::octets_per_s);
        assert_eq!(rates, [27_000, 88_000, 145_000]);
        assert_eq!(Kind::ALL.map(Kind::per_s), [2, 8, 20]);
    }

    #[test]
    fn ten_seconds_have_thirty_frames_each() {
        let mut stream = Stream::new(0, at(500));
        assert_eq!(stream.poll_frame(at(499)), None);
        let frames: Vec<Frame> = std::iter::from_fn(|| stream.poll_frame(at(10_499))).collect();
        // The first group is closed: two B frames have nothing before them.
        assert_eq!(frames.len(), 300 - 2);
        let count = |kind| frames.iter().filter(|frame| frame.kind == kind).count();
        assert_eq!([count(Kind::I), count(Kind::P)], [20, 80]);
        assert!(frames.windows(2).all(|two| two[0].due < two[1].due));
    }

    /// Holds manager/frames.
    #[test]
    fn a_group_is_sent_in_the_order_of_coding() {
        let mut stream = Stream::new(0, at(0));
        assert_eq!(kinds(&mut stream, 499), "IPBBPBBPBBPBB");
        assert_eq!(kinds(&mut stream, 999), "IBBPBBPBBPBBPBB");
    }

    #[test]
    fn a_stream_goes_down_at_once_and_up_at_a_picture() {
        let mut stream = Stream::new(0, at(0));
        kinds(&mut stream, 699);
        stream.set(Level::Medium);
        assert_eq!(kinds(&mut stream, 999), "PPP");
        stream.set(Level::High);
        assert_eq!(kinds(&mut stream, 1_499), "IBBPBBPBBPBBPBB");
        stream.set(Level::Low);
        assert_eq!(kinds(&mut stream, 2_499), "II");
        stream.set(Level::High);
        // Without P frames before, the group is closed.
        assert_eq!(kinds(&mut stream, 2_999), "IPBBPBBPBBPBB");
    }

    #[test]
    fn what_was_wanted_and_withdrawn_before_a_picture_does_not_come() {
        let mut stream = Stream::new(0, at(0));
        stream.set(Level::Low);
        stream.set(Level::High);
        stream.set(Level::Medium);
        assert_eq!(kinds(&mut stream, 999), "IPPPPIPPPP");
    }
}
