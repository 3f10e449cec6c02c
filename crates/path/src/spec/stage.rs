//! The kinds of stage.

use super::{CrossSpec, QueueSpec};
use crate::{Distribution, DscpTable, EcnChange, Family, Probability};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Rate, Span};

/// One stage of a path; `kind` says which.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum StageSpec {
    /// A link with a constant rate.
    Rate {
        /// The rate.
        rate: Rate,
        /// The queue in front; without one, first in, first out, 1,000 packets.
        #[serde(default)]
        queue: QueueSpec,
        /// Other people's packets that share the queue; without it, none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cross: Option<CrossSpec>,
    },
    /// A link that follows a recorded trace in mahimahi's format.
    Trace {
        /// The trace's name, or its file.
        trace: String,
        /// The queue in front; without one, first in, first out, 1,000 packets.
        #[serde(default)]
        queue: QueueSpec,
        /// Other people's packets that share the queue; without it, none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cross: Option<CrossSpec>,
    },
    /// A shaper.
    TokenBucket {
        /// Rate at which tokens come.
        rate: Rate,
        /// The most tokens; at least the largest packet.
        burst: Bytes,
        /// Rate at which a burst leaves; without one, at once.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        peak: Option<Rate>,
        /// The queue in front; without one, first in, first out, 1,000 packets.
        #[serde(default)]
        queue: QueueSpec,
        /// Other people's packets that share the queue; without it, none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cross: Option<CrossSpec>,
    },
    /// The same delay for all packets.
    Delay {
        /// The delay, one way.
        delay: Span,
    },
    /// A delay that differs from packet to packet.
    Jitter {
        /// The distribution's place: mean, or least for `pareto`.
        delay: Span,
        /// The distribution's width: half the range, standard deviation, or mean of the tail.
        jitter: Span,
        /// How delays scatter.
        #[serde(default)]
        distribution: Distribution,
        /// Whether packets may overtake each other.
        #[serde(default)]
        reorder: bool,
    },
    /// A delay for each flow, drawn evenly from a range.
    FlowDelay {
        /// The least delay.
        min: Span,
        /// The greatest delay.
        max: Span,
    },
    /// A delay for each connection, assigned by whoever makes it; none for the others.
    ConnectionDelay {},
    /// Independent loss.
    Loss {
        /// Share of packets lost.
        probability: Probability,
    },
    /// Loss in bursts.
    GilbertElliott {
        /// Probability, at each packet, of going from the good state to the bad.
        p: Probability,
        /// Probability, at each packet, of going from the bad state to the good.
        r: Probability,
        /// Loss in the good state.
        #[serde(default)]
        loss_good: Probability,
        /// Loss in the bad state.
        #[serde(default = "certain")]
        loss_bad: Probability,
    },
    /// Loss of certain packets.
    Drop {
        /// Their numbers, counted from 1 as packets come to the stage.
        packets: Vec<u64>,
    },
    /// Loss of all packets of one version of IP.
    Blackhole {
        /// The version: 4 or 6.
        family: Family,
    },
    /// Packets held back so that later ones overtake them.
    Reorder {
        /// Share of packets held back.
        probability: Probability,
        /// For how long.
        delay: Span,
    },
    /// Packets sent twice.
    Duplicate {
        /// Share of packets sent twice.
        probability: Probability,
    },
    /// Marks that change on the way.
    Remark {
        /// From DSCP to DSCP; `*` is every DSCP without an entry of its own.
        #[serde(default, skip_serializing_if = "DscpTable::is_empty")]
        dscp: DscpTable,
        /// What becomes of the ECN field; without it, nothing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ecn: Option<EcnChange>,
        /// Share of packets that are changed.
        #[serde(default = "certain")]
        probability: Probability,
    },
}

const fn certain() -> Probability {
    Probability::ONE
}

impl StageSpec {
    /// The kind, as it is written.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Rate { .. } => "rate",
            Self::Trace { .. } => "trace",
            Self::TokenBucket { .. } => "token_bucket",
            Self::Delay { .. } => "delay",
            Self::Jitter { .. } => "jitter",
            Self::FlowDelay { .. } => "flow_delay",
            Self::ConnectionDelay {} => "connection_delay",
            Self::Loss { .. } => "loss",
            Self::GilbertElliott { .. } => "gilbert_elliott",
            Self::Drop { .. } => "drop",
            Self::Blackhole { .. } => "blackhole",
            Self::Reorder { .. } => "reorder",
            Self::Duplicate { .. } => "duplicate",
            Self::Remark { .. } => "remark",
        }
    }
}
