//! The datagrams that passed one end of one transfer, in memory.
//!
//! An entry is 13 octets and the beginning of the datagram, one behind the other in chunks that are as long as one line of
//! the control connection can carry: so a journal goes to the other end as it is.
//!
//! ```text
//!  0        8       9     10     12      13
//!  | t (ns) | class | way | len | kept  | octets ... |      little-endian octets
//! ```

use thiserror::Error;
use transport::wire::{LONGEST_ACK, SEGMENT_HEADER};
use units::TrafficClass;

/// Octets of a chunk: as base64 they and a message around them are shorter than the longest line.
const CHUNK: usize = 45_000;
const HEAD: usize = 13;
/// Kind octet of acknowledgements, which are kept whole; of what else there is the header is all that means something.
const ACK: Option<&u8> = Some(&5);

/// Which way a datagram went.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Way {
    In,
    Out,
}

/// A datagram that passed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Entry<'a> {
    /// When, after the run's start.
    pub t_ns: u64,
    /// DSCP and ECN, as it was sent or as it arrived.
    pub class: TrafficClass,
    pub way: Way,
    /// Octets that it had.
    pub len: u16,
    /// Its beginning.
    pub octets: &'a [u8],
}

/// What the other end sent is no chunk of a journal.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
#[error("the far end's packet trace is malformed")]
pub(crate) struct Malformed;

/// What passed one end, up to a number of datagrams.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    chunks: Vec<Vec<u8>>,
    most: u64,
    kept: u64,
    left_out: u64,
}

impl Journal {
    /// A journal with room for `most` datagrams.
    pub(crate) fn new(most: u64) -> Self {
        Self {
            most,
            ..Self::default()
        }
    }

    /// Notes a datagram, as much of `octets` as means something.
    pub(crate) fn note(&mut self, way: Way, t_ns: u64, class: TrafficClass, octets: &[u8]) {
        if self.kept >= self.most {
            self.left_out += 1;
            return;
        }
        self.kept += 1;
        let most = if octets.get(5) == ACK {
            LONGEST_ACK
        } else {
            SEGMENT_HEADER
        };
        let kept = &octets[..octets.len().min(most)];
        let chunk = self.chunk_for(HEAD + kept.len());
        chunk.extend(t_ns.to_le_bytes());
        chunk.extend([class.octet(), u8::from(way == Way::Out)]);
        chunk.extend(
            u16::try_from(octets.len())
                .unwrap_or(u16::MAX)
                .to_le_bytes(),
        );
        // At most LONGEST_ACK.
        chunk.push(u8::try_from(kept.len()).unwrap_or(u8::MAX));
        chunk.extend(kept);
    }

    /// The last chunk, or a new one if it has no room for so many octets.
    fn chunk_for(&mut self, octets: usize) -> &mut Vec<u8> {
        let is_full = |chunk: &Vec<u8>| chunk.len() + octets > CHUNK;
        if self.chunks.last().is_none_or(is_full) {
            self.chunks.push(Vec::with_capacity(CHUNK));
        }
        let last = self.chunks.len() - 1;
        &mut self.chunks[last]
    }

    /// What is kept, in order.
    pub(crate) fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        self.chunks.iter().flat_map(|chunk| Entries(chunk))
    }

    /// The octets of what is kept, cut between entries.
    pub(crate) fn chunks(&self) -> impl Iterator<Item = &[u8]> {
        self.chunks.iter().map(Vec::as_slice)
    }

    /// Adds a chunk of another journal's.
    ///
    /// # Errors
    ///
    /// When it is none, or there is no room for it.
    pub(crate) fn add_chunk(&mut self, chunk: Vec<u8>) -> Result<(), Malformed> {
        let mut entries = Entries(&chunk);
        let count = entries.by_ref().count() as u64;
        if !entries.0.is_empty() || count == 0 || self.kept + count > self.most {
            return Err(Malformed);
        }
        self.kept += count;
        self.chunks.push(chunk);
        Ok(())
    }

    /// The other end says that it has left out so many.
    pub(crate) fn add_left_out(&mut self, count: u64) {
        self.left_out = self.left_out.saturating_add(count);
    }

    /// Datagrams that are kept.
    pub(crate) const fn kept(&self) -> u64 {
        self.kept
    }

    /// Datagrams that passed beyond those that are kept.
    pub(crate) const fn left_out(&self) -> u64 {
        self.left_out
    }
}

/// The entries of a chunk; what is no entry stays.
struct Entries<'a>(&'a [u8]);

impl<'a> Iterator for Entries<'a> {
    type Item = Entry<'a>;

    fn next(&mut self) -> Option<Entry<'a>> {
        let (head, rest) = self.0.split_first_chunk::<HEAD>()?;
        let [t @ .., class, way, len0, len1, kept] = *head;
        let octets = rest.get(..usize::from(kept))?;
        let way = match way {
            0 => Way::In,
            1 => Way::Out,
            _ => return None,
        };
        self.0 = &rest[octets.len()..];
        Some(Entry {
            t_ns: u64::from_le_bytes(t),
            class: TrafficClass::from_octet(class),
            way,
            len: u16::from_le_bytes([len0, len1]),
            octets,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn datagram(kind: u8, length: usize) -> Vec<u8> {
        let mut octets = vec![7; length];
        if let Some(octet) = octets.get_mut(5) {
            *octet = kind;
        }
        octets
    }

    #[test]
    fn of_a_segment_the_header_is_kept_and_of_an_acknowledgement_all() {
        let mut journal = Journal::new(10);
        let class = TrafficClass::from_octet(0xb9);
        journal.note(Way::Out, 1, class, &datagram(4, 1_472));
        journal.note(Way::In, 2, class, &datagram(5, 80));
        let entries: Vec<_> = journal.entries().collect();
        assert_eq!((entries[0].len, entries[0].octets.len()), (1_472, 48));
        assert_eq!((entries[1].len, entries[1].octets.len()), (80, 80));
        assert_eq!((entries[0].way, entries[1].way), (Way::Out, Way::In));
        assert_eq!((entries[0].class, entries[1].t_ns), (class, 2));
    }

    #[test]
    fn what_is_beyond_the_limit_is_counted() {
        let mut journal = Journal::new(2);
        for t_ns in 0..5 {
            journal.note(Way::In, t_ns, TrafficClass::default(), b"x");
        }
        assert_eq!((journal.kept(), journal.left_out()), (2, 3));
        assert_eq!(journal.entries().count(), 2);
    }

    #[test]
    fn a_chunk_that_says_too_much_is_refused() {
        let mut journal = Journal::new(1);
        let mut other = Journal::new(2);
        other.note(Way::In, 0, TrafficClass::default(), b"x");
        other.note(Way::In, 0, TrafficClass::default(), b"x");
        let chunk = other.chunks().next().unwrap().to_vec();
        assert_eq!(journal.add_chunk(chunk.clone()), Err(Malformed));
        assert_eq!(
            journal.add_chunk(chunk[..chunk.len() - 1].to_vec()),
            Err(Malformed)
        );
        assert_eq!(journal.add_chunk(Vec::new()), Err(Malformed));
        assert_eq!(journal.add_chunk(chunk[..14].to_vec()), Ok(()));
    }

    proptest! {
        #[test]
        fn a_journal_arrives_at_the_other_end_as_it_was(
            passed in prop::collection::vec((any::<bool>(), any::<u64>(), any::<u8>(), 0_usize..200), 0..2_000),
        ) {
            let mut journal = Journal::new(u64::MAX);
            for (out, t_ns, class, length) in passed {
                let way = if out { Way::Out } else { Way::In };
                journal.note(way, t_ns, TrafficClass::from_octet(class), &datagram(5, length));
            }
            let mut arrived = Journal::new(u64::MAX);
            for chunk in journal.chunks() {
                prop_assert!(chunk.len() <= CHUNK);
                prop_assert_eq!(arrived.add_chunk(chunk.to_vec()), Ok(()));
            }
            prop_assert_eq!(arrived.kept(), journal.kept());
            prop_assert!(arrived.entries().eq(journal.entries()));
        }

        #[test]
        fn any_octets_are_a_chunk_or_refused(octets in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut journal = Journal::new(5);
            let _ = journal.add_chunk(octets);
            prop_assert!(journal.entries().count() as u64 == journal.kept());
        }
    }
}
