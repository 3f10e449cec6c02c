//! What can be wrong with the description of a path.

use thiserror::Error;

/// Why a path could not be built. Each message names the place and what to write instead.
#[derive(Debug, Error)]
pub enum Error {
    /// A line of a packet-delivery trace is no time.
    #[error(
        "trace line {line}: '{text}' is not a time in ms - write one whole number a line, never falling"
    )]
    TraceLine {
        /// Line number, from 1.
        line: usize,
        /// What stands there (at most 40 characters).
        text: String,
    },
    /// A trace delivers nothing, or takes no time and so cannot be repeated.
    #[error("trace: it is empty or ends at 0 ms - the last line must be a time above zero")]
    TraceEmpty,
    /// A line of a recording of packets is no packet.
    #[error(
        "recording line {line}: '{text}' is no packet - write the gap in us and the octets, such as '350 1500'"
    )]
    RecordingLine {
        /// Line number, from 1.
        line: usize,
        /// What stands there (at most 40 characters).
        text: String,
    },
    /// A recording has no packets, or takes no time and so cannot be repeated.
    #[error("recording: it has no packets or takes no time - write a line with a gap above zero")]
    RecordingEmpty,
    /// The text of a named trace could not be had.
    #[error(
        "stage {stage}: trace '{name}' cannot be read ({reason}) - give the name of a known trace or a file"
    )]
    TraceUnknown {
        /// Position in the path, from 1.
        stage: usize,
        /// The name in the description.
        name: String,
        /// What the resolver said.
        reason: String,
    },
    /// A named trace was read and refused.
    #[error("stage {stage}: {name}: {source}")]
    TraceBad {
        /// Position in the path, from 1.
        stage: usize,
        /// The name in the description.
        name: String,
        /// What is wrong in it.
        source: Box<Self>,
    },
    /// A value is outside its range, or two values contradict each other.
    #[error("stage {stage}: {what}")]
    Value {
        /// Position in the path, from 1.
        stage: usize,
        /// What is wrong, and what to write instead.
        what: &'static str,
    },
    /// A DSCP stands twice on the left of a table, perhaps once as a name and once as a number.
    #[error("DSCP {0} is changed twice - give it once, by name or by number")]
    DscpTwice(units::Dscp),
    /// A key of a table of DSCPs is neither a DSCP nor the star.
    #[error(transparent)]
    Dscp(#[from] units::QuantityError),
    /// A version of IP is neither 4 nor 6.
    #[error("{0} is not a version of IP - write 4 or 6")]
    Family(u8),
    /// A probability is outside 0 to 1.
    #[error("{0} is not a probability - write a number from 0 to 1, such as 0.01 for 1 %")]
    Probability(f64),
}
