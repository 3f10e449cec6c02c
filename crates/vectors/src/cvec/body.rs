//! A vector that is being read.

use super::line::{Counts, Header, Line};
use super::reader::Problem;
use crate::{Body, Loss, MAX_ADUS, Side, Transport, Turn, Vector};
use core::time::Duration;

/// Header and what has been said so far.
#[derive(Debug)]
pub(super) struct Draft {
    header: Header,
    /// The line of the header.
    pub(super) line: u64,
    windows: Option<[u32; 2]>,
    min_rtt: Option<Duration>,
    loss: Option<[Loss; 2]>,
    mss: Option<[u32; 2]>,
    turns: Vec<Turn>,
    /// A wait that was read after the last ADU: of a sequential connection in the first place, of a concurrent one for
    /// each end.
    waits: [Option<Duration>; 2],
    /// In the alternate form, whether the end has closed; in the first place for sequential connections.
    closed: [bool; 2],
}

impl Draft {
    pub(super) fn new(header: Header, line: u64) -> Self {
        Self {
            header,
            line,
            windows: None,
            min_rtt: None,
            loss: None,
            mss: None,
            turns: Vec::new(),
            waits: [None; 2],
            closed: [false; 2],
        }
    }

    const fn concurrent(&self) -> bool {
        matches!(self.header.counts, Counts::Adus(_))
    }

    /// Where the waits of an end are kept.
    const fn lane(&self, side: Side) -> usize {
        if self.concurrent() { side.index() } else { 0 }
    }

    /// Whether an ADU came before in the lane of this end.
    fn began(&self, side: Side) -> bool {
        let concurrent = self.concurrent();
        let mut before = self.turns.iter().rev();
        before.any(|turn| !concurrent || turn.side == side)
    }

    /// Takes a line that is not a header.
    pub(super) fn take(&mut self, line: Line) -> Result<(), Problem> {
        match line {
            Line::Nothing | Line::Header(_) => Ok(()),
            Line::Windows(windows) => once(&mut self.windows, windows),
            Line::Rtt(rtt) => once(&mut self.min_rtt, rtt),
            Line::Loss(loss) => once(&mut self.loss, loss),
            Line::Mss(mss) => once(&mut self.mss, mss),
            Line::Adu {
                concurrent,
                side,
                bytes,
            } if self.original(concurrent) => self.adu(side, bytes),
            Line::Wait { side, wait } if self.original(side.is_some()) => self.wait(side, wait),
            Line::Both {
                side,
                sent,
                received,
                bytes,
            } if self.header.alternate => self.both(side, [sent, received], bytes),
            _ => Err(Problem::OtherForm),
        }
    }

    const fn original(&self, concurrent: bool) -> bool {
        !self.header.alternate && concurrent == self.concurrent()
    }

    fn adu(&mut self, side: Side, bytes: u64) -> Result<(), Problem> {
        if bytes == 0 {
            return Err(Problem::NoOctets);
        }
        let wait = self.waits[self.lane(side)].take();
        if wait.is_none() && self.began(side) {
            return Err(Problem::NoWait);
        }
        self.push(side, bytes, wait.unwrap_or_default())
    }

    fn wait(&mut self, side: Option<Side>, wait: Duration) -> Result<(), Problem> {
        let side = side.unwrap_or(Side::Initiator);
        let lane = self.lane(side);
        if self.waits[lane].is_some() || !self.began(side) {
            return Err(Problem::WaitAlone);
        }
        self.waits[lane] = Some(wait);
        Ok(())
    }

    /// A line of the alternate form, with the times after sending and after receiving.
    fn both(&mut self, side: Side, times: [Duration; 2], bytes: u64) -> Result<(), Problem> {
        let lane = self.lane(side);
        if self.closed[lane] {
            return Err(Problem::Closed);
        }
        // The first waits for nothing that was received, and a concurrent end never does.
        let before = self.turns.last().map_or(side, |turn| turn.side);
        let after_sending = self.concurrent() || before == side;
        let [wait, other] = if after_sending {
            times
        } else {
            [times[1], times[0]]
        };
        if !other.is_zero() {
            return Err(Problem::WrongWait);
        }
        if bytes > 0 {
            return self.push(side, bytes, wait);
        }
        if !self.began(side) {
            return Err(Problem::WaitAlone);
        }
        self.closed[lane] = true;
        self.waits[lane] = Some(wait);
        Ok(())
    }

    fn push(&mut self, side: Side, bytes: u64, wait: Duration) -> Result<(), Problem> {
        if self.turns.len() >= MAX_ADUS {
            return Err(Problem::ManyAdus);
        }
        self.turns.push(Turn { side, bytes, wait });
        Ok(())
    }

    /// The vector, if it is whole.
    pub(super) fn finish(self) -> Result<Vector, Problem> {
        let [tail, _] = self.waits;
        let body = match self.header.counts {
            Counts::Epochs(_) => Body::Sequential {
                turns: self.turns,
                tail,
            },
            Counts::Adus(_) => Body::Concurrent {
                turns: self.turns,
                tails: self.waits,
            },
        };
        if body.turns().is_empty() {
            return Err(Problem::NoAdus);
        }
        let counted = counts(&body);
        if counted != self.header.counts {
            return Err(Problem::Counts);
        }
        Ok(Vector {
            transport: Transport::Tcp,
            start: self.header.start,
            ids: self.header.ids,
            windows: self.windows.unwrap_or_default(),
            min_rtt: self.min_rtt.filter(|rtt| !rtt.is_zero()),
            loss: self.loss.unwrap_or_default(),
            mss: self.mss,
            body,
        })
    }
}

fn once<T>(place: &mut Option<T>, value: T) -> Result<(), Problem> {
    match place.replace(value) {
        Some(_) => Err(Problem::Twice),
        None => Ok(()),
    }
}

/// The counts that belong in the header of these ADUs.
pub(super) fn counts(body: &Body) -> Counts {
    let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
    match body {
        Body::Sequential { .. } => Counts::Epochs(count(body.epochs().count())),
        Body::Concurrent { .. } => Counts::Adus(Side::BOTH.map(|side| count(body.adus(side)))),
    }
}
