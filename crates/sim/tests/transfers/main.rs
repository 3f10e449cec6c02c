//! Bulk transfers in virtual time.
#![expect(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "test helpers are tests too, and their numbers are small"
)]

mod counters;
mod friendly;
mod golden;
mod mathis;
mod path;
mod testbed;
