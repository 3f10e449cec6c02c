//! A set of vectors, scaled and rewritten, in bounded memory.
//!
//! A file is walked once or twice: first, if a model or a scaling needs figures of the whole set, to take them; then to
//! write. Only block resampling keeps something of each connection: when it starts and its octets, and where it goes.

use super::words::{self, count};
use super::{Input, Share};
use anyhow::bail;
use record::Warning;
use std::path::Path;
use std::time::Duration;
use units::{Rate, Span};
use vectors::model::rtt::{Model, Rtts, Summary};
use vectors::model::{Conserved, Footprint, Pieces, Transform};
use vectors::scale::{Load, Pick, Resampling, ScaleError, Thinning, TimeScaling};
use vectors::{Side, Vector};

/// Fewer blocks than this are drawn so often that the new set repeats itself.
const FEW_BLOCKS: u32 = 10;
/// A load that is so far from its target, as a part of it, is told.
const OFF_TARGET: f64 = 0.1;

/// More or fewer connections.
pub enum Scaling {
    /// As many as there are.
    None,
    /// Some of them.
    Thin(Thinning),
    /// Pieces of the set, drawn anew.
    Load {
        /// What they are to offer.
        target: Rate,
        /// Whose octets that means.
        of: Option<Side>,
        /// Length of a piece, about.
        block: Duration,
        /// Length of the new set; that of the old, if none.
        span: Option<Duration>,
        /// Of the draws.
        seed: u64,
    },
    /// Closer together, or further apart.
    Time(TimeScaling),
}

/// What is known of a set before it is rewritten.
pub struct Rewriting {
    rtts: Summary,
    scaling: Laid,
}

/// A scaling that is ready to be used.
enum Laid {
    None,
    Thin(Thinning),
    Time(TimeScaling),
    /// Where each connection goes, in the order of the old set; by its place in the new one.
    Picks {
        picks: Vec<(Pick, u64)>,
        span: Duration,
        blocks: u32,
        /// What was asked for, and whose octets that means.
        target: (Rate, Option<Side>),
    },
}

/// What came of it.
pub struct Rewritten {
    pub before: Load,
    pub after: Load,
    pub counters: Conserved,
}

impl Scaling {
    /// Keeps a share.
    ///
    /// # Errors
    /// When the share is none.
    pub fn thin(share: Share, seed: u64) -> Result<Self, ScaleError> {
        Thinning::new(share.0, seed).map(Self::Thin)
    }

    /// Multiplies times.
    ///
    /// # Errors
    /// When the factor is none.
    pub fn time(factor: f64) -> Result<Self, ScaleError> {
        TimeScaling::new(factor).map(Self::Time)
    }
}

impl Rewriting {
    /// Takes the figures of the whole set that `model` and `scaling` need.
    ///
    /// # Errors
    /// When the file cannot be read, or the scaling does not fit it.
    pub fn survey(path: &Path, model: Option<Model>, scaling: &Scaling) -> anyhow::Result<Self> {
        let needs_rtts = !matches!(model, None | Some(Model::NoDelay | Model::TenPaths));
        let mut rtts = Summary::default();
        let mut set = Vec::new();
        if needs_rtts || matches!(scaling, Scaling::Load { .. }) {
            for vector in Input::open(path)? {
                let vector = vector?;
                rtts.enter(vector.min_rtt);
                if matches!(scaling, Scaling::Load { .. }) {
                    set.push(Footprint::of(&vector));
                }
            }
        }
        let scaling = match *scaling {
            Scaling::None => Laid::None,
            Scaling::Thin(thinning) => Laid::Thin(thinning),
            Scaling::Time(scaling) => Laid::Time(scaling),
            Scaling::Load {
                target,
                of,
                block,
                span,
                seed,
            } => {
                let last = set.iter().map(|one| one.start).max().unwrap_or_default();
                if last.is_zero() {
                    bail!(
                        "all connections of {} start at once, so there is no load to scale - take a longer trace",
                        path.display()
                    );
                }
                let (block, blocks) = whole_blocks(last, block);
                let resampling = Resampling {
                    block,
                    span: span.unwrap_or(block * blocks),
                    target,
                    of,
                    seed,
                };
                lay_out(&resampling, &set, blocks)?
            }
        };
        Ok(Self { rtts, scaling })
    }

    /// A model with what it needs of the set.
    pub fn rtts(&self, model: Model) -> Rtts {
        model.resolve(&self.rtts)
    }

    /// What to beware of.
    pub fn warnings(&self, done: &Rewritten) -> Vec<Warning> {
        let Laid::Picks { blocks, target, .. } = &self.scaling else {
            return Vec::new();
        };
        let few = (*blocks < FEW_BLOCKS).then(|| Warning {
            code: "few_blocks".to_owned(),
            message: format!("the new set repeats itself: number of blocks to draw from: {blocks}"),
            advice: "take a longer trace, or a shorter --block".to_owned(),
        });
        let (rate, of) = target;
        let found = done.after.bits_per_second(*of);
        let off = found / rate.as_bps() as f64 - 1.0;
        let off = (off.abs() > OFF_TARGET).then(|| Warning {
            code: "load_off_target".to_owned(),
            message: format!(
                "the load is {} instead of {}: a few connections carry most octets",
                words::rate(found),
                rate.words()
            ),
            advice: "take another --seed, a shorter --block, or a longer --duration".to_owned(),
        });
        few.into_iter().chain(off).collect()
    }

    /// Rewrites all vectors and hands what becomes of each to `sink`.
    ///
    /// # Errors
    /// When the vectors cannot be read or written.
    pub fn run(
        &self,
        input: Input,
        transform: &Transform,
        mut sink: impl FnMut(Pieces) -> anyhow::Result<()>,
    ) -> anyhow::Result<Rewritten> {
        let (mut before, mut after) = (Load::default(), Load::default());
        let mut counters = Conserved::default();
        let mut write = |vector: Vector, place: u64| {
            let pieces = transform.apply(vector, place, &mut counters);
            sink(pieces)
        };
        let mut picks: &[(Pick, u64)] = match &self.scaling {
            Laid::Picks { picks, .. } => picks,
            _ => &[],
        };
        for (vector, index) in input.zip(0_usize..) {
            let mut vector = vector?;
            before.enter(&vector);
            before.span = before.span.max(Span(vector.start));
            let place = u64::try_from(index).unwrap_or(u64::MAX);
            match &self.scaling {
                Laid::Thin(thinning) if !thinning.keeps(place) => continue,
                Laid::None | Laid::Thin(_) => {}
                Laid::Time(scaling) => scaling.apply(&mut vector),
                Laid::Picks { .. } => {
                    let here = picks.partition_point(|(pick, _)| pick.index == index);
                    let (mine, others) = picks.split_at(here);
                    picks = others;
                    for (pick, place) in mine {
                        let copy = Vector {
                            start: pick.start,
                            ..vector.clone()
                        };
                        after.enter(&copy);
                        write(copy, *place)?;
                    }
                    continue;
                }
            }
            after.enter(&vector);
            write(vector, place)?;
        }
        after.span = match &self.scaling {
            Laid::None | Laid::Thin(_) => before.span,
            Laid::Time(scaling) => Span(scaling.span(before.span.0)),
            Laid::Picks { span, .. } => Span(*span),
        };
        Ok(Rewritten {
            before,
            after,
            counters,
        })
    }
}

impl Rewritten {
    /// Whether octets and starts are what they were, in words.
    pub fn conserved(&self) -> String {
        let counters = &self.counters;
        if counters.holds() {
            let made = if counters.connections == counters.vectors {
                String::new()
            } else {
                format!(", in {} connections", count(counters.connections))
            };
            return format!(
                "all {} vectors that were rewritten have their octets and their starts{made}",
                count(counters.vectors)
            );
        }
        format!(
            "NOT: of {} vectors {} have other octets and {} start at another time - this is a fault in Isobath, please report it",
            count(counters.vectors),
            count(counters.resized),
            count(counters.moved)
        )
    }
}

/// Blocks of about this length, of which a whole number fits into the set; and how many.
fn whole_blocks(last_start: Duration, block: Duration) -> (Duration, u32) {
    // Blocks are closed below and open above, and the last start is to be in one.
    let span = last_start + Duration::from_nanos(1);
    let fit = (span.as_secs_f64() / block.as_secs_f64().max(1e-9)).round();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "saturating, and not below zero"
    )]
    let blocks = (fit as u32).max(1);
    let mut block = span / blocks;
    if block * blocks < span {
        block += Duration::from_nanos(1);
    }
    (block, blocks)
}

fn lay_out(resampling: &Resampling, set: &[Footprint], blocks: u32) -> anyhow::Result<Laid> {
    let plan = resampling.plan(set, resampling.block * blocks)?;
    let mut picks: Vec<_> = plan.picks.into_iter().zip(0..).collect();
    picks.sort_by_key(|(pick, place)| (pick.index, *place));
    Ok(Laid::Picks {
        picks,
        span: plan.load.span.0,
        blocks,
        target: (resampling.target, resampling.of),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_number_of_blocks_holds_every_start() {
        let s = Duration::from_secs_f64;
        for (last, asked, blocks) in [
            (59.98, 30.0, 2),
            (60.4, 30.0, 2),
            (5.0, 30.0, 1),
            (0.0, 30.0, 1),
            (3_599.9, 30.0, 120),
        ] {
            let (block, found) = whole_blocks(s(last), s(asked));
            assert_eq!(found, blocks, "{last}");
            assert!(block * found > s(last) && block * found < s(last) + Duration::from_micros(1));
        }
    }
}
