//! What paths do to packets, in virtual time.

mod aqm;
mod closed_forms;
mod invariants;
mod specs;
mod world;
