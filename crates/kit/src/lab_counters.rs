//! The emulated network's own counters: what the links carried and how long their queues were, which no measurement from
//! the ends can know. The summary sets them beside what was measured.

use crate::{lab_packets, link_rows};
use lab::{Network, Quality};
use path::Count;
use schema::LinkTruth;
use schema::tables::{Counters, Packet, Queue};
use std::time::Duration;
use units::{Instant, Rate};

/// The counters of all links.
pub struct LabCounters {
    origin: Instant,
    /// The interval in which all load runs, after the origin.
    loaded: (Duration, Duration),
    /// How far the counters have been taken.
    taken: Duration,
    directions: Vec<DirectionCounters>,
}

/// What the counters say row by row.
#[derive(Default)]
pub struct LabRows {
    /// Each direction's queue and drops, one row for each tick.
    pub queue: Vec<Queue>,
    /// What left each direction, in bins of 100 us.
    pub counters: Vec<Counters>,
    /// Datagrams of ours that left a direction.
    pub packets: Vec<Packet>,
    /// What only some ask the lab for.
    pub extra: Vec<Extra>,
}

/// What only some ask the lab for, of one direction of a link.
pub struct Extra {
    /// The link's two nodes, as `a-b`.
    pub link: String,
    /// `up` is from the first node to the second, `down` the way back.
    pub direction: &'static str,
    /// What came to the direction's first queue, in bins of 100 us; empty unless the lab was asked for it.
    pub arrivals: Vec<lab::Bin>,
    /// Segments with SYN, FIN or RST that left, in their order.
    pub signals: Vec<lab::Signal>,
    /// The beginnings of packets that left, in their order.
    pub capture: lab::Capture,
    /// The queue at each tick, with all counters of the direction; the first is of the tick before these counters began.
    pub samples: Vec<lab::QueueSample>,
    /// Packets that are missing from the capture, from the lab's start.
    pub uncaptured: u64,
    /// The counters of all packets, those that the link makes up among them, from the lab's start.
    pub totals: path::Counters,
}

/// One direction of one link.
struct DirectionCounters {
    link: String,
    direction: &'static str,
    rate: Option<Rate>,
    loaded_bytes: u64,
    queue_bytes: Vec<u64>,
    /// The last tick before these counters.
    before: Option<lab::QueueSample>,
    totals: path::Counters,
    quality: Quality,
}

impl LabCounters {
    /// Empty counters for the links of `network`, for a run that starts at `origin` and has all its load in `loaded`.
    pub fn new(network: &Network, origin: Instant, loaded: (Duration, Duration)) -> Self {
        let topology = network.topology();
        let directions = topology.links.iter().flat_map(|link| {
            [("up", &link.up), ("down", &link.down)].map(|(direction, spec)| DirectionCounters {
                link: link.between.join("-"),
                direction,
                rate: lab::profiles::rate(spec),
                loaded_bytes: 0,
                queue_bytes: Vec::new(),
                before: None,
                totals: path::Counters::default(),
                quality: Quality::default(),
            })
        });
        // What was logged before the run is not part of it.
        let directions =
            directions
                .zip(network.links())
                .map(|(counters, link)| DirectionCounters {
                    before: link.take_log().queue.pop(),
                    ..counters
                });
        Self {
            origin,
            loaded,
            taken: Duration::ZERO,
            directions: directions.collect(),
        }
    }

    /// Takes what the links have logged since the last call, as rows too.
    pub fn take(&mut self, network: &Network, rows: &mut LabRows) {
        self.taken = sys::clock::now().since(self.origin);
        let (origin, (start, end)) = (self.origin, self.loaded);
        let is_loaded = |at: Instant| (start..end).contains(&at.since(origin));
        for (link, counters) in network.links().iter().zip(&mut self.directions) {
            let log = link.take_log();
            counters.totals = log.totals;
            counters.quality = log.quality;
            for sample in log.queue.iter().filter(|sample| sample.at >= origin) {
                if is_loaded(sample.at) {
                    counters.queue_bytes.push(sample.bytes);
                }
                rows.queue.push(counters.queue_row(sample, origin));
            }
            for bin in log.bins.iter().filter(|bin| bin.at >= origin) {
                if is_loaded(bin.at) {
                    counters.loaded_bytes += u64::from(bin.bytes);
                }
                rows.counters.push(Counters {
                    t_ns: nanos(bin.at.since(origin)),
                    link: counters.link.clone().into(),
                    direction: counters.direction.into(),
                    packets: bin.packets.into(),
                    bytes: bin.bytes.into(),
                });
            }
            let passages = log.passages.iter();
            let packets = passages.filter_map(|passage| lab_packets::row(passage, origin));
            rows.packets.extend(packets.map(|row| Packet {
                link: counters.link.clone().into(),
                direction: counters.direction.into(),
                ..row
            }));
            rows.extra.push(Extra {
                link: counters.link.clone(),
                direction: counters.direction,
                arrivals: log.arrivals,
                signals: log.signals,
                capture: log.capture,
                samples: counters
                    .before
                    .take()
                    .into_iter()
                    .chain(log.queue)
                    .collect(),
                uncaptured: log.quality.uncaptured,
                totals: log.totals,
            });
        }
    }

    /// What the counters say, one entry for each direction of each link.
    pub fn truth(&self) -> Vec<LinkTruth> {
        let (start, end) = self.loaded;
        let seconds = end.min(self.taken).saturating_sub(start).as_secs_f64();
        self.directions
            .iter()
            .map(|counters| counters.truth(seconds))
            .collect()
    }
}

impl DirectionCounters {
    fn queue_row(&self, sample: &lab::QueueSample, origin: Instant) -> Queue {
        let names = (self.link.as_str(), self.direction);
        let waiting = Count {
            packets: sample.packets,
            bytes: sample.bytes,
        };
        link_rows::queue(
            nanos(sample.at.since(origin)),
            names,
            waiting,
            &sample.totals,
        )
    }

    fn truth(&self, seconds: f64) -> LinkTruth {
        LinkTruth {
            link: self.link.clone(),
            direction: self.direction.to_owned(),
            rate_mbps: self.rate.map(Rate::as_mbps),
            carried_mbps: if seconds > 0.0 {
                self.loaded_bytes as f64 * 8e-6 / seconds
            } else {
                0.0
            },
            queue_ms: link_rows::queue_ms(self.rate, &self.queue_bytes),
            dropped_overflow: self.totals.overflow.packets,
            dropped_aqm: self.totals.aqm.packets,
            dropped_loss: self.totals.loss.packets,
            marked: self.totals.marked.packets,
            emulator_late_p50_us: self.quality.late_p50.as_secs_f64() * 1e6,
            emulator_late_p99_us: self.quality.late_p99.as_secs_f64() * 1e6,
            unwritten: self.quality.unwritten,
        }
    }
}

/// A span in nanoseconds.
pub(super) fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}
