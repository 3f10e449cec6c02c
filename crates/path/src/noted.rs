//! What comes to a queue.

use units::Instant;

/// When a packet came to a queue, and its octets.
pub type Arrival = (Instant, u32);

/// Arrivals, noted once somebody wants them.
#[derive(Debug, Default)]
pub(crate) struct Noted(Option<Vec<Arrival>>);

impl Noted {
    /// Notes them from now on.
    pub(crate) fn watch(&mut self) {
        self.0.get_or_insert_default();
    }

    #[inline]
    pub(crate) fn note(&mut self, at: Instant, octets: u32) {
        if let Some(arrivals) = &mut self.0 {
            arrivals.push((at, octets));
        }
    }

    /// Takes those since the last call, in order.
    pub(crate) fn take(&mut self) -> Vec<Arrival> {
        self.0.as_mut().map(std::mem::take).unwrap_or_default()
    }
}
