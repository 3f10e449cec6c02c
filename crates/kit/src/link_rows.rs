//! What is said of a link in every world, from what the path itself counted.

use path::{Count, Counters};
use record::{Distribution, Label};
use schema::tables::Queue;
use units::Rate;

/// The row of the table `queue` at `t_ns` of one direction of a link: what waits, and what has been dropped and marked so far.
pub fn queue(
    t_ns: u64,
    (link, direction): (&str, &'static str),
    waiting: Count,
    totals: &Counters,
) -> Queue {
    Queue {
        t_ns,
        link: Label::from(link.to_owned()),
        direction: direction.into(),
        stage: "all".into(),
        packets: waiting.packets,
        bytes: waiting.bytes,
        dropped_overflow: totals.overflow.packets,
        dropped_aqm: totals.aqm.packets,
        dropped_loss: totals.loss.packets,
        marked: totals.marked.packets,
    }
}

/// How long queues of so many octets take to drain, in ms; nothing without a rate.
pub fn queue_ms(rate: Option<Rate>, octets: &[u64]) -> Option<Distribution> {
    let rate = rate?;
    Distribution::of(
        octets
            .iter()
            .map(|octets| rate.time_for(*octets).as_secs_f64() * 1e3),
    )
}
