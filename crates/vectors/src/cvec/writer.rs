//! Writing, vector by vector.

use super::Format;
use super::body::counts;
use super::line::Counts;
use crate::{Body, Side, Transport, Turn, Vector};
use core::time::Duration;
use std::io::{self, Write};

const LETTERS: [char; 2] = ['I', 'A'];
const ARROWS: [char; 2] = ['>', '<'];

/// Writes a file; give it something buffered.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    format: Format,
}

impl<W: Write> Writer<W> {
    /// A file in this form.
    pub const fn new(out: W, format: Format) -> Self {
        Self { out, format }
    }

    /// Adds a comment; a line of it that has no `#` is given one.
    ///
    /// # Errors
    ///
    /// When `out` cannot be written; so in all methods.
    pub fn comment(&mut self, text: &[u8]) -> io::Result<()> {
        for line in text.split(|&octet| octet == b'\n' || octet == b'\r') {
            if line.is_empty() {
                continue;
            }
            if line[0] != b'#' {
                self.out.write_all(b"# ")?;
            }
            self.out.write_all(line)?;
            self.out.write_all(b"\n")?;
        }
        Ok(())
    }

    /// Adds a vector. Times are rounded to microseconds. ns-2 wants vectors in the order of their starts.
    ///
    /// # Errors
    ///
    /// When it is a flow of UDP, of which the format knows nothing; else see [`Writer::comment`].
    pub fn vector(&mut self, vector: &Vector) -> io::Result<()> {
        if vector.transport == Transport::Udp {
            let problem = "a cvec file has no flows of UDP";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
        }
        self.header(vector)?;
        match (self.format, &vector.body) {
            (Format::Original, Body::Sequential { turns, tail }) => self.original(turns, *tail),
            (Format::Original, Body::Concurrent { turns, tails }) => {
                self.original_concurrent(turns, tails)
            }
            (Format::Alternate, body) => self.alternate(body),
        }
    }

    /// Gives back what was written to, flushed.
    ///
    /// # Errors
    ///
    /// See [`Writer::comment`].
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }

    fn header(&mut self, vector: &Vector) -> io::Result<()> {
        let out = &mut self.out;
        let long = self.format == Format::Original;
        let start = micros(vector.start);
        let [first, second] = vector.ids;
        match counts(&vector.body) {
            Counts::Epochs(epochs) => {
                let sign = if long { "SEQ" } else { "S" };
                writeln!(out, "{sign} {start} {epochs} {first} {second}")?;
            }
            Counts::Adus([ours, theirs]) => {
                let sign = if long { "CONC" } else { "C" };
                writeln!(out, "{sign} {start} {ours} {theirs} {first} {second}")?;
            }
        }
        writeln!(out, "w {} {}", vector.windows[0], vector.windows[1])?;
        writeln!(out, "r {}", micros(vector.min_rtt.unwrap_or_default()))?;
        writeln!(out, "l {} {}", vector.loss[0], vector.loss[1])?;
        if let Some([ours, theirs]) = vector.mss {
            writeln!(out, "m {ours} {theirs}")?;
        }
        Ok(())
    }

    fn original(&mut self, turns: &[Turn], tail: Option<Duration>) -> io::Result<()> {
        for (at, turn) in turns.iter().enumerate() {
            if at > 0 {
                writeln!(self.out, "t {}", micros(turn.wait))?;
            }
            writeln!(self.out, "{} {}", ARROWS[turn.side.index()], turn.bytes)?;
        }
        tail.map_or(Ok(()), |tail| writeln!(self.out, "t {}", micros(tail)))
    }

    /// A wait stands after the ADU before it, so it is looked up in the next ADU of the same end.
    fn original_concurrent(
        &mut self,
        turns: &[Turn],
        tails: &[Option<Duration>; 2],
    ) -> io::Result<()> {
        let of = |side| turns.iter().filter(move |turn: &&Turn| turn.side == side);
        let mut waits = Side::BOTH.map(|side| of(side).skip(1).map(|turn| turn.wait));
        for turn in turns {
            let place = turn.side.index();
            let arrow = ARROWS[place];
            writeln!(self.out, "c{arrow} {}", turn.bytes)?;
            if let Some(wait) = waits[place].next().or(tails[place]) {
                writeln!(self.out, "t{arrow} {}", micros(wait))?;
            }
        }
        Ok(())
    }

    fn alternate(&mut self, body: &Body) -> io::Result<()> {
        let concurrent = !body.is_sequential();
        let mut last: [Option<Side>; 2] = [None; 2];
        for turn in body.turns() {
            let before = &mut last[if concurrent { turn.side.index() } else { 0 }];
            let wait = match *before {
                None => micros(turn.wait),
                Some(_) => micros(turn.wait).max(1),
            };
            let received = before
                .replace(turn.side)
                .is_some_and(|side| side != turn.side);
            let [sent, received] = if received { [0, wait] } else { [wait, 0] };
            let letter = LETTERS[turn.side.index()];
            writeln!(self.out, "{letter} {sent} {received} {}", turn.bytes)?;
        }
        match body {
            Body::Sequential { tail, .. } => self.end(last[0], *tail),
            Body::Concurrent { tails, .. } => Side::BOTH
                .into_iter()
                .try_for_each(|side| self.end(last[side.index()], tails[side.index()])),
        }
    }

    /// The end of the connection, by who sent last.
    fn end(&mut self, side: Option<Side>, tail: Option<Duration>) -> io::Result<()> {
        let (Some(side), Some(tail)) = (side, tail) else {
            return Ok(());
        };
        let letter = LETTERS[side.index()];
        writeln!(self.out, "{letter} {} 0 0", micros(tail).max(1))
    }
}

/// Rounded.
fn micros(time: Duration) -> u128 {
    (time.as_nanos() + 500) / 1_000
}
