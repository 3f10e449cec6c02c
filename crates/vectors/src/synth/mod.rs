//! Sets of vectors that were never captured.
//!
//! The traces of D are not public, and most of those that are have other traffic. What D prints of its two are quantiles and
//! means. A [`Fit`] is a distribution for each quantity of a vector that agrees with them, and a [`Synthesis`] draws
//! vectors from it: starts as a Poisson process at the printed rate, which may change over time ([`Stretch`]), and everything else
//! from the distributions, each by itself. A synthesis begins with nothing in progress, and its connections are whole; a
//! [`Stationary`] one is what a capture has of traffic that began long before. Two fits are built in, `unc-2008` and
//! `ibm-2006`; in their files (`mixes/`) each number says where it is printed, or that it is assumed.
//!
//! A fit to a set of one's own is measured ([`Fit::measure`]), and written as a file ([`Fit::to_toml`]).
//!
//! These are fits and no traces. What they cannot know:
//!
//! - which value goes with which: a long response is as likely after a short request, over any distance. D calls traffic
//!   of independent distributions *parametric* and leaves it as future work (section 7.1). A [`Copula`] puts the ties of
//!   some other set into a synthesis.
//! - how starts come in bursts;
//! - what lies below the first figure that is printed, and beyond the last: the tail is as heavy as the printed mean demands.
//!
//! How far a fit is from what is printed says [`Fit::statements`]. Both meet all printed quantiles and means but one: the shares
//! of epochs that D prints of UNC do not go with its mean of 3, and the fit has 3.3. Deviations, which are not fitted, are
//! off by at most 12 %. What was not used at all comes out like this (the last two of a stationary hour, seed 1):
//!
//! | | UNC | fit | IBM | fit |
//! |---|---|---|---|---|
//! | mean octets of a sequential connection (3.1.2) | 46.8 KB | 44.9 KB | 113 KB | 135 KB |
//! | share of octets in concurrent connections (3.1.2) | 28 % | 29 % | 15 % | 16 % |
//! | median octets of a connection (6.3.1) | 2.2 KB | 2.7 KB | | 1.8 KB |
//! | mean duration (4.5.2) | 33 s | 35 s | 87 s | 101 s |
//! | active connections (4.5.5) | 45,000 | 46,113 | 68,000 to 78,800 | 84,008 |
//!
//! Means are those of infinitely many vectors: as one
//! connection in thousands carries most octets, a small set has a much smaller mean as a rule, and now and then a larger.

mod copula;
mod course;
mod fit;
mod generate;
mod marginal;
mod measure;
mod statement;
mod stationary;
mod text;
mod timeline;

pub use copula::Copula;
pub use course::Stretch;
pub use fit::{BUILT_IN, Fit, FitError, LossShare, Losses, Window, Windows};
pub use generate::Synthesis;
pub use marginal::{Check, Cited, Knot, Marginal};
pub use measure::Captures;
pub use statement::{Statement, Statistic};
pub use stationary::Stationary;

#[cfg(test)]
mod tests;
