//! From packet captures to connection vectors, and vectors from one file to another.
//!
//! The thinking is in `vectors` (what a connection was) and `capture` (what a packet is); here are the files and the
//! threads. [`Captures`] are read in one thread and their connections found in as many as there are processors; [`Output`] takes vectors in the order in which
//! connections end and writes them in any format, cvec in the order of their starts, as ns-2 wants them; [`Input`] reads
//! vectors again.

pub(crate) mod describe;
mod extract;
mod input;
pub(crate) mod load;
mod output;
mod reading;
mod rewrite;
mod share;
mod sorted;
pub(crate) mod statements;
mod summary;
mod table;
mod warnings;
pub(crate) mod words;
mod working;

pub(crate) use extract::Captures;
pub(crate) use input::Input;
pub(crate) use output::{Format, Output};
pub(crate) use rewrite::{Rewriting, Scaling};
pub(crate) use share::Share;
pub(crate) use summary::{scorecard, summary};
pub(crate) use warnings::warnings;
