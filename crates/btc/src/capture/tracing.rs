//! The traces of a run at its near end: written as rounds end, and no reason for a run to fail.

use super::files::{About, Ends, Traces};
use super::{Journal, Malformed};
use crate::plan::Plan;
use data_encoding::BASE64;
use kit::host;
use schema::Direction;
use session::ClockOffset;
use std::collections::HashMap;
use std::io;
use std::path::Path;
use sys::clock;
use units::Instant;

/// What the system gives every packet.
const FULL: u8 = 64;

/// What passed the sockets of this end in one round.
pub(crate) struct NearTrace {
    pub id: u16,
    pub ends: Ends,
    pub journal: Journal,
}

/// The traces of a run.
pub(crate) struct Tracing {
    traces: io::Result<Traces>,
    /// Whether the sender is here.
    is_sender: bool,
    /// Datagrams of one transfer that are traced.
    most: u64,
    far: HashMap<u16, Journal>,
    is_malformed: bool,
}

/// What came of them.
#[derive(Clone, Debug, Default)]
pub struct Traced {
    /// Datagrams that are in no file for want of room.
    pub left_out: u64,
    /// Why there are no files, or not whole ones.
    pub failure: Option<String>,
}

impl Tracing {
    /// Begins the files in `folder` of a run of `plan` that began at `origin`, if it is to have any; without a far end there is
    /// no file of the receiver's.
    pub(crate) fn begin(
        folder: &Path,
        plan: &Plan,
        origin: Instant,
        far: Option<ClockOffset>,
    ) -> Option<Self> {
        let most = plan.traced();
        if most == 0 {
            return None;
        }
        let facts = host::facts("client");
        let about = About {
            hardware: &format!("{} x {}", facts.cpus, facts.cpu),
            os: &facts.kernel,
            origin_wall_ns: clock::stamp().wall_at(origin),
            clock_error_ns: far.map(|clock| clock.rtt_ns / 2),
            hop_limit: plan.hop.unwrap_or(FULL),
        };
        Some(Self {
            traces: Traces::create(folder, &about),
            is_sender: plan.direction == Direction::Up,
            most,
            far: HashMap::new(),
            is_malformed: false,
        })
    }

    /// Takes a piece of the far end's trace of transfer `id`.
    pub(crate) fn take(&mut self, id: u16, octets: &str) {
        let journal = self
            .far
            .entry(id)
            .or_insert_with(|| Journal::new(self.most));
        let chunk = BASE64.decode(octets.as_bytes()).map_err(|_| Malformed);
        self.is_malformed |= chunk.and_then(|chunk| journal.add_chunk(chunk)).is_err();
    }

    /// A round is over: what passed this end of its transfers, and how much the far end says that it left out of each.
    pub(crate) fn end_round(&mut self, near: &[NearTrace], left_out: impl Fn(u16) -> u64) {
        let mut far = Vec::new();
        for trace in near {
            let mut journal = self.far.remove(&trace.id).unwrap_or_default();
            journal.add_left_out(left_out(trace.id));
            far.push((trace.ends, journal));
        }
        // Whatever else came is of no transfer.
        self.far.clear();
        let near: Vec<_> = near
            .iter()
            .map(|trace| (trace.ends, &trace.journal))
            .collect();
        let far: Vec<_> = far.iter().map(|(ends, journal)| (*ends, journal)).collect();
        let (senders, receivers) = if self.is_sender {
            (near, far)
        } else {
            (far, near)
        };
        if let Ok(traces) = &mut self.traces {
            let added = traces
                .add_sender(&senders)
                .and_then(|()| traces.add_receiver(&receivers));
            if let Err(error) = added {
                self.traces = Err(error);
            }
        }
    }

    /// Ends the files.
    pub(crate) fn finish(self) -> Traced {
        let malformed = self.is_malformed.then(|| Malformed.to_string());
        match self.traces.and_then(Traces::finish) {
            Ok(left_out) => Traced {
                left_out,
                failure: malformed,
            },
            Err(error) => Traced {
                left_out: 0,
                failure: Some(error.to_string()),
            },
        }
    }
}
