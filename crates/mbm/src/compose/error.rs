//! Parts that cannot be put together, and why.

use super::Part;
use crate::diagnostic::{Decider, Test};
use crate::model::Model;
use crate::sequential::HypothesesError;
use thiserror::Error;

/// Parts that do not make a path.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum ComposeError {
    /// There are none.
    #[error("a path is composed of at least two parts")]
    TooFew,
    /// Two were not asked the same.
    #[error(
        "{first} and {other} cannot be composed: they differ in {what} ({one} and {two}); test both for the same complete path"
    )]
    Unlike {
        /// Name of the first part.
        first: String,
        /// Name of the one that differs.
        other: String,
        /// In what.
        what: &'static str,
        /// What the first has.
        one: String,
        /// What the other has.
        two: String,
    },
    /// Two that no path has one after the other.
    #[error(
        "{first} and {other} are not two parts of one path: {why} - compose parts that follow each other, each tested once"
    )]
    Overlap {
        /// Name of one.
        first: String,
        /// Name of the other.
        other: String,
        /// What tells so.
        why: String,
    },
    /// A test that losses do not decide.
    #[error("{name} is a {test} test, which losses do not decide: only loss rates can be composed")]
    NoLosses {
        /// Name of the part.
        name: String,
        /// Its test.
        test: Test,
    },
    /// A part without packets.
    #[error("{name} has no packets: nothing to compose")]
    Empty {
        /// Name of the part.
        name: String,
    },
    /// Loss rates that cannot be told apart.
    #[error(transparent)]
    Hypotheses(#[from] HypothesesError),
}

/// Refuses parts that make no path.
pub(super) fn check(parts: &[Part]) -> Result<(), ComposeError> {
    let [first, others @ ..] = parts else {
        return Err(ComposeError::TooFew);
    };
    if others.is_empty() {
        return Err(ComposeError::TooFew);
    }
    for part in parts {
        if !matches!(part.test.decider(), Decider::Losses | Decider::Counts) {
            return Err(ComposeError::NoLosses {
                name: part.name.clone(),
                test: part.test,
            });
        }
        if part.counts.packets == 0 {
            return Err(ComposeError::Empty {
                name: part.name.clone(),
            });
        }
    }
    others.iter().try_for_each(|other| alike(first, other))?;
    let mut all = parts.iter().enumerate();
    all.try_for_each(|(place, part)| {
        let mut later = parts.iter().skip(place + 1);
        later.try_for_each(|other| apart(part, other))
    })
}

/// Refuses two parts that cannot follow each other.
fn apart(first: &Part, other: &Part) -> Result<(), ComposeError> {
    match first.way.overlap(&other.way) {
        None => Ok(()),
        Some(why) => Err(ComposeError::Overlap {
            first: first.name.clone(),
            other: other.name.clone(),
            why,
        }),
    }
}

/// Refuses two parts that were not asked the same.
fn alike(first: &Part, other: &Part) -> Result<(), ComposeError> {
    let facts = |part: &Part| {
        let spec = part.question.target.spec();
        let model: &Model = &part.question.model;
        [
            ("the target rate", spec.rate.to_string()),
            ("the target round trip", spec.rtt.to_string()),
            ("the packet size", spec.mtu.to_string()),
            ("the headers", spec.overhead.to_string()),
            ("the derating", format!("{:?}", spec.derating)),
            ("the model", format!("{} {}", model.name(), model.formula())),
            (
                "the run length",
                part.question.run_length.packets.to_string(),
            ),
            ("the test", part.test.to_string()),
        ]
    };
    for ((what, one), (_, two)) in facts(first).into_iter().zip(facts(other)) {
        if one != two {
            let (first, other) = (first.name.clone(), other.name.clone());
            return Err(ComposeError::Unlike {
                first,
                other,
                what,
                one,
                two,
            });
        }
    }
    Ok(())
}
