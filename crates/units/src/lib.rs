//! The quantities every floor speaks in.
//!
//! A number that crosses a crate border carries its unit in its type: [`Instant`] is nanoseconds on
//! a monotonic clock, [`Rate`] is bits per second, [`Bytes`] is octets, and a span of time is
//! [`core::time::Duration`]. A unit appears in a *name* only where a number leaves Rust (`rtt_ns`
//! in Parquet, `throughput_mbps` in JSON).
//!
//! What a person types is parsed here too, and only here: `10Mbit`, `50ms`, `64KiB`. A bare number
//! where a unit matters is refused, with the accepted forms in the message ([`QuantityError`]).
//!
//! Nothing in this crate reads a clock: whoever has one passes `now` in.
#![forbid(unsafe_code)]

mod bytes;
mod flow;
mod http;
mod marks;
mod quantity;
mod rate;
mod source;
mod span;
mod time;

pub use bytes::Bytes;
pub use flow::FlowId;
pub use http::{HttpVersion, UnknownHttpVersion};
pub use marks::{Dscp, Ecn, TrafficClass};
pub use quantity::QuantityError;
pub use rate::{Rate, Transmitter};
pub use source::source;
pub use span::Span;
pub use time::{Instant, Stamp, nanos};
