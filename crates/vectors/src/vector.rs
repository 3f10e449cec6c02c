//! A connection vector and its parts.

use crate::Loss;
use core::iter::Peekable;
use core::slice;
use core::time::Duration;

/// The most ADUs of one vector, everywhere: a file that has more is refused, and a connection of a capture that has more is
/// cut in two. The measured traces have one connection in two thousand of more than a thousand epochs (Aikat 2010,
/// section 3.1.3.1).
pub const MAX_ADUS: usize = 1 << 20;

/// An end of a connection.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Side {
    /// Who opened it: the sender of the first SYN.
    Initiator,
    /// Who accepted it.
    Acceptor,
}

impl Side {
    /// Both, in the order of all pairs of figures in a vector.
    pub const BOTH: [Self; 2] = [Self::Initiator, Self::Acceptor];

    /// The other end.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Initiator => Self::Acceptor,
            Self::Acceptor => Self::Initiator,
        }
    }

    /// Its place in a pair.
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// What carries what the ends say.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Transport {
    /// A connection of TCP.
    #[default]
    Tcp,
    /// A flow of UDP: see [`crate::extract::udp`] for what a vector says of it.
    Udp,
}

/// An application data unit: what one end sent before it waited.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Turn {
    /// Who sent it.
    pub side: Side,
    /// Its size in octets, at least one.
    pub bytes: u64,
    /// The time since the end of the ADU before it: in a sequential connection the one before, whoever sent it; in a
    /// concurrent one the last of the same end. For the first it is the time since the connection was established, of which
    /// the original cvec form knows nothing.
    pub wait: Duration,
}

/// What the ends said, and when.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Body {
    /// The ends took turns. One end may have several ADUs in a row, with a quiet time between.
    Sequential {
        /// In order.
        turns: Vec<Turn>,
        /// From the end of the last ADU to the end of the connection; unknown when that was not seen.
        tail: Option<Duration>,
    },
    /// The ends sent independently of each other.
    Concurrent {
        /// In the order in which they began.
        turns: Vec<Turn>,
        /// From the end of each end's last ADU to when it closed; unknown when that was not seen.
        tails: [Option<Duration>; 2],
    },
}

impl Body {
    /// Its ADUs.
    pub fn turns(&self) -> &[Turn] {
        match self {
            Self::Sequential { turns, .. } | Self::Concurrent { turns, .. } => turns,
        }
    }

    /// Whether the ends took turns.
    pub const fn is_sequential(&self) -> bool {
        matches!(self, Self::Sequential { .. })
    }

    /// ADUs that one end sent.
    pub fn adus(&self, side: Side) -> usize {
        self.turns().iter().filter(|turn| turn.side == side).count()
    }

    /// Octets that one end sent.
    pub fn bytes(&self, side: Side) -> u64 {
        let of_side = self.turns().iter().filter(|turn| turn.side == side);
        of_side.fold(0, |sum, turn| sum.saturating_add(turn.bytes))
    }

    /// Whether the close of an end that sent something is missing.
    pub fn is_unfinished(&self) -> bool {
        match self {
            Self::Sequential { tail, .. } => tail.is_none(),
            Self::Concurrent { turns, tails } => {
                let missing = |turn: &Turn| tails[turn.side.index()].is_none();
                turns.iter().any(missing)
            }
        }
    }

    /// The epochs of a sequential connection; a concurrent one has none.
    pub fn epochs(&self) -> Epochs<'_> {
        let turns = match self {
            Self::Sequential { turns, .. } => turns.as_slice(),
            Self::Concurrent { .. } => &[],
        };
        Epochs {
            turns: turns.iter().peekable(),
        }
    }
}

/// A request, its response, and the waits after each (Aikat 2010, section 2.3.2).
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Epoch {
    /// Octets of the request; zero when the acceptor spoke unasked.
    pub a: u64,
    /// From the end of the request to the response, *intra-epoch*; zero when one of them is missing.
    pub ta: Duration,
    /// Octets of the response; zero when there was none.
    pub b: u64,
    /// From the end of the epoch to the next, *inter-epoch*; `None` for the last.
    pub tb: Option<Duration>,
}

/// See [`Body::epochs`].
#[derive(Clone, Debug)]
pub struct Epochs<'a> {
    turns: Peekable<slice::Iter<'a, Turn>>,
}

impl Iterator for Epochs<'_> {
    type Item = Epoch;

    /// A request begins an epoch, and so does a response that follows no request.
    fn next(&mut self) -> Option<Epoch> {
        let first = self.turns.next()?;
        let mut epoch = Epoch::default();
        match first.side {
            Side::Acceptor => epoch.b = first.bytes,
            Side::Initiator => {
                epoch.a = first.bytes;
                if let Some(response) = self.turns.next_if(|turn| turn.side == Side::Acceptor) {
                    epoch.ta = response.wait;
                    epoch.b = response.bytes;
                }
            }
        }
        epoch.tb = self.turns.peek().map(|next| next.wait);
        Some(epoch)
    }
}

/// A connection, as far as it can be replayed. Pairs are of the initiator and the acceptor, in this order.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Vector {
    /// What carried it.
    pub transport: Transport,
    /// When it began, from the beginning of the trace.
    pub start: Duration,
    /// Two numbers of the file it came from; the second is that of the connection.
    pub ids: [u64; 2],
    /// The largest receive window that each end advertised, in octets, scaled.
    pub windows: [u32; 2],
    /// The shortest time from a segment to its acknowledgement over the whole path; unknown when no half of the path, or
    /// only one, showed an exchange.
    pub min_rtt: Option<Duration>,
    /// Segments lost of those that each end sent.
    pub loss: [Loss; 2],
    /// The largest segment that each end sends, in octets, when it is known; of a flow of UDP the largest datagram's payload, and
    /// zero for an end that sent none.
    pub mss: Option<[u32; 2]>,
    /// What the ends said.
    pub body: Body,
}

#[cfg(test)]
mod tests {
    use super::*;
    use Side::{Acceptor, Initiator};

    const fn turn(side: Side, bytes: u64, wait_ms: u64) -> Turn {
        Turn {
            side,
            bytes,
            wait: Duration::from_millis(wait_ms),
        }
    }

    fn sequential(turns: &[Turn]) -> Body {
        Body::Sequential {
            turns: turns.to_vec(),
            tail: None,
        }
    }

    /// Holds tmix/vector.
    #[test]
    fn epochs_are_requests_with_their_responses() {
        let body = sequential(&[
            turn(Initiator, 100, 0),
            turn(Acceptor, 2_000, 30),
            turn(Initiator, 50, 700),
            turn(Acceptor, 1, 4),
        ]);
        let ms = Duration::from_millis;
        let [first, second] = [(100, 30, 2_000, Some(ms(700))), (50, 4, 1, None)];
        let expected = [first, second].map(|(a, ta, b, tb)| Epoch {
            a,
            ta: ms(ta),
            b,
            tb,
        });
        assert_eq!(body.epochs().collect::<Vec<_>>(), expected);
        assert_eq!((body.bytes(Initiator), body.bytes(Acceptor)), (150, 2_001));
    }

    /// Holds tmix/vector.
    #[test]
    fn an_end_that_speaks_twice_begins_an_epoch_each_time() {
        let body = sequential(&[
            turn(Acceptor, 1, 0),
            turn(Initiator, 2, 5),
            turn(Initiator, 3, 600),
            turn(Acceptor, 4, 5),
            turn(Acceptor, 5, 900),
        ]);
        let sizes: Vec<_> = body.epochs().map(|epoch| (epoch.a, epoch.b)).collect();
        assert_eq!(sizes, [(0, 1), (2, 0), (3, 4), (0, 5)]);
    }

    #[test]
    fn a_concurrent_connection_has_no_epochs() {
        let body = Body::Concurrent {
            turns: vec![turn(Initiator, 1, 0), turn(Acceptor, 1, 0)],
            tails: [None; 2],
        };
        assert_eq!(body.epochs().count(), 0);
        assert_eq!(body.adus(Acceptor), 1);
    }
}
