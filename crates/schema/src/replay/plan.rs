//! What is to be replayed, and how.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;
use units::{Rate, Span};
use vectors::model::rtt::{Model, Summary};
use vectors::model::{Latencies, Structure, Transform, Windows};

/// What of the vectors is played.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Models {
    /// What of their epochs, waits and order is kept.
    pub structure: Structure,
    /// Which round-trip time each connection gets.
    pub rtt: Model,
    /// Which receive windows the ends have.
    pub windows: Windows,
    /// Which waits are kept, and how much of them.
    pub latencies: Latencies,
}

impl Default for Models {
    /// The control: everything (D, section 4.4.1).
    fn default() -> Self {
        Self {
            structure: Structure::ATBT,
            rtt: Model::Usernet,
            windows: Windows::Empirical,
            latencies: Latencies::default(),
        }
    }
}

impl Models {
    /// The same with what they need of the set.
    pub fn transform(&self, set: &Summary, seed: u64) -> Transform {
        Transform {
            structure: self.structure,
            latencies: self.latencies,
            rtts: Some(self.rtt.resolve(set)),
            windows: self.windows,
            seed,
        }
    }
}

/// Where the round-trip time of a connection is added.
#[derive(
    Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize, clap::ValueEnum,
)]
#[serde(rename_all = "kebab-case")]
pub enum RttAt {
    /// Half at each host, in its sending direction.
    #[default]
    Both,
    /// All at the client, in its sending direction.
    Client,
    /// All at the server, in its sending direction.
    Server,
}

impl RttAt {
    /// What of `rtt` delays the packets of the client and those of the server.
    pub fn split(self, rtt: Duration) -> [Duration; 2] {
        match self {
            Self::Both => {
                let half = rtt / 2;
                [half, rtt.saturating_sub(half)]
            }
            Self::Client => [rtt, Duration::ZERO],
            Self::Server => [Duration::ZERO, rtt],
        }
    }
}

/// A direction of the link between the hosts.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// From the client to the server.
    Up,
    /// From the server to the client.
    Down,
}

impl Way {
    /// As tables name it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Down => "down",
        }
    }
}

/// A replay.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a choice of its own, and a field of the record"
)]
pub struct Plan {
    /// The file of vectors.
    pub vectors: PathBuf,
    /// What of the vectors is played.
    #[serde(flatten)]
    pub models: Models,
    /// After which all is cut; without it the replay ends with its last connection.
    pub duration: Option<Span>,
    /// At the beginning, without part in the figures.
    pub warm_up: Span,
    /// At the end, likewise.
    pub cool_down: Span,
    /// Where round-trip times are added.
    pub rtt_at: RttAt,
    /// Between two hosts: whether this host's kernel adds the round-trip times to the path's own.
    #[serde(default)]
    pub add_rtt: bool,
    /// The rate of the bottleneck, in both directions; without it the lab's own.
    pub bottleneck: Option<Rate>,
    /// Whether that rate was made from the load of another replay.
    pub constrained: bool,
    /// The direction in which more is sent.
    pub forward: Way,
    /// Of all connections; without it the hosts' own.
    pub congestion_control: Option<String>,
    /// Segments; without it the kernel's.
    pub initial_window: Option<u32>,
    /// Whether the packets at the bottleneck are written down.
    pub capture: bool,
    /// Whether flows of UDP are played; in a record that does not say so they were not.
    #[serde(default)]
    pub udp: bool,
    /// Seed of what is random in the models and in the lab.
    pub seed: u64,
}

impl Plan {
    /// What of a run that took `length` has part in the figures: from and to, after the run's start.
    pub fn window(&self, length: Duration) -> [Duration; 2] {
        let length = self
            .duration
            .map_or(length, |planned| planned.0.min(length));
        let to = length.saturating_sub(self.cool_down.0);
        [self.warm_up.0.min(to), to]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Holds tmix/delay-placement.
    #[test]
    fn a_round_trip_is_split_and_nothing_of_it_lost() {
        let rtt = Duration::from_nanos(33_000_001);
        for at in [RttAt::Both, RttAt::Client, RttAt::Server] {
            let [client, server] = at.split(rtt);
            assert_eq!(client + server, rtt);
        }
        assert_eq!(RttAt::Server.split(rtt), [Duration::ZERO, rtt]);
        let halves = RttAt::default().split(Duration::from_millis(80));
        assert_eq!(halves, [Duration::from_millis(40); 2]);
    }
}
