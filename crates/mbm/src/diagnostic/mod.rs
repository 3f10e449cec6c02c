//! The tests of RFC 8337 section 8: which stream each sends, and what decides.
//!
//! | test | section | stream | decided by |
//! |---|---|---|---|
//! | [`Test::PacedFullRate`] | 8.1.1 | paced single packets at the target rate (the thesis's Basic Data Rate test) | losses |
//! | [`Test::WindowedFullRate`] | 8.1.2 | constant window | losses |
//! | [`Test::Background`] | 8.1.3 | paced single packets at a tenth of the rate | losses |
//! | [`Test::CongestionAvoidance`] | 8.2.1 | scanned window | packets between the onset of queueing and the first loss |
//! | [`Test::Bufferbloat`] | 8.2.2 | scanned window | standing queue at the first loss |
//! | [`Test::NonExcessiveLoss`] | 8.2.3 | scanned window | losses in the round of the first |
//! | [`Test::DuplexSelfInterference`] | 8.2.4 | scanned window | round trips beyond what the queue explains |
//! | [`Test::FullWindowSlowStart`] | 8.3.1 | repeated slow-start bursts | losses |
//! | [`Test::SlowStartAqm`] | 8.3.2 | slow-start rate until a loss | queue behind the first loss |
//! | [`Test::SenderRateBurst`] | 8.4 | rare bursts of a window at the interface's rate | losses |
//! | [`Test::SustainedBurst`] | 8.5.1 | bursts of a window every target round trip | losses |
//! | [`Test::Passive`] | 8.5.2 | none: the counts of another measurement | losses, if the load stayed inside the envelope |
//!
//! The RFC calls those decided by losses *capacity tests*; the standing-queue and AQM tests are *engineering tests*: a path that fails one
//! may still carry this target, but not well beside others.

mod aqm;
mod beyond;
mod onset;
mod passive;
mod setup;
mod standing;
mod tcp;

pub use aqm::{AqmLimits, judge_rounds};
pub use onset::{Onset, onset};
pub use passive::{Envelope, Load, judge_passive};
pub use setup::{BACKGROUND_SHARE, Setup};
pub use standing::{QueueLimits, judge_scan};
pub use tcp::{IDLE, NotByTcp, TcpShape};

use core::fmt;
use core::str::FromStr;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A test of RFC 8337 section 8. See the module for what each does.
#[derive(
    Clone, Copy, Debug, Deserialize, Eq, Hash, JsonSchema, Ord, PartialEq, PartialOrd, Serialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Test {
    /// Section 8.1.1.
    PacedFullRate,
    /// Section 8.1.2.
    WindowedFullRate,
    /// Section 8.1.3.
    Background,
    /// Section 8.2.1.
    CongestionAvoidance,
    /// Section 8.2.2.
    Bufferbloat,
    /// Section 8.2.3.
    NonExcessiveLoss,
    /// Section 8.2.4.
    DuplexSelfInterference,
    /// Section 8.3.1.
    FullWindowSlowStart,
    /// Section 8.3.2.
    SlowStartAqm,
    /// Section 8.4.
    SenderRateBurst,
    /// Section 8.5.1.
    SustainedBurst,
    /// Section 8.5.2.
    Passive,
}

/// What decides a test.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Decider {
    /// Losses, by a [`Judge`](crate::verdict::Judge).
    Losses,
    /// The scan, by [`judge_scan`].
    Scan,
    /// The rounds, by [`judge_rounds`].
    Rounds,
    /// The counts of another measurement, by [`judge_passive`].
    Counts,
}

/// A name that is no test's.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[error("no test is called {name}; there are: {}", Test::ALL.map(Test::name).join(", "))]
pub struct UnknownTest {
    /// What was asked for.
    pub name: String,
}

impl Test {
    /// Every test, in the RFC's order.
    pub const ALL: [Self; 12] = [
        Self::PacedFullRate,
        Self::WindowedFullRate,
        Self::Background,
        Self::CongestionAvoidance,
        Self::Bufferbloat,
        Self::NonExcessiveLoss,
        Self::DuplexSelfInterference,
        Self::FullWindowSlowStart,
        Self::SlowStartAqm,
        Self::SenderRateBurst,
        Self::SustainedBurst,
        Self::Passive,
    ];

    /// Its name, as it is typed and written.
    pub const fn name(self) -> &'static str {
        match self {
            Self::PacedFullRate => "paced-full-rate",
            Self::WindowedFullRate => "windowed-full-rate",
            Self::Background => "background",
            Self::CongestionAvoidance => "congestion-avoidance",
            Self::Bufferbloat => "bufferbloat",
            Self::NonExcessiveLoss => "non-excessive-loss",
            Self::DuplexSelfInterference => "duplex-self-interference",
            Self::FullWindowSlowStart => "full-window-slow-start",
            Self::SlowStartAqm => "slow-start-aqm",
            Self::SenderRateBurst => "sender-rate-burst",
            Self::SustainedBurst => "sustained-burst",
            Self::Passive => "passive",
        }
    }

    /// The section of RFC 8337 that defines it.
    pub const fn section(self) -> &'static str {
        match self {
            Self::PacedFullRate => "8.1.1",
            Self::WindowedFullRate => "8.1.2",
            Self::Background => "8.1.3",
            Self::CongestionAvoidance => "8.2.1",
            Self::Bufferbloat => "8.2.2",
            Self::NonExcessiveLoss => "8.2.3",
            Self::DuplexSelfInterference => "8.2.4",
            Self::FullWindowSlowStart => "8.3.1",
            Self::SlowStartAqm => "8.3.2",
            Self::SenderRateBurst => "8.4",
            Self::SustainedBurst => "8.5.1",
            Self::Passive => "8.5.2",
        }
    }

    /// What decides it.
    pub const fn decider(self) -> Decider {
        match self {
            Self::CongestionAvoidance
            | Self::Bufferbloat
            | Self::NonExcessiveLoss
            | Self::DuplexSelfInterference => Decider::Scan,
            Self::SlowStartAqm => Decider::Rounds,
            Self::Passive => Decider::Counts,
            _ => Decider::Losses,
        }
    }

    /// Whether the path is the stream's clock.
    pub const fn is_self_clocked(self) -> bool {
        matches!(self, Self::WindowedFullRate) || matches!(self.decider(), Decider::Scan)
    }
}

impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Test {
    type Err = UnknownTest;

    fn from_str(name: &str) -> Result<Self, UnknownTest> {
        let found = Self::ALL.into_iter().find(|test| test.name() == name);
        found.ok_or_else(|| UnknownTest {
            name: name.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests;
