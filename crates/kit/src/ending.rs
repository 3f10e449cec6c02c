//! How a run ended.

/// How a run ended.
#[derive(Debug)]
pub enum Ending {
    /// As planned.
    Complete,
    /// By the user.
    Interrupted,
    /// The far end was lost, with the reason.
    Lost(String),
}
