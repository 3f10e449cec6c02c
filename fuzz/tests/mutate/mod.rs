//! Mutations of a corpus: a few changes at random, as libFuzzer makes them, without its knowledge of what they reach.

/// Longest input.
const LONGEST: usize = 16 << 10;
/// Values at which counters, lengths and offsets turn.
const TURNS: [u64; 12] = [
    0,
    1,
    0x7f,
    0xff,
    0x7fff,
    0xffff,
    0x10000,
    300_000_000,
    0x7fff_ffff,
    0xffff_ffff,
    0x7fff_ffff_ffff_ffff,
    u64::MAX,
];
/// What numbers in texts become.
const NUMBERS: [&str; 10] = [
    "0",
    "-1",
    "1e308",
    "nan",
    "4294967296",
    "18446744073709551616",
    "99999999999999999999h",
    "0.0000000001",
    "\"\"",
    "[]",
];

/// Draws inputs; the same ones from the same seed and corpus.
#[derive(Debug)]
pub(crate) struct Mutator<'a> {
    /// State of `SplitMix64`.
    state: u64,
    corpus: &'a [Vec<u8>],
    octets: Vec<u8>,
}

impl<'a> Mutator<'a> {
    pub(crate) const fn new(seed: u64, corpus: &'a [Vec<u8>]) -> Self {
        Self {
            state: seed,
            corpus,
            octets: Vec::new(),
        }
    }

    /// The next input.
    pub(crate) fn draw(&mut self) -> &[u8] {
        let from = self.below(self.corpus.len());
        self.octets.clone_from(&self.corpus[from]);
        for _ in 0..=self.below(4) {
            self.change();
        }
        self.octets.truncate(LONGEST);
        &self.octets
    }

    fn random(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// At random from 0 up to `most`, which is left out (0 of nothing).
    fn below(&mut self, most: usize) -> usize {
        usize::try_from(self.random() % most.max(1) as u64).unwrap()
    }

    /// A place in the input, and another behind it or the same.
    fn span(&mut self) -> std::ops::Range<usize> {
        let begin = self.below(self.octets.len() + 1);
        begin..begin + self.below(self.octets.len() - begin + 1)
    }

    fn change(&mut self) {
        match self.below(8) {
            0 => self.flip(),
            1 => self.write_turn(),
            2 => self.write_number(),
            3 => {
                let span = self.span();
                self.octets.drain(span);
            }
            4 => {
                // Room for what it is joined with.
                self.octets.truncate(LONGEST);
                let span = self.span();
                let piece = self.octets[span].to_vec();
                self.insert(&piece);
            }
            5 => {
                let other = self.below(self.corpus.len());
                let piece = &self.corpus[other];
                let begin = self.below(piece.len());
                self.insert(&piece[begin..]);
            }
            6 => {
                let length = self.below(self.octets.len() + 1);
                self.octets.truncate(length);
            }
            _ => {
                let piece = self.random().to_le_bytes();
                let length = 1 + self.below(piece.len());
                self.insert(&piece[..length]);
            }
        }
    }

    fn flip(&mut self) {
        let (at, bit) = (self.below(self.octets.len()), self.below(8));
        if let Some(octet) = self.octets.get_mut(at) {
            *octet ^= 1 << bit;
        }
    }

    /// One of [`TURNS`] over what is there, in either order of octets, or a little beside it.
    fn write_turn(&mut self) {
        let value = TURNS[self.below(TURNS.len())].wrapping_add(self.random() % 3);
        let length = 1 << self.below(4);
        let octets = if self.below(2) == 0 {
            value.to_be_bytes()[8 - length..].to_vec()
        } else {
            value.to_le_bytes()[..length].to_vec()
        };
        let at = self.below(self.octets.len());
        for (old, new) in self.octets.iter_mut().skip(at).zip(octets) {
            *old = new;
        }
    }

    /// One of [`NUMBERS`] in the place of a number in a text.
    fn write_number(&mut self) {
        let from = self.below(self.octets.len());
        let is_digit = |octet: &u8| octet.is_ascii_digit();
        let Some(begin) = self.octets[from..].iter().position(is_digit) else {
            return;
        };
        let begin = from + begin;
        let digits = self.octets[begin..].iter().take_while(|&o| is_digit(o));
        let end = begin + digits.count();
        let number = NUMBERS[self.below(NUMBERS.len())];
        self.octets.splice(begin..end, number.bytes());
    }

    fn insert(&mut self, piece: &[u8]) {
        let at = self.below(self.octets.len() + 1);
        self.octets.splice(at..at, piece.iter().copied());
    }
}
