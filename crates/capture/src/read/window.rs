//! The piece of a capture that is in memory.

use std::io::{self, Read};

/// Octets that are read at once, and the least that are held.
const PIECE: usize = 256 << 10;
/// The most that are held: a block beyond that is refused.
pub(super) const LIMIT: usize = 16 << 20;

/// A piece of the input that moves along it.
#[derive(Debug)]
pub(super) struct Window {
    octets: Vec<u8>,
    /// Those not yet taken.
    start: usize,
    end: usize,
    /// Octets taken before `start`.
    taken: u64,
}

/// How [`Window::more`] ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum More {
    /// There are more octets than before.
    Some,
    /// The input has ended.
    End,
    /// The window is as large as it may be, and full.
    Full,
}

impl Window {
    pub(super) fn new() -> Self {
        Self {
            octets: vec![0; PIECE],
            start: 0,
            end: 0,
            taken: 0,
        }
    }

    /// What is there and not taken.
    #[inline]
    pub(super) fn octets(&self) -> &[u8] {
        &self.octets[self.start..self.end]
    }

    /// Takes `count` octets and says where they are; [`Window::get`] has them until the next [`Window::more`].
    #[inline]
    pub(super) fn take(&mut self, count: usize) -> usize {
        let at = self.start;
        self.start = (self.start + count).min(self.end);
        at
    }

    /// Octets that were taken.
    #[inline]
    pub(super) fn get(&self, at: usize, len: usize) -> &[u8] {
        self.octets.get(at..at + len).unwrap_or_default()
    }

    /// Offset in the input of the first octet that is not taken.
    pub(super) const fn offset(&self) -> u64 {
        self.taken + self.start as u64
    }

    /// Reads on.
    pub(super) fn more(&mut self, input: &mut impl Read) -> io::Result<More> {
        if self.end == self.octets.len() {
            self.make_room();
            if self.end == self.octets.len() {
                return Ok(More::Full);
            }
        }
        loop {
            match input.read(&mut self.octets[self.end..]) {
                Ok(0) => return Ok(More::End),
                Ok(count) => {
                    self.end += count;
                    return Ok(More::Some);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Moves what is left to the front, or grows when nothing was taken.
    fn make_room(&mut self) {
        if self.start > 0 {
            self.octets.copy_within(self.start..self.end, 0);
            self.taken += self.start as u64;
            self.end -= self.start;
            self.start = 0;
        } else if self.octets.len() < LIMIT {
            self.octets.resize(self.octets.len() * 2, 0);
        }
    }
}
