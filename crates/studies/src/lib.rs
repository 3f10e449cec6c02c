//! What the papers did, run again: experiments, trials of the manager, `MediaNet`.
#![forbid(unsafe_code)]

pub mod dumbbell;
pub mod experiment;
pub mod medianet;
pub mod trial;
