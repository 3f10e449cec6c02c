//! A delay of its own for each flow.

use super::DelayModel;
use crate::random::unit_hash;
use std::time::Duration;
use units::{FlowId, Instant};

/// Delays all packets of a flow alike, and flows apart: many round-trip times on one wire. Order is
/// kept within a flow, not between flows.
pub struct FlowDelay {
    of: Box<dyn FnMut(FlowId) -> Duration + Send>,
}

impl FlowDelay {
    /// Each flow's delay is drawn from `min..=max`, evenly, by a hash of its id and `seed`: the same
    /// flow has the same delay in every run, and no table grows.
    pub fn uniform(min: Duration, max: Duration, seed: u64) -> Self {
        let width = max.saturating_sub(min);
        Self::from_fn(move |flow| min + width.mul_f64(unit_hash(flow.0, seed)))
    }

    /// Each flow's delay is what `of` says; asked at every packet.
    pub fn from_fn(of: impl FnMut(FlowId) -> Duration + Send + 'static) -> Self {
        Self { of: Box::new(of) }
    }
}

impl DelayModel for FlowDelay {
    fn departure(&mut self, flow: FlowId, at: Instant) -> Instant {
        at + (self.of)(flow)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_keeps_its_delay_and_flows_fill_the_range() {
        let (min, max) = (Duration::from_millis(10), Duration::from_millis(150));
        let mut model = FlowDelay::uniform(min, max, 5);
        let mut total = Duration::ZERO;
        for flow in (0..10_000).map(FlowId) {
            let delay = model.departure(flow, Instant::ZERO).since(Instant::ZERO);
            assert!(delay >= min && delay <= max);
            let again = model.departure(flow, Instant::from_millis(7));
            assert_eq!(again.since(Instant::from_millis(7)), delay);
            total += delay;
        }
        let mean = total.as_secs_f64() / 10_000.0;
        // Four standard errors of a uniform mean: 4 * 140 ms / sqrt(12 * 10,000).
        assert!((mean - 0.080).abs() < 0.00162, "{mean}");
    }

    #[test]
    fn a_table_can_be_given_instead() {
        let table = [Duration::from_millis(3), Duration::from_millis(9)];
        let mut model = FlowDelay::from_fn(move |flow| table[usize::from(flow.0 != 0)]);
        assert_eq!(
            model.departure(FlowId(0), Instant::ZERO),
            Instant::from_millis(3)
        );
        assert_eq!(
            model.departure(FlowId(4), Instant::ZERO),
            Instant::from_millis(9)
        );
    }
}
