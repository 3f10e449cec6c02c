//! What a replay plays in all.

use super::plan::Way;
use super::workload::{Host, Part};
use std::time::Duration;
use vectors::Transport;

/// Connections and flows, counted and summed up.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Totals {
    /// Connections of TCP, and flows of UDP.
    parts: [u64; 2],
    /// Octets that client and server send, in connections and in flows.
    octets: [[u64; 2]; 2],
    /// When the last of them starts.
    pub last_start: Duration,
}

impl Totals {
    /// Adds `part`.
    pub fn enter(&mut self, part: &Part) {
        let transport = part.vector.transport as usize;
        self.parts[transport] += 1;
        for (sum, host) in self.octets[transport].iter_mut().zip(Host::BOTH) {
            *sum = sum.saturating_add(part.bytes(host));
        }
        self.last_start = self.last_start.max(part.vector.start);
    }

    /// Connections.
    pub const fn connections(&self) -> u64 {
        self.parts[Transport::Tcp as usize]
    }

    /// Flows of UDP.
    pub const fn flows(&self) -> u64 {
        self.parts[Transport::Udp as usize]
    }

    /// Both.
    pub const fn parts(&self) -> u64 {
        self.connections() + self.flows()
    }

    /// Octets of both ends in connections, or in flows of UDP.
    pub const fn bytes(&self, transport: Transport) -> u64 {
        let [client, server] = self.octets[transport as usize];
        client.saturating_add(server)
    }

    /// The direction in which more is sent; towards the client if it is the same.
    pub fn forward(&self) -> Way {
        let sent = |host: Host| {
            let of_host = self.octets.map(|octets| octets[host as usize]);
            of_host.into_iter().fold(0, u64::saturating_add)
        };
        if sent(Host::Client) > sent(Host::Server) {
            Way::Up
        } else {
            Way::Down
        }
    }
}

impl<'a> FromIterator<&'a Part> for Totals {
    fn from_iter<I: IntoIterator<Item = &'a Part>>(parts: I) -> Self {
        let mut totals = Self::default();
        parts.into_iter().for_each(|part| totals.enter(part));
        totals
    }
}
