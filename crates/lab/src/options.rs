//! What a lab does beyond its topology, for those who ask.

use crate::Watch;
use path::Assigned;

/// What to do beyond what the topology says; nothing by default.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The delays of `connection_delay`, to be assigned while packets pass: flow by flow, see [`flow`](crate::flow).
    pub delays: Option<Assigned>,
    /// Which packets are noted one by one ([`Log::passages`](crate::Log::passages)).
    pub watch: Option<Watch>,
}
