//! What labs do to the packets of real sockets.
#![expect(clippy::unwrap_used, reason = "test helpers are tests too")]

mod delays;
mod dumbbell;
mod families;
mod hosts;
mod marks;
mod monitors;
mod tcp;
mod traces;
mod world;
