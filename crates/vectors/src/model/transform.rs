//! All three models at once.

use super::rtt::Rtts;
use super::{Conserved, Footprint, Latencies, Pieces, Structure, Windows};
use crate::{Transport, Vector};

/// A structure, round-trip times and windows: what a replay plays of a trace.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Transform {
    /// How the ends send.
    pub structure: Structure,
    /// Which waits they keep.
    pub latencies: Latencies,
    /// How far they are apart: a model, with what it needs of the set ([`Model::resolve`](super::rtt::Model::resolve)); as
    /// the vector has it, if none.
    pub rtts: Option<Rtts>,
    /// How much may be under way.
    pub windows: Windows,
    /// Of what is left to chance.
    pub seed: u64,
}

impl Transform {
    /// Rewrites the vector at place `index` of its set, and enters it in the counters.
    ///
    /// The round-trip time that [`Latencies::subtract_rtt`] takes off is the one that was measured, not the one that is
    /// assigned. Both connections of *harpoon* take the same path. Of a flow of UDP only the round-trip time changes.
    pub fn apply(&self, vector: Vector, index: u64, counters: &mut Conserved) -> Pieces {
        let before = Footprint::of(&vector);
        let mut pieces = self.structure.apply(vector, &self.latencies);
        for piece in [&mut pieces.forth, &mut pieces.back].into_iter().flatten() {
            if let Some(rtts) = &self.rtts {
                rtts.apply(piece, index, self.seed);
            }
            if piece.transport == Transport::Tcp {
                self.windows.apply(piece);
            }
        }
        counters.enter(before, &pieces);
        pieces
    }
}

impl Transform {
    /// Leaves every vector as it is.
    pub const NONE: Self = Self {
        structure: Structure::ATBT,
        latencies: Latencies::ALL,
        rtts: None,
        windows: Windows::Empirical,
        seed: 0,
    };
}

#[cfg(test)]
mod tests {
    use super::super::rtt::Model;
    use super::super::samples::{a, any_vector, b, ms, sequential, vector};
    use super::*;
    use crate::model::rtt::UNC_2008;
    use crate::{Body, Side};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn none_is_none(vector in any_vector()) {
            prop_assume!(!vector.body.turns().is_empty());
            let mut counters = Conserved::default();
            let pieces = Transform::NONE.apply(vector.clone(), 7, &mut counters);
            let mut expected = vector;
            // An end that said nothing has no last ADU.
            if let Body::Concurrent { turns, tails } = &mut expected.body {
                for side in Side::BOTH {
                    let spoke = turns.iter().any(|turn| turn.side == side);
                    tails[side.index()] = tails[side.index()].filter(|_| spoke);
                }
            }
            prop_assert_eq!(pieces.forth, Some(expected));
        }
    }

    #[test]
    fn the_three_models_do_not_know_of_each_other() {
        let transform = Transform {
            structure: Structure::Harpoon,
            latencies: Latencies::default(),
            rtts: Model::Mean.published(&UNC_2008),
            windows: Windows::Fixed(16),
            seed: 1,
        };
        let mut counters = Conserved::default();
        let vector = vector(sequential(&[a(10, 0), b(20, 900)], None));
        let pieces = transform.apply(vector, 0, &mut counters);
        for (_, piece) in pieces.iter() {
            assert_eq!(piece.min_rtt, Some(ms(80)));
            assert_eq!(piece.windows, [16_384; 2]);
        }
        assert!(counters.holds());
        assert_eq!((counters.vectors, counters.connections), (1, 2));
    }
}
