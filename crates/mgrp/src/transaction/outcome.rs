//! What came of a transaction at its sender.

use std::time::Duration;
use units::Instant;

/// Probes that carried something of an application (T table 3.1).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Riders {
    /// Probes that did. A packet that was cut rides on as many as it has pieces there, as T counts them.
    pub probes: u64,
    /// Octets of applications' packets that they carried, without what the carrying takes.
    pub octets: u64,
}

impl Riders {
    /// One more probe, with so many octets.
    pub const fn add(&mut self, octets: usize) {
        self.probes = self.probes.saturating_add(1);
        self.octets = self.octets.saturating_add(octets as u64);
    }
}

/// The time before a probe, as it was asked for and as it was.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Gap {
    /// As asked for; zero before the first.
    pub planned: Duration,
    /// From one departure to the next; zero before the first.
    pub actual: Duration,
}

/// What applications have sent to the train's peer, riders and all: of two trains, a rate.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Offered {
    /// Octets that their packets take on the wire when they do not ride, all headers included; without those that were dropped, since
    /// the manager knows the peer.
    pub octets: u64,
    /// Up to this moment, when the train's last probe left.
    pub at: Instant,
}

/// A probe of a train that was given in ranges.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Sent {
    /// The number of its packet, by which its [`Arrival`](super::Arrival) is known.
    pub sequence: u64,
    /// Octets of the whole packet, IP header included.
    pub octets: u16,
}

/// What a tool is told when its transaction is over (T table 3.1), and how well it was sent (T section 4.7.1, the audit).
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Outcome {
    /// Whether it was called off before its last probe.
    pub is_called_off: bool,
    /// How long the tool took to hand it over (`barrier_engaged_usec`).
    pub handover: Duration,
    /// From the first departure to the last (`mgrp_transmission_usec`).
    pub transmission: Duration,
    /// The same, as planned.
    pub planned: Duration,
    /// Probes that carried something (`pbk_pkts`, `pbk_bytes`).
    pub riders: Riders,
    /// Those of them whose rider would have competed with the train: without riding it would have left at a moment from the train's first
    /// probe to its planned last one (`pbk_compete_pkts`, `pbk_compete_bytes`).
    pub competing: Riders,
    /// Octets on the wire, all headers included, of applications' packets that left while the train did, and not in it: they did compete.
    pub beside: u64,
    /// What applications have offered.
    pub offered: Offered,
    /// One for each probe that left.
    pub gaps: Vec<Gap>,
    /// The same probes, where the train was given in ranges; else none, for a tool's own octets tell which is which.
    pub sent: Vec<Sent>,
}

impl Outcome {
    /// By how much the gap before any probe was missed at most: with it a tool rejects a bad train.
    pub fn worst_error(&self) -> Duration {
        let errors = self.gaps.iter().map(|gap| gap.actual.abs_diff(gap.planned));
        errors.max().unwrap_or(Duration::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Holds manager/audit.
    #[test]
    fn the_worst_gap_is_told_whether_it_was_too_short_or_too_long() {
        let gap = |planned, actual| Gap {
            planned: Duration::from_micros(planned),
            actual: Duration::from_micros(actual),
        };
        let outcome = Outcome {
            gaps: vec![gap(0, 0), gap(100, 103), gap(100, 95)],
            ..Outcome::default()
        };
        assert_eq!(outcome.worst_error(), Duration::from_micros(5));
        assert_eq!(Outcome::default().worst_error(), Duration::ZERO);
    }
}
