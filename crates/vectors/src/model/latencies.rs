//! Which pauses of the ends are worth keeping.

use core::time::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Span;

/// The rule for the waits that a structure keeps. The default is D's.
///
/// > latencies below 500 ms could easily be due to network effects
///
/// (D, section 3.1.3.3, shortened.) A replay has a network of its own, so what may have been the old network's is left
/// out. About one in six of the waits within an epoch is longer than that.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Latencies {
    /// A wait shorter than this becomes none. 500 ms; zero keeps all.
    pub threshold: Span,
    /// Whether the round-trip time is taken off what remains of a wait between a request and its response. Measured at the
    /// initiator, that wait holds one round trip, which a replay adds again; D does not say that it subtracts it. Measured
    /// at a monitor on the path it holds only the part behind the monitor, and the wait between epochs the other; then this
    /// takes off as much as both together hold. With this a model applied twice is not the model applied once.
    pub subtract_rtt: bool,
    /// Whether the time between the handshake and the first ADU is kept. D's vectors do not have it.
    pub first: bool,
    /// Whether the time between the last ADU and the close is kept. D leaves it out: "adds much overhead to our traffic
    /// generation system". A model without it closes at once.
    pub tail: bool,
}

impl Default for Latencies {
    fn default() -> Self {
        Self {
            threshold: Span::from_millis(500),
            subtract_rtt: false,
            first: false,
            tail: false,
        }
    }
}

impl Latencies {
    /// Everything as it was measured.
    pub const ALL: Self = Self {
        threshold: Span(Duration::ZERO),
        subtract_rtt: false,
        first: true,
        tail: true,
    };

    /// What a replay waits for a wait of this length.
    pub fn emulated(&self, wait: Duration) -> Duration {
        if wait < self.threshold.0 {
            Duration::ZERO
        } else {
            wait
        }
    }

    /// What a responder waits; `rtt` is the connection's.
    pub(super) fn within_epoch(&self, wait: Duration, rtt: Option<Duration>) -> Duration {
        let rtt = rtt.filter(|_| self.subtract_rtt).unwrap_or_default();
        self.emulated(wait).saturating_sub(rtt)
    }

    /// What an end waits before it says anything.
    pub(super) fn at_first(&self, wait: Duration) -> Duration {
        if self.first {
            self.emulated(wait)
        } else {
            Duration::ZERO
        }
    }

    /// What an end waits before it closes; unknown stays so only where it is kept.
    pub(super) fn at_last(&self, wait: Option<Duration>) -> Option<Duration> {
        if self.tail {
            wait.map(|wait| self.emulated(wait))
        } else {
            Some(Duration::ZERO)
        }
    }
}
