//! A trial in virtual time: the same plan, tool, tables and figures, over hosts, connections and managers of [`dumbbell::simulated`](crate::dumbbell::simulated).
//!
//! The application and others are here again ([`source`], [`sink`], [`web`]), for those of the lab block on sockets. The tool is the same
//! [`Prober`](super::prober::Prober): while it waits, the world goes on
//! ([`Here`](crate::dumbbell::simulated::Here)). What the bottleneck carried is told to the same books, by
//! packets as they come out of the links ([`watch`]).

mod run;
mod sink;
mod source;
mod stage;
mod watch;
mod web;

pub use run::run;
