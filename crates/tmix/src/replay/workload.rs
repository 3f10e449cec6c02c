//! Who plays: the vectors of a replay as they will be played, in the order of their starts.

use super::plan::Models;
use super::totals::Totals;
use crate::trace::Input;
use anyhow::Context;
use std::path::Path;
use std::time::Duration;
use vectors::model::rtt::Summary;
use vectors::model::{Conserved, Transform};
use vectors::{Side, Transport, Vector};

/// A host of a replay.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Host {
    /// Where vectors are initiated.
    Client,
    /// Where they are accepted; only *harpoon* has it initiate too.
    Server,
}

impl Host {
    /// The client first: a host as a number is its place here.
    pub const BOTH: [Self; 2] = [Self::Client, Self::Server];

    /// The host at the other end.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }

    /// As tables name it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
        }
    }
}

/// A connection to be played, or a flow of UDP.
#[derive(Clone, Debug)]
pub struct Part {
    /// As it is played.
    pub vector: Vector,
    /// Who opens it.
    pub initiator: Host,
    /// Whether its ends took turns before a model changed that: only such connections have response times to compare (D,
    /// section 5.1.2).
    pub was_sequential: bool,
}

impl Part {
    /// Whether it is a flow of UDP.
    pub fn is_udp(&self) -> bool {
        self.vector.transport == Transport::Udp
    }

    /// The side that `host` plays.
    pub fn side(&self, host: Host) -> Side {
        if host == self.initiator {
            Side::Initiator
        } else {
            Side::Acceptor
        }
    }

    /// Octets that `host` sends.
    pub fn bytes(&self, host: Host) -> u64 {
        self.vector.body.bytes(self.side(host))
    }
}

/// All parts, by start.
#[derive(Debug, Default)]
pub struct Workload {
    /// By start; a part is numbered by its place here.
    pub parts: Vec<Part>,
    /// Flows of UDP that were left out.
    pub udp: u64,
}

impl Workload {
    /// Reads the vectors of `file` that start before `until`, and makes of them what `models` say.
    ///
    /// # Errors
    /// When the file cannot be read, holds more vectors than can be numbered, or a model did not conserve what it must.
    pub fn read(
        file: &Path,
        models: &Models,
        until: Option<Duration>,
        seed: u64,
    ) -> anyhow::Result<Self> {
        let mut vectors = Vec::new();
        let mut rtts = Summary::default();
        for vector in Input::open(file)? {
            let vector = vector.with_context(|| file.display().to_string())?;
            if until.is_some_and(|until| vector.start >= until) {
                continue;
            }
            // No flow of UDP knows its round-trip time: it gets what the model says of connections.
            if vector.transport == Transport::Tcp {
                rtts.enter(vector.min_rtt);
            }
            vectors.push(vector);
        }
        check_count(vectors.len() as u64, file)?;
        let transform = models.transform(&rtts, seed);
        let parts = parts(vectors, transform)?;
        Ok(Self { parts, udp: 0 })
    }

    /// Leaves flows of UDP out, and counts them.
    pub fn leave_out_udp(&mut self) {
        let all = self.parts.len();
        self.parts.retain(|part| !part.is_udp());
        self.udp += (all - self.parts.len()) as u64;
    }

    /// Flows of UDP among the parts.
    pub fn flows(&self) -> u64 {
        self.parts.iter().filter(|part| part.is_udp()).count() as u64
    }

    /// Connections among the parts.
    pub fn connections(&self) -> u64 {
        self.parts.len() as u64 - self.flows()
    }

    /// Gives each connection the distance that `made` makes of its own.
    pub fn set_rtts(&mut self, made: impl Fn(Duration) -> Duration) {
        for part in &mut self.parts {
            part.vector.min_rtt = Some(made(part.vector.min_rtt.unwrap_or_default()));
        }
    }

    /// Counted and summed up.
    pub fn totals(&self) -> Totals {
        self.parts.iter().collect()
    }

    /// When the last of them starts.
    pub fn last_start(&self) -> Duration {
        self.parts
            .last()
            .map_or(Duration::ZERO, |part| part.vector.start)
    }
}

/// Whether so many vectors of `file`, of each of which a model makes two connections at most, can be numbered.
///
/// # Errors
/// When they cannot.
pub fn check_count(vectors: u64, file: &Path) -> anyhow::Result<()> {
    anyhow::ensure!(
        vectors < u64::from(u32::MAX / 2),
        "{} holds more vectors than can be replayed at once - thin them with 'isobath trace transform --thin'",
        file.display()
    );
    Ok(())
}

fn parts(vectors: Vec<Vector>, transform: Transform) -> anyhow::Result<Vec<Part>> {
    let mut parts = Vec::with_capacity(vectors.len());
    let mut rewriter = Rewriter::new(transform);
    for vector in vectors {
        parts.extend(rewriter.parts(vector));
    }
    rewriter.check()?;
    parts.sort_by_key(|part| part.vector.start);
    Ok(parts)
}

/// Makes parts of vectors, one by one, in the order of their file.
pub struct Rewriter {
    transform: Transform,
    counters: Conserved,
    /// Connections and flows so far. What chance gives to a connection does not depend on the flows beside it.
    places: [u64; 2],
}

impl Rewriter {
    /// Rewrites by `transform`.
    pub fn new(transform: Transform) -> Self {
        Self {
            transform,
            counters: Conserved::default(),
            places: [0; 2],
        }
    }

    /// The parts of the next vector, one or two, which start when it does.
    pub fn parts(&mut self, vector: Vector) -> impl Iterator<Item = Part> + use<> {
        let was_sequential = vector.body.is_sequential();
        let place = &mut self.places[vector.transport as usize];
        let pieces = self.transform.apply(vector, *place, &mut self.counters);
        *place += 1;
        let pieces = [(Host::Client, pieces.forth), (Host::Server, pieces.back)];
        pieces.into_iter().filter_map(move |(initiator, vector)| {
            Some(Part {
                vector: vector?,
                initiator,
                was_sequential,
            })
        })
    }

    /// Whether all vectors so far kept their starts and octets.
    ///
    /// # Errors
    /// When one did not.
    pub fn check(&self) -> anyhow::Result<()> {
        anyhow::ensure!(
            self.counters.holds(),
            "the model did not keep what it must keep (starts and octets of each end) - this is a mistake of isobath, please tell us"
        );
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vectors::{Body, Loss, Turn};

    fn vector(transport: Transport, rtt_ms: Option<u64>) -> Vector {
        let turn = |side| Turn {
            side,
            bytes: 100,
            wait: Duration::ZERO,
        };
        Vector {
            transport,
            start: Duration::ZERO,
            ids: [0; 2],
            windows: [0; 2],
            min_rtt: rtt_ms.map(Duration::from_millis),
            loss: [Loss::NONE; 2],
            mss: None,
            body: Body::Sequential {
                turns: Side::BOTH.map(turn).to_vec(),
                tail: None,
            },
        }
    }

    #[test]
    fn a_flow_gets_what_the_model_says_of_connections_and_no_structure() {
        let set = [
            vector(Transport::Udp, None),
            vector(Transport::Tcp, Some(40)),
        ];
        let mut rtts = Summary::default();
        rtts.enter(set[1].min_rtt);
        let models = Models {
            structure: vectors::model::Structure::Harpoon,
            ..Models::default()
        };
        let parts = parts(set.to_vec(), models.transform(&rtts, 1)).unwrap();
        let mut workload = Workload { parts, udp: 0 };
        // The connection became two.
        assert_eq!((workload.flows(), workload.connections()), (1, 2));
        let flow = &workload
            .parts
            .iter()
            .find(|part| part.is_udp())
            .unwrap()
            .vector;
        assert_eq!(flow.body, set[0].body);
        let off = flow.min_rtt.unwrap().abs_diff(Duration::from_millis(40));
        assert!(off < Duration::from_micros(100), "{off:?}");
        workload.leave_out_udp();
        assert_eq!(
            (workload.flows(), workload.connections(), workload.udp),
            (0, 2, 1)
        );
    }
}
