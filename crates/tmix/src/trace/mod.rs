//! From packet captures to connection vectors, and vectors from one file to another.
//!
//! The thinking is in `vectors` (what a connection was) and `capture` (what a packet is); here are the files and the
//! threads. [`Captures`] are read in one thread and their connections found in as many as there are processors; [`Output`] takes vectors in the order in which
//! connections end and writes them in any format, cvec in the order of their starts, as ns-2 wants them; [`Input`] reads
//! vectors again.

pub mod describe;
mod extract;
mod input;
pub mod load;
mod output;
mod reading;
mod rewrite;
mod share;
mod sorted;
pub mod statements;
mod summary;
mod table;
mod warnings;
pub mod words;
mod working;

pub use extract::{Captures, Found};
pub use input::{Input, beginnings};
pub use output::{Format, Output};
pub use rewrite::{Rewriting, Scaling};
pub use share::Share;
pub use summary::{scorecard, summary};
pub use warnings::warnings;
