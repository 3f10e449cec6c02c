//! The six models of connection structure (D, section 3.3).
//!
//! Each adds one idea to the one before it, so that what the idea is good for can be seen:
//!
//! | model | adds | sequential connection | concurrent connection |
//! |---|---|---|---|
//! | *harpoon* | sizes | two connections, one opened at each side, one block each | the same |
//! | *block-concurrent* | one connection | both ends send one block at once | the same |
//! | *block-sequential* | client and server | a request, then a response | the same |
//! | *a-b* | epochs | all epochs, no waits | as block-concurrent |
//! | *a-t-b* | time to answer | waits between request and response | all ADUs and waits |
//! | *a-t-b-t* | time to think | all waits | all ADUs and waits |
//!
//! Where a model leaves a kind of wait out altogether, ADUs of one end that only such a wait separated are one ADU: with
//! nothing between them they are one block on the wire. D says so of concurrent connections in *a-b*; a sequential end
//! that spoke twice in a row is no different. Where a model has the kind of wait, an ADU stays an ADU, even if its wait
//! was below the threshold ("exactly as measured", D, section 3.3 vi).
//!
//! The models are a ladder: applied one after the other, the one with less of *a-b*, *a-t-b* and *a-t-b-t* is what
//! remains, and a block model takes everything.

use super::Latencies;
use crate::{Body, Side, Transport, Turn, Vector};
use core::fmt;
use core::str::FromStr;
use core::time::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the ends send.
#[derive(
    Clone, Copy, Debug, Deserialize, Eq, Hash, JsonSchema, Ord, PartialEq, PartialOrd, Serialize,
)]
pub enum Structure {
    /// Two connections, each of one block.
    #[serde(rename = "harpoon")]
    Harpoon,
    /// One connection, in which both ends send a block at once.
    #[serde(rename = "block-concurrent")]
    BlockConcurrent,
    /// One request of everything, one response of everything.
    #[serde(rename = "block-sequential")]
    BlockSequential,
    /// Epochs without waits.
    #[serde(rename = "a-b")]
    AB,
    /// Epochs with the time to answer.
    #[serde(rename = "a-t-b")]
    ATB,
    /// Everything.
    #[serde(rename = "a-t-b-t")]
    ATBT,
}

/// What becomes of one vector. All but [`Structure::Harpoon`] make one connection that the same end opens.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Pieces {
    /// Opened by the end that opened the original.
    pub forth: Option<Vector>,
    /// Opened by the original's acceptor. Its pairs are therefore in the other order: its initiator is the acceptor's host.
    pub back: Option<Vector>,
}

impl Pieces {
    /// The connections, each with the end of the original that opens it.
    pub fn iter(&self) -> impl Iterator<Item = (Side, &Vector)> {
        let forth = self.forth.iter().map(|vector| (Side::Initiator, vector));
        let back = self.back.iter().map(|vector| (Side::Acceptor, vector));
        forth.chain(back)
    }
}

impl Structure {
    /// All, in the order of the ladder.
    pub const ALL: [Self; 6] = [
        Self::Harpoon,
        Self::BlockConcurrent,
        Self::BlockSequential,
        Self::AB,
        Self::ATB,
        Self::ATBT,
    ];

    /// Its name, as in D.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Harpoon => "harpoon",
            Self::BlockConcurrent => "block-concurrent",
            Self::BlockSequential => "block-sequential",
            Self::AB => "a-b",
            Self::ATB => "a-t-b",
            Self::ATBT => "a-t-b-t",
        }
    }

    /// Rewrites a vector. Start, round-trip time, windows, loss and segment sizes stay. The models are of TCP: a flow of UDP
    /// stays as it is.
    pub fn apply(self, vector: Vector, latencies: &Latencies) -> Pieces {
        if vector.transport == Transport::Udp {
            return Pieces {
                forth: Some(vector),
                back: None,
            };
        }
        if self == Self::Harpoon {
            return harpoon(&vector);
        }
        let rtt = vector.min_rtt;
        let body = match (self, vector.body) {
            (Self::BlockSequential, body) => request_and_response(&body),
            (Self::AB, Body::Sequential { turns, .. }) => {
                sequential(turns, |_, _| None, Some(Duration::ZERO))
            }
            (Self::ATB, Body::Sequential { turns, .. }) => {
                let wait = |kind, wait| (kind == Wait::Within).then_some(wait);
                let waits = move |kind, time| {
                    wait(kind, time).map(|wait| latencies.within_epoch(wait, rtt))
                };
                sequential(turns, waits, Some(Duration::ZERO))
            }
            (Self::ATBT, Body::Sequential { turns, tail }) => {
                let waits = |kind, wait| Some(emulated(latencies, kind, wait, rtt));
                sequential(turns, waits, latencies.at_last(tail))
            }
            (Self::ATB | Self::ATBT, Body::Concurrent { turns, tails }) => {
                concurrent(turns, tails, latencies)
            }
            (_, body) => both_at_once(&body),
        };
        Pieces {
            forth: Some(Vector { body, ..vector }),
            back: None,
        }
    }
}

/// What a wait of a sequential connection stands between.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Wait {
    /// The handshake and the first ADU.
    First,
    /// A request and its response: *ta*.
    Within,
    /// An epoch and the next: *tb*.
    Between,
}

fn emulated(latencies: &Latencies, kind: Wait, wait: Duration, rtt: Option<Duration>) -> Duration {
    match kind {
        Wait::First => latencies.at_first(wait),
        Wait::Within => latencies.within_epoch(wait, rtt),
        Wait::Between => latencies.emulated(wait),
    }
}

/// Gives each ADU the wait that `waits` says; where that is none, it joins the one before if the same end sent both.
fn sequential(
    turns: Vec<Turn>,
    waits: impl Fn(Wait, Duration) -> Option<Duration>,
    tail: Option<Duration>,
) -> Body {
    let mut kept: Vec<Turn> = Vec::with_capacity(turns.len());
    let mut before = None;
    for turn in turns {
        let kind = match before.replace(turn.side) {
            None => Wait::First,
            Some(Side::Initiator) if turn.side == Side::Acceptor => Wait::Within,
            Some(_) => Wait::Between,
        };
        let wait = waits(kind, turn.wait);
        match kept.last_mut().filter(|last| last.side == turn.side) {
            Some(last) if wait.is_none() => last.bytes = last.bytes.saturating_add(turn.bytes),
            _ => kept.push(Turn {
                wait: wait.unwrap_or_default(),
                ..turn
            }),
        }
    }
    let tail = tail.filter(|_| !kept.is_empty());
    Body::Sequential { turns: kept, tail }
}

/// All ADUs, and the waits that are long enough.
fn concurrent(mut turns: Vec<Turn>, tails: [Option<Duration>; 2], latencies: &Latencies) -> Body {
    let mut spoken = [false; 2];
    for turn in &mut turns {
        let again = core::mem::replace(&mut spoken[turn.side.index()], true);
        turn.wait = if again {
            latencies.emulated(turn.wait)
        } else {
            latencies.at_first(turn.wait)
        };
    }
    let tails = Side::BOTH.map(|side| {
        let tail = latencies.at_last(tails[side.index()]);
        tail.filter(|_| spoken[side.index()])
    });
    Body::Concurrent { turns, tails }
}

/// One block of each end that sent anything.
fn blocks(body: &Body) -> Vec<Turn> {
    let block = |side| Turn {
        side,
        bytes: body.bytes(side),
        wait: Duration::ZERO,
    };
    let blocks = Side::BOTH.into_iter().map(block);
    blocks.filter(|turn| turn.bytes > 0).collect()
}

fn both_at_once(body: &Body) -> Body {
    let tail = |side| (body.bytes(side) > 0).then_some(Duration::ZERO);
    Body::Concurrent {
        turns: blocks(body),
        tails: Side::BOTH.map(tail),
    }
}

fn request_and_response(body: &Body) -> Body {
    let turns = blocks(body);
    let tail = (!turns.is_empty()).then_some(Duration::ZERO);
    Body::Sequential { turns, tail }
}

/// Each end opens a connection of its own at the same time, sends its block, and closes. An end that sent nothing does not.
fn harpoon(vector: &Vector) -> Pieces {
    let [forth, back] = Side::BOTH.map(|side| {
        let bytes = vector.body.bytes(side);
        (bytes > 0).then(|| opened_by(side, vector, bytes))
    });
    Pieces { forth, back }
}

/// A connection that `side` opens to send so much.
fn opened_by(side: Side, vector: &Vector, bytes: u64) -> Vector {
    let block = Turn {
        side: Side::Initiator,
        bytes,
        wait: Duration::ZERO,
    };
    let mut piece = Vector {
        body: Body::Sequential {
            turns: vec![block],
            tail: Some(Duration::ZERO),
        },
        ..*vector
    };
    if side == Side::Acceptor {
        piece.windows.reverse();
        piece.loss.reverse();
        if let Some(mss) = &mut piece.mss {
            mss.reverse();
        }
    }
    piece
}

impl fmt::Display for Structure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// No structure has this name.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("`{0}` is none of harpoon, block-concurrent, block-sequential, a-b, a-t-b and a-t-b-t")]
pub struct UnknownStructure(String);

impl FromStr for Structure {
    type Err = UnknownStructure;

    /// Its name, or D's short name of the blocks: `blk-conc`, `blk-seq`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let long = match text {
            "blk-conc" => "block-concurrent",
            "blk-seq" => "block-sequential",
            name => name,
        };
        let named = Self::ALL.into_iter().find(|model| model.name() == long);
        named.ok_or_else(|| UnknownStructure(text.to_owned()))
    }
}

#[cfg(test)]
mod tests;
