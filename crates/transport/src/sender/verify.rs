//! What an acknowledgement claims, checked against what can be true.
//!
//! A receiver that lies could make a sender flood a path (Savage and others, "TCP congestion control with a misbehaving
//! receiver", 1999). Here an acknowledgement names the packet that caused it and the highest one that arrived, by identifiers
//! that only their receipt reveals; whatever is beyond is refused as a whole, before anything has changed.

use super::{Sender, Violation};
use crate::{Ack, Seq, segment::MAX_BLOCKS};

/// An acknowledgement in the sender's own numbers, which cannot hurt any more.
#[derive(Clone, Copy, Debug)]
pub(super) struct Claim {
    pub(super) ack: u64,
    /// Counter of the packet that caused it.
    pub(super) cause: u64,
    blocks: [(u64, u64); MAX_BLOCKS],
    len: usize,
}

impl Claim {
    pub(super) fn blocks(&self) -> &[(u64, u64)] {
        self.blocks.get(..self.len).unwrap_or_default()
    }

    /// The first block, if it tells of a duplicate (RFC 2883 section 4).
    pub(super) fn duplicate(&self) -> Option<(u64, u64)> {
        let (first, rest) = self.blocks().split_first()?;
        let is_inside = |outer: &(u64, u64)| outer.0 <= first.0 && first.1 <= outer.1;
        (first.1 <= self.ack || rest.first().is_some_and(is_inside)).then_some(*first)
    }
}

impl Sender {
    pub(super) fn verify(&self, ack: &Ack) -> Result<Claim, Violation> {
        let known = |id| self.idents.counter(id).ok_or(Violation::UnknownPacket);
        let cause = known(ack.id)?;
        let proven = self.board.proven_by(known(ack.highest)?);
        let mut claim = Claim {
            ack: self.claimed(ack.ack, proven)?,
            cause,
            blocks: Default::default(),
            len: 0,
        };
        for (slot, (first, end)) in claim.blocks.iter_mut().zip(ack.sack.iter()) {
            *slot = (self.claimed(first, proven)?, self.claimed(end, proven)?);
            if slot.0 >= slot.1 {
                return Err(Violation::NeverSent);
            }
            claim.len += 1;
        }
        Ok(claim)
    }

    /// The number `seq`, when it is no more than has been sent and is `proven`.
    fn claimed(&self, seq: Seq, proven: u64) -> Result<u64, Violation> {
        let distance = i64::from(seq.minus(self.seq(self.board.una())));
        let number = self.board.una().checked_add_signed(distance);
        let number = number.filter(|number| *number <= self.board.next());
        let number = number.ok_or(Violation::NeverSent)?;
        if number > proven.max(self.board.una()) {
            return Err(Violation::Unproven);
        }
        Ok(number)
    }
}
