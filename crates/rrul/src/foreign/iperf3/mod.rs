//! The load of an iperf3 server.
//!
//! It has one test at a time. So it is claimed before anything is measured ([`Claim`]): an idle path is one that nobody else's test loads.
//! Both directions of the load are one bidirectional test.

mod control;
mod load;

pub use control::Claim;
