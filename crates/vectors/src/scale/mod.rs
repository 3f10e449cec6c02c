//! More traffic or less, of the same kind.
//!
//! An experiment wants a load that a link can bear, or that it just cannot, and a trace has the load that it has. D scales
//! traces "using the block-resampling methods from \[HC06\]" in its calibration and names no algorithm; those here are ours:
//!
//! | how | changes | keeps | loses |
//! |---|---|---|---|
//! | [`Thinning`] | number of connections, down | each connection; starts that were Poisson stay so | bursts of starts become smoother |
//! | [`Resampling`] | load, up or down, to a target | each connection; the pattern of starts within a block | patterns longer than a block |
//! | [`TimeScaling`] | time between starts | each connection, and the order of their starts | the length of the trace |
//!
//! None changes what happens within a connection: a think time is a person's, whatever the load. A load is the octets of
//! applications, without headers and retransmissions ([`Load`]); that of a link is some 3 to 10 % more, and is
//! measured on the link. As a few connections carry most octets, a set that was thinned to a tenth does not have a tenth
//! of the load but what its largest connections say. So each way ends in the load that resulted, and that is the figure to
//! quote.

mod blocks;
mod load;
mod thin;
mod time;

pub use blocks::{Pick, Plan, Resampling};
pub use load::Load;
pub use thin::Thinning;
pub use time::TimeScaling;

/// Why a set cannot be scaled so.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ScaleError {
    /// A share that is none.
    #[error("the share to keep must be from 0 to 1")]
    Share,
    /// A factor that is none.
    #[error("the factor must be a number above 0")]
    Factor,
    /// Blocks of no length.
    #[error("a block must be longer than nothing and fit into the trace")]
    Block,
    /// Nothing that could be taken more often.
    #[error("no connection of the trace carries anything that way")]
    Nothing,
    /// Too large a target.
    #[error("the load asked for takes more than {} connections", blocks::MOST)]
    TooMuch,
}
