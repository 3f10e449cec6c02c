//! Delays that every packet of a flow has alike.

use super::{ConnectionDelay, DelayModel, Fixed};
use std::time::Duration;
use units::{FlowId, Instant};

/// One of the two delays that a simulation looks up with each packet.
#[derive(Debug)]
pub enum SteadyDelay {
    /// The same for all.
    Fixed(Fixed),
    /// Each connection's own.
    Connection(ConnectionDelay),
}

impl DelayModel for SteadyDelay {
    #[inline]
    fn departure(&mut self, flow: FlowId, at: Instant) -> Instant {
        match self {
            Self::Fixed(fixed) => fixed.departure(flow, at),
            Self::Connection(own) => own.departure(flow, at),
        }
    }

    fn least(&self) -> Duration {
        match self {
            Self::Fixed(fixed) => fixed.least(),
            Self::Connection(own) => own.least(),
        }
    }
}
