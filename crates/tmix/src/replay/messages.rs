//! What the two ends of a replay between two hosts say to each other, one JSON line each.
//!
//! ```text
//! near: replay      how much will be played, and how
//!   far:  ready     or refused, with the reason
//! near: cast ...    what, as far as the accepting end must know it
//! near: go
//!   far:  ready     or refused
//!   ... connections, each of which says its number first ...
//!   far:  told ...  what became of its ends of them
//! near: stop
//!   far:  told ...  the rest
//!   far:  done      what it has to say of itself
//! ```

use super::live::{End, Half};
use serde::{Deserialize, Serialize};
use session::ClockOffset;
use std::time::Duration;
use units::Instant;
use vectors::Side;

/// Words, or ends of connections, in one line: far below the longest line.
pub const PER_LINE: usize = 200;

/// The first line of a run, by which a server knows what is wanted.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Opening {
    Replay(Setup),
}

/// A replay begins.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Setup {
    /// Connections in all, and ADUs of all of them.
    pub connections: u64,
    /// ADUs of all connections together.
    pub adus: u64,
    /// The most connections that will be open at once.
    pub open: u64,
    /// After which all is cut.
    pub duration_ns: Option<u64>,
    /// TCP congestion control of all connections; without it the far host's own.
    pub congestion_control: Option<String>,
}

/// What the near end says then.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Near {
    /// What is played, up to [`PER_LINE`] words a line.
    #[serde(rename = "cast")]
    Workload(Vec<Word>),
    /// All has been told: get ready to accept.
    Go,
    /// The replay is over: cut what is open, and tell the rest.
    Stop,
}

/// A piece of what is played: a vector, or an ADU of the last one.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Word {
    /// A connection whose ends take turns, with the windows of both.
    Sequential([u32; 2]),
    /// One whose ends do not; with what passes before each closes, in nanoseconds.
    Concurrent([u32; 2], [Option<u64>; 2]),
    /// Whether it is the acceptor's, its octets, and the wait before it in nanoseconds.
    Adu(bool, u64, u64),
}

/// What the far end says.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Far {
    /// The last line, after all ends were told.
    Done(Done),
    /// The setup will do; or, after `Go`, connections may come.
    Ready,
    /// It cannot or will not play, with the reason.
    Refused(String),
    /// What became of its ends meanwhile.
    Told(Told),
}

/// What is new at the far end.
#[derive(Debug, Default, Deserialize, Serialize)]
pub struct Told {
    /// Ends that are over; at most [`PER_LINE`] a line.
    pub ends: Vec<Ended>,
    /// How many octets it has heard since it last told, and until when, on its clock.
    pub heard: Option<(u64, u64)>,
}

/// An acceptor's end of a connection that is over. Times are on the far end's clock, in nanoseconds.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub struct Ended {
    number: u32,
    accepted: u64,
    first_sent: Option<u64>,
    last_heard: Option<u64>,
    closed: Option<u64>,
    sent: u64,
    heard: u64,
    retransmits: Option<u32>,
    min_rtt_ns: Option<u64>,
    end: End,
}

/// The far end, of itself.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
pub struct Done {
    /// Processor time that its program used since the replay began.
    pub process_cpu_s: f64,
}

impl From<&Half> for Ended {
    fn from(half: &Half) -> Self {
        let ns = |at: Option<Instant>| at.map(Instant::as_nanos);
        Self {
            number: half.number,
            accepted: half.started.as_nanos(),
            first_sent: ns(half.first_sent),
            last_heard: ns(half.last_heard),
            closed: ns(half.closed),
            sent: half.sent,
            heard: half.heard,
            retransmits: half.retransmits,
            min_rtt_ns: half.min_rtt.map(super::nanos),
            end: half.end,
        }
    }
}

impl Ended {
    /// The connection's place among the parts.
    pub const fn number(&self) -> u32 {
        self.number
    }

    /// On our clock.
    pub fn half(&self, clock: ClockOffset) -> Half {
        let at = |ns: u64| clock.to_ours(Instant::from_nanos(ns));
        let mut half = Half::new(self.number, Side::Acceptor, at(self.accepted));
        half.established = Some(half.started);
        half.first_sent = self.first_sent.map(at);
        half.last_heard = self.last_heard.map(at);
        half.closed = self.closed.map(at);
        (half.sent, half.heard) = (self.sent, self.heard);
        half.retransmits = self.retransmits;
        half.min_rtt = self.min_rtt_ns.map(Duration::from_nanos);
        half.end = self.end;
        half
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_keeps_what_it_knows_on_the_other_clock() {
        let mut half = Half::new(7, Side::Acceptor, Instant::from_nanos(5_000));
        half.established = Some(half.started);
        half.last_heard = Some(Instant::from_nanos(9_000));
        (half.sent, half.heard, half.end) = (3, 4, End::Reset);
        let clock = ClockOffset {
            offset_ns: 1_000,
            rtt_ns: 0,
        };
        let line = serde_json::to_string(&Ended::from(&half)).unwrap();
        let ended: Ended = serde_json::from_str(&line).unwrap();
        let told = ended.half(clock);
        assert_eq!(told.started, Instant::from_nanos(4_000));
        assert_eq!(told.last_heard, Some(Instant::from_nanos(8_000)));
        assert_eq!((told.sent, told.heard, told.end), (3, 4, End::Reset));
        assert_eq!(told.first_sent, None);
    }
}
