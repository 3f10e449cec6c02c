//! What a lab does beyond its topology, for those who ask.

use crate::Watch;
use path::Assigned;

/// What to do beyond what the topology says; nothing by default.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The delays of `connection_delay`, to be assigned while packets pass: flow by flow, see [`flow`](packet::flow).
    pub delays: Option<Assigned>,
    /// Which packets are noted one by one ([`Log::passages`](crate::Log::passages)).
    pub watch: Option<Watch>,
    /// Whether what comes to the first queue of each direction is counted ([`Log::arrivals`](crate::Log::arrivals)).
    pub arrivals: bool,
    /// Whether beginnings and ends of TCP connections are noted ([`Log::signals`](crate::Log::signals)).
    pub signals: bool,
    /// How many octets of every packet are kept, from its IP header on ([`Log::capture`](crate::Log::capture)).
    pub capture: Option<u16>,
    /// TCP's initial window and the first window that it offers, in segments, instead of the kernel's (10: RFC 6928).
    pub initial_window: Option<u32>,
    /// TCP's congestion control on all nodes, instead of cubic ([`Congestion`](crate::Congestion)).
    pub congestion_control: Option<String>,
    /// Whether TCP on all nodes asks for ECN and agrees to it, or does neither; without one, as the kernel has it.
    pub ecn: Option<bool>,
    /// Whether the hosts are for tens of thousands of connections at once: more ports, longer queues of those that want
    /// to connect, room for those that have ended.
    pub busy_hosts: bool,
}
