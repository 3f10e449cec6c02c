//! What a process may call that is not the program: measurements in virtual time, sweeps, and vectors out of captures.
//!
//! Options are the words that the command line takes, so there is one grammar, one set of defaults and one text for each
//! mistake. Nothing here prints, draws or ends the process. A flag that the caller raises interrupts everything that takes
//! long. The Python package is built on this.

mod captures;
mod failure;
mod simulate;
mod sweeping;

pub use captures::extract;
pub use failure::Failure;
pub use simulate::{Simulated, simulate};
pub use sweeping::{Ended, Made, Maker, Sweep};
