//! Batches: a matrix of measurements, one after the other, that survives being killed.
//!
//! A path has good and bad minutes. One run before a change and one after it therefore prove little; several of each, in
//! an order that does not follow the change, prove more. A batch is a TOML file ([`mod@file`]) that names plans, places and
//! parameters. Each combination is a *group*, each repetition of a group is a *cell* ([`matrix`]), and each cell is one
//! run of `isobath rrul` in a process of its own ([`child`](kit::pool::child)), never two at once ([`runner`]).
//!
//! Cells are run in rounds: every group once, then every group again. Within a round the order is shuffled ([`order`]). So
//! neither a slow drift of the path nor a habit that returns every few minutes falls on one group alone, and a batch that
//! is cut short has about as many runs of each (randomised complete blocks: R. A. Fisher, The Design of Experiments, 1935).
//!
//! After each step the batch's folder says what has been done ([`state`]):
//!
//! ```text
//! 2026-11-21T09-30-00Z-batch-queues/
//!     batch.json             the TOML, the order, what became of each cell
//!     01-rrul-dsl-cubic-1/   one record for each cell
//!     02-rrul-dsl-cubic-2/
//!     set-aside/             records of cells that did not come to their end and were run again
//! ```

pub(crate) mod display;
pub(crate) mod file;
pub(crate) mod groups;
pub(crate) mod inputs;
pub(crate) mod matrix;
pub(crate) mod order;
pub(crate) mod parameters;
pub(crate) mod preflight;
pub(crate) mod runner;
pub(crate) mod state;

pub(crate) use file::BatchFile;
pub(crate) use state::State;
