//! Whether the ends of a flow wait for each other, told from its first datagrams.

/// Datagrams that decide.
pub(super) const FIRST: usize = 256;
/// Octets of a datagram that is full (RFC 9000 section 14).
pub(super) const FULL: u32 = 1_200;
/// Datagrams in a row of an end that needs no answer.
const UNHEARD: usize = 64;
/// Datagrams without a quiet time of an end that keeps time.
const STEADY: usize = 16;

/// See the [module](super).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Form {
    Exchange,
    Isochronous,
}

/// A datagram with data.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Word {
    pub(super) at_ns: u64,
    pub(super) bytes: u32,
    /// The place of its sender.
    pub(super) place: u8,
}

/// What one end did in the first datagrams.
#[derive(Clone, Copy, Debug, Default)]
struct End {
    /// The most datagrams in a row, none of the other end between them; and so far.
    unheard: usize,
    in_a_row: usize,
    /// The most datagrams with less than a quiet time between them, and so far.
    steady: usize,
    in_time: usize,
    last_ns: Option<u64>,
    bytes: u64,
    /// Of these, those in full datagrams.
    full: u64,
}

impl End {
    fn says(&mut self, word: &Word, quiet_ns: u64) {
        self.in_a_row += 1;
        self.unheard = self.unheard.max(self.in_a_row);
        let gap = self
            .last_ns
            .map(|last_ns| word.at_ns.saturating_sub(last_ns));
        self.in_time = match gap {
            Some(gap) if gap < quiet_ns => self.in_time + 1,
            _ => 1,
        };
        self.steady = self.steady.max(self.in_time);
        self.last_ns = Some(word.at_ns);
        self.bytes += u64::from(word.bytes);
        if word.bytes >= FULL {
            self.full += u64::from(word.bytes);
        }
    }

    const fn is_full(&self) -> bool {
        self.full > 0 && self.full * 2 >= self.bytes
    }
}

impl Form {
    /// By the first datagrams of a flow.
    pub(super) fn of(first: &[Word], quiet_ns: u64) -> Self {
        let mut ends = [End::default(); 2];
        for word in first {
            let place = usize::from(word.place & 1);
            ends[place].says(word, quiet_ns);
            ends[1 - place].in_a_row = 0;
        }
        let alone = |end: &End| end.unheard == 0 || end.unheard >= UNHEARD;
        let in_time = |end: &End| end.steady >= STEADY;
        let transfer = ends.iter().any(End::is_full);
        if ends.iter().any(alone) || !transfer && ends.iter().any(in_time) {
            Self::Isochronous
        } else {
            Self::Exchange
        }
    }
}
