//! What a run of `isobath replay` found.

use super::plan::Way;
use crate::LinkTruth;
use record::Distribution;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stats::hurst::{Hurst, octaves};
use stats::quantile;
use stats::series::variation;

/// What a run of `isobath replay` found.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct Summary {
    /// What became of the connections.
    pub connections: Connections,
    /// Octets of data of both directions, of connections.
    pub bytes: Bytes,
    /// What became of flows of UDP; null when there were none.
    #[serde(default)]
    pub udp: Option<Udp>,
    /// How much later than planned connections were opened.
    pub start_lateness_ms: Option<Spread>,
    /// Of complete connections: from the first octet sent to the last one taken (D, section 4.5.2).
    pub duration_ms: Option<Spread>,
    /// Of complete connections: from the beginning of the handshake to the last octet taken.
    pub duration_from_connect_ms: Option<Spread>,
    /// Of all answered requests of connections that were sequential before a model changed that: from the first octet of the request sent
    /// to the last octet of the response taken (D, section 4.5.3).
    pub response_ms: Option<Spread>,
    /// The queue of the forward direction every 10 ms.
    pub queue_packets: Option<Spread>,
    /// The same as the time it takes to drain; null for a link without a rate.
    pub queue_ms: Option<Spread>,
    /// Share of these moments at which nothing waited, in per cent.
    pub queue_empty_pct: Option<f64>,
    /// Packets dropped by the links in the whole run, whatever the cause; null between two hosts.
    pub drops: Option<u64>,
    /// Connections that were alive in a second, as a monitor on the link sees them.
    pub active_connections: Option<Spread>,
    /// What the bottleneck carried, IP headers included; null between two hosts.
    pub throughput_mbps: Option<BothWays>,
    /// The same in packets.
    pub packets_per_s: Option<BothWays>,
    /// What the hosts took: data alone, without headers, and nothing twice.
    pub goodput_mbps: BothWays,
    /// What came to the bottleneck's queue in the forward direction.
    pub arrivals: Option<Arrivals>,
    /// The part of the run that queue, throughput and active connections are of.
    pub window: Window,
    /// The forward direction: that in which more data was to be sent.
    pub forward: Way,
    /// In a lab: what its links carried, queued and dropped.
    pub links: Vec<LinkTruth>,
}

/// Connections by what became of them.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Connections {
    /// Those that were to be opened.
    pub planned: u64,
    /// All was said and heard, and both ends closed.
    pub completed: u64,
    /// Broken while they were open.
    pub reset: u64,
    /// Those that could not be made.
    pub refused: u64,
    /// Cut at the end of the run.
    pub unfinished: u64,
    /// Those that were not opened before the end of the run.
    pub never: u64,
}

/// Data of both directions.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Bytes {
    /// Octets that were to be sent.
    pub planned: u64,
    /// Octets that arrived.
    pub sent: u64,
}

/// A figure for each direction of the bottleneck.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct BothWays {
    /// In the direction in which more was to be sent.
    pub forward: f64,
    /// In the other.
    pub reverse: f64,
}

/// Packets that came to a queue.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Arrivals {
    /// On average, in thousands a second.
    pub mean_kpps: f64,
    /// Coefficient of variation in bins of 1 s.
    pub cov_1s: Option<f64>,
    /// The same in bins of 10 ms.
    pub cov_10ms: Option<f64>,
    /// The Hurst parameter by wavelets, from bins of 1 ms.
    pub hurst: Option<Hurst>,
}

impl Arrivals {
    /// Of the packets in each millisecond; none without any.
    pub fn of(millis: &[f64]) -> Option<Self> {
        let of_bins = |count: usize| {
            let sums = millis.chunks_exact(count).map(|bins| bins.iter().sum());
            variation(&sums.collect::<Vec<f64>>())
        };
        (!millis.is_empty()).then(|| Self {
            mean_kpps: millis.iter().sum::<f64>() / millis.len() as f64,
            cov_1s: of_bins(1_000),
            cov_10ms: of_bins(10),
            hurst: Hurst::of(&octaves(millis)),
        })
    }
}

/// A part of a run.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Window {
    /// Its beginning, after the first planned start.
    pub from_s: f64,
    /// Its end.
    pub to_s: f64,
}

/// A distribution, with the 80th percentile that D prints.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Spread {
    /// The distribution itself.
    #[serde(flatten)]
    pub of: Distribution,
    /// 80th percentile.
    pub p80: f64,
    /// Standard deviation.
    pub sd: f64,
}

impl Spread {
    /// The distribution in microseconds, of one in milliseconds.
    pub const fn in_us(&self) -> Distribution {
        let of = self.of;
        Distribution {
            n: of.n,
            min: of.min * 1e3,
            mean: of.mean * 1e3,
            p50: of.p50 * 1e3,
            p90: of.p90 * 1e3,
            p95: of.p95 * 1e3,
            p99: of.p99 * 1e3,
            max: of.max * 1e3,
        }
    }

    /// Of samples in milliseconds; none without any.
    pub fn of(samples: &[f64]) -> Option<Self> {
        let of = Distribution::of(samples.iter().copied())?;
        let mut sorted = samples.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let squares = sorted.iter().map(|sample| (sample - of.mean).powi(2));
        let variance = squares.sum::<f64>() / sorted.len() as f64;
        Some(Self {
            of,
            p80: quantile(&sorted, 0.8)?,
            sd: variance.sqrt(),
        })
    }
}

/// What became of flows of UDP.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Udp {
    /// Those that were to be played.
    pub planned: u64,
    /// Both ends said everything, and heard everything or gave it up.
    pub completed: u64,
    /// A socket failed, or there was none.
    pub broken: u64,
    /// Cut at the end of the run.
    pub unfinished: u64,
    /// Those that did not begin before the end of the run.
    pub never: u64,
    /// Octets of both directions.
    pub bytes: Bytes,
    /// Datagrams of both directions.
    pub datagrams: Datagrams,
    /// How much later than planned flows began.
    pub start_lateness_ms: Option<Spread>,
    /// Of each flow the most that a datagram was sent after its time.
    pub send_lateness_ms: Option<Spread>,
}

/// Datagrams of both directions.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Datagrams {
    /// Those that were given to a kernel.
    pub sent: u64,
    /// Those that were taken from one.
    pub received: u64,
    /// Those of completed flows that were sent and had not arrived when nobody waited for them any more.
    pub lost: u64,
}
