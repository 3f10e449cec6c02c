//! Statistics of a loss rate that is not yet known to be good or bad.
//!
//! A test for a run length R asks about the probability p that a packet is lost or marked: is it at most `p0 = 1/R`, or at
//! least `p1 = 4/R`? (RFC 8337 section 7.2. The thesis prints `1/4R` for `p1` in places; `4/R` is meant.) Between the two
//! no answer is wrong. The sequential probability ratio test of Wald ([`Sprt`]) answers as soon as the packets so far are so
//! much likelier under one than under the other that the error stays below alpha (a good path fails) and beta (a bad one passes);
//! no test with these errors needs fewer packets on average.
//!
//! | module | what |
//! |---|---|
//! | [`Sprt`] | the test: two lines, and on which side of them the losses are |
//! | [`Expectation`] | how long it takes on average and how often it passes, at any loss rate, in Wald's closed form |
//! | [`Walk`] | the way of the test through the plane of packets and losses, thinned for a plot |
//! | [`Rule`] | when to look: at once, not before N packets, or only after N |

mod expectation;
mod rule;
mod sprt;
mod walk;

pub use expectation::Expectation;
pub use rule::{Rule, Ruling, fixed_size};
pub use sprt::{Decision, Hypotheses, HypothesesError, Lines, Sprt};
pub use walk::{MAX_POINTS, Point, Walk};

/// How many times the good loss rate the bad one is (RFC 8337 section 7.2).
pub const RATIO: f64 = 4.0;
/// Probability of failing a good path, unless said otherwise (thesis 3.4).
pub const ALPHA: f64 = 0.05;
/// Probability of passing a bad path, unless said otherwise (thesis 3.4).
pub const BETA: f64 = 0.05;

#[cfg(test)]
mod tests;
