//! What a far end of somebody else tells of losses, marks and times, over a run.

use far_ends::Reply;
use schema::estimate::Plan;

/// What the far end has counted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    /// Number of the latest request that was replied to, and how many had arrived by then.
    latest: Option<(u32, u32)>,
    /// Replies, each request's first.
    pub(super) replies: u64,
    /// Replies that had time stamps which can be.
    pub(super) stamped: u64,
    /// Requests whose DSCP arrived as another one, of those that were told of.
    pub(super) remarked: Option<u64>,
    /// The same of their ECN field.
    pub(super) ecn_changed: Option<u64>,
}

impl Tally {
    /// Enters a request's first reply.
    pub(super) fn count(&mut self, reply: &Reply, plan: &Plan) {
        self.replies += 1;
        self.stamped += u64::from(reply.stamps.is_some());
        if let Some(class) = reply.class {
            let remarked = self.remarked.get_or_insert(0);
            *remarked += u64::from(class.dscp != plan.class);
            let ecn_changed = self.ecn_changed.get_or_insert(0);
            *ecn_changed += u64::from(class.ecn != plan.class().ecn);
        }
        if let Some(arrived) = reply.arrived
            && self.latest.is_none_or(|(number, _)| number < reply.number)
        {
            self.latest = Some((reply.number, arrived));
        }
    }

    /// Whether delays of each way are known: every reply had its time stamps.
    pub(super) const fn has_stamps(&self) -> bool {
        self.stamped > 0 && self.stamped == self.replies
    }

    /// Requests lost on the way there, and replies lost on the way back, up to the latest request that was replied to; nothing where
    /// that cannot be told.
    pub(super) fn lost(&self) -> Option<[u64; 2]> {
        let (number, arrived) = self.latest?;
        let sent = u64::from(number) + 1;
        let arrived = u64::from(arrived);
        Some([
            sent.saturating_sub(arrived),
            arrived.saturating_sub(self.replies),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::{Dscp, Ecn, Span};

    fn plan() -> Plan {
        Plan {
            what: schema::estimate::plan::What::Loss,
            method: schema::estimate::plan::Method::Isochronous,
            direction: schema::Direction::Up,
            duration: Span(std::time::Duration::from_secs(1)),
            most: "1Mbit".parse().unwrap(),
            class: Dscp::EF,
            seed: 1,
        }
    }

    /// Replies as (number, requests that had arrived).
    fn lost(replies: &[(u32, u32)]) -> Option<[u64; 2]> {
        let mut tally = Tally::default();
        for &(number, arrived) in replies {
            let reply = Reply {
                number,
                arrived: Some(arrived),
                ..Reply::default()
            };
            tally.count(&reply, &plan());
        }
        tally.lost()
    }

    #[test]
    fn a_count_that_falls_behind_tells_the_way_of_a_loss() {
        // Requests 1 and 3 were lost, and the reply to 2.
        assert_eq!(lost(&[(0, 1), (4, 3)]), Some([2, 1]));
        // Replies that overtake each other.
        assert_eq!(lost(&[(4, 4), (0, 1), (3, 3)]), Some([1, 1]));
        assert_eq!(lost(&[(0, 1), (1, 2), (2, 3)]), Some([0, 0]));
        // All losses on the way back.
        assert_eq!(lost(&[(0, 1), (2, 3)]), Some([0, 1]));
    }

    #[test]
    fn without_a_count_no_way_is_told() {
        let mut tally = Tally::default();
        tally.count(&Reply::default(), &plan());
        assert_eq!((tally.replies, tally.lost()), (1, None));
    }

    #[test]
    fn a_class_that_changed_is_counted() {
        let mut tally = Tally::default();
        assert_eq!((tally.remarked, tally.ecn_changed), (None, None));
        for (dscp, ecn) in [
            (Dscp::EF, Ecn::NotEct),
            (Dscp::CS0, Ecn::NotEct),
            (Dscp::EF, Ecn::Ce),
        ] {
            let reply = Reply {
                class: Some(units::TrafficClass { dscp, ecn }),
                ..Reply::default()
            };
            tally.count(&reply, &plan());
        }
        assert_eq!((tally.remarked, tally.ecn_changed), (Some(1), Some(1)));
    }
}
