//! Marks that change on the way.
//!
//! The traffic-class octet is not covered by any end-to-end checksum, and any network on the path
//! may rewrite it: DSCPs mean something only inside one operator's domain (RFC 2474 section 3), so
//! edges set what comes from outside to the default; old equipment that still takes the octet for
//! the TOS of RFC 791 clears the ECN field with it ("bleaching"), which takes congestion signals
//! away from senders that asked for them.

mod table;

pub use table::DscpTable;

use crate::random::Dice;
use crate::{Counters, Element, Packet, Probability};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::VecDeque;
use units::{Dscp, Ecn, Instant};

/// What becomes of the ECN field.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EcnChange {
    /// Whatever it is becomes Not-ECT.
    Bleach,
    /// ECT(0) and ECT(1) become CE; Not-ECT must not be marked (RFC 3168 section 5) and stays.
    Ce,
}

impl EcnChange {
    const fn of(self, ecn: Ecn) -> Ecn {
        match self {
            Self::Bleach => Ecn::NotEct,
            Self::Ce if ecn.is_capable() => Ecn::Ce,
            Self::Ce => ecn,
        }
    }
}

impl JsonSchema for EcnChange {
    fn schema_name() -> Cow<'static, str> {
        "EcnChange".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "What becomes of the ECN field.",
            "type": "string",
            "enum": ["bleach", "ce"],
        })
    }
}

/// Changes DSCP and ECN of the packets that pass, or of a share of them. Nothing is held up or
/// lost.
#[derive(Clone, Debug)]
pub struct Remark {
    /// What each DSCP becomes.
    dscp: [Dscp; 64],
    ecn: Option<EcnChange>,
    probability: f64,
    dice: Dice,
    counters: Counters,
}

impl Remark {
    /// An element that, with `probability`, changes a packet's DSCP by `dscp` and its ECN field by
    /// `ecn`.
    pub fn new(
        dscp: &DscpTable,
        ecn: Option<EcnChange>,
        probability: Probability,
        seed: u64,
    ) -> Self {
        Self {
            dscp: dscp.all(),
            ecn,
            probability: probability.get(),
            dice: Dice::new(seed),
            counters: Counters::default(),
        }
    }

    fn change<B>(&mut self, packet: &mut Packet<B>) {
        if let Some(dscp) = self.dscp.get(usize::from(packet.dscp.get())) {
            packet.dscp = *dscp;
        }
        let before = packet.ecn;
        packet.ecn = self.ecn.map_or(before, |change| change.of(before));
        if packet.ecn == Ecn::Ce && before != Ecn::Ce {
            self.counters.marked.put(packet.size);
        }
    }
}

impl<B> Element<B> for Remark {
    fn process(
        &mut self,
        packet: Option<Packet<B>>,
        _: Instant,
        out: &mut VecDeque<Packet<B>>,
    ) -> Option<Instant> {
        let mut packet = packet?;
        self.counters.enter(packet.size);
        self.counters.leave(packet.size);
        if self.dice.chance(self.probability) {
            self.change(&mut packet);
        }
        out.push_back(packet);
        None
    }

    fn counters(&self) -> Counters {
        self.counters
    }
}
