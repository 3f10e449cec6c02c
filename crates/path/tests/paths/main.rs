//! What paths do to packets, in virtual time.
#![expect(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "test helpers are tests too, and their numbers are small"
)]

mod aimd;
mod aqm;
mod assigned;
mod closed_forms;
mod cross;
mod invariants;
mod lazy;
mod marks;
mod specs;
mod world;
