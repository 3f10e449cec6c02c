//! How much a set of connections asks of a network.

use crate::model::Footprint;
use crate::{Side, Vector};
use core::time::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Span;

/// Connections and their octets over a span of starts.
///
/// Octets are those that applications gave to TCP. Those of a connection count where it starts, even if it goes on for an
/// hour; over a span much longer than the connections that comes to the same.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Load {
    /// The span in which they start.
    pub span: Span,
    /// Connections.
    pub connections: u64,
    /// Octets of initiators and of acceptors.
    pub bytes: [u64; 2],
}

impl Load {
    /// Of nothing, in `span`.
    pub fn over(span: Duration) -> Self {
        Self {
            span: Span(span),
            ..Self::default()
        }
    }

    /// Adds a vector.
    pub fn enter(&mut self, vector: &Vector) {
        self.add(&Footprint::of(vector));
    }

    /// Adds a vector of which only this is known.
    pub fn add(&mut self, footprint: &Footprint) {
        self.connections += 1;
        for (sum, bytes) in self.bytes.iter_mut().zip(footprint.bytes) {
            *sum = sum.saturating_add(bytes);
        }
    }

    /// Octets of one end, or of both.
    pub fn bytes_of(&self, side: Option<Side>) -> u64 {
        bytes_of(self.bytes, side)
    }

    /// Offered load in bit/s, of one end or of both; zero over no time.
    pub fn bits_per_second(&self, side: Option<Side>) -> f64 {
        self.per_second(self.bytes_of(side) as f64 * 8.0)
    }

    /// Starts per second; zero over no time.
    pub fn starts_per_second(&self) -> f64 {
        self.per_second(self.connections as f64)
    }

    fn per_second(&self, amount: f64) -> f64 {
        let seconds = self.span.0.as_secs_f64();
        if seconds > 0.0 { amount / seconds } else { 0.0 }
    }
}

pub(super) fn bytes_of(bytes: [u64; 2], side: Option<Side>) -> u64 {
    match side {
        Some(side) => bytes[side.index()],
        None => bytes[0].saturating_add(bytes[1]),
    }
}
