//! The kinds of queue.

use super::FULL_PACKET;
use crate::{CoDelConfig, FqCoDelConfig, Limit, PieConfig, RedConfig};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Bytes;

/// A queue; `kind` says which.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum QueueSpec {
    /// First in, first out.
    Fifo(Limit),
    /// Random early detection.
    Red(RedConfig),
    /// Controlled delay.
    #[serde(rename = "codel")]
    CoDel(CoDelConfig),
    /// Flow queueing with controlled delay.
    #[serde(rename = "fq_codel")]
    FqCoDel(FqCoDelConfig),
    /// Proportional integral controller enhanced.
    Pie(PieConfig),
}

impl Default for QueueSpec {
    /// First in, first out, 1,000 packets.
    fn default() -> Self {
        Self::Fifo(Limit::packets(1_000))
    }
}

impl QueueSpec {
    /// The kind, as it is written.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Fifo(_) => "fifo",
            Self::Red(_) => "red",
            Self::CoDel(_) => "codel",
            Self::FqCoDel(_) => "fq_codel",
            Self::Pie(_) => "pie",
        }
    }

    /// The most that the queue holds.
    pub const fn limit(&self) -> Limit {
        match *self {
            Self::Fifo(limit) => limit,
            Self::Red(RedConfig { packets, .. })
            | Self::CoDel(CoDelConfig { packets, .. })
            | Self::FqCoDel(FqCoDelConfig { packets, .. })
            | Self::Pie(PieConfig { packets, .. }) => Limit::packets(packets),
        }
    }

    /// Whether the queue marks instead of dropping.
    pub const fn ecn(&self) -> bool {
        match *self {
            Self::Fifo(_) => false,
            Self::Red(RedConfig { ecn, .. })
            | Self::CoDel(CoDelConfig { ecn, .. })
            | Self::FqCoDel(FqCoDelConfig { ecn, .. })
            | Self::Pie(PieConfig { ecn, .. }) => ecn,
        }
    }

    /// The most octets that the queue holds, with packets of 1,500 octets; `None` without a limit.
    pub fn capacity(&self) -> Option<Bytes> {
        let limit = self.limit();
        let packets = limit
            .packets
            .map(|n| Bytes::new(u64::from(n) * FULL_PACKET));
        match (packets, limit.bytes) {
            (Some(packets), Some(bytes)) => Some(packets.min(bytes)),
            (packets, bytes) => packets.or(bytes),
        }
    }
}
