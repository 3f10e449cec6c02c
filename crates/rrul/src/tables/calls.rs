//! Which datagrams of a call there were to send, and which were heard.

use crate::streams::StreamPlan;
use std::collections::HashSet;

/// What is known of a call's stream while it runs.
#[derive(Default)]
pub(super) struct CallCounters {
    pub(super) marks: u8,
    pub(super) start_ns: u64,
    pub(super) every_ns: u64,
    pub(super) least_ns: Option<i64>,
    pub(super) heard: HashSet<u32>,
    /// How many there were to send.
    pub(super) sent: Option<u32>,
    /// Numbers of those that were not sent, by the sender: neither heard nor lost.
    pub(super) unsent: Vec<(u32, u32)>,
    /// How many there can be.
    pub(super) most: u32,
    /// The end that sends.
    pub(super) sender: &'static str,
}

impl CallCounters {
    /// Whether its moment had passed before its sender could send it.
    pub(super) fn was_left_out(&self, seq: u32) -> bool {
        let before = self.unsent.partition_point(|&(first, _)| first <= seq);
        let latest = before.checked_sub(1).and_then(|at| self.unsent.get(at));
        latest.is_some_and(|&(_, end)| seq < end)
    }

    pub(super) fn new(plan: &StreamPlan) -> Self {
        Self {
            marks: plan.marks().octet(),
            start_ns: kit::stream::nanos(plan.start),
            every_ns: kit::stream::nanos(plan.gap),
            most: {
                let length = plan.stop.saturating_sub(plan.start).as_nanos();
                u32::try_from(length / plan.gap.as_nanos().max(1) + 1).unwrap_or(u32::MAX)
            },
            sender: if plan.kind.direction() == "up" {
                "client"
            } else {
                "server"
            },
            ..Self::default()
        }
    }
}
