//! Replayed traffic: records of `isobath replay`.

pub mod plan;
mod summary;
pub mod tables;

pub use plan::Plan;
pub use summary::{
    Arrivals, BothWays, Bytes, Connections, Datagrams, Spread, Summary, Udp, Window,
};
