//! The fleet's page, for a browser: a matrix of pairs for each measurement, each pair's history, and the reports of records.
//!
//! ```text
//! /                                       all fleets, and the agents that are there
//! /fleet/FLEET                            a matrix for each of its measurements
//! /fleet/FLEET/MEASUREMENT/FROM/TO        the history of a pair
//! /run/FLEET.MEASUREMENT.FROM.TO.INSTANT  the report of a run's record
//! /v1/estimates/WHAT, /v1/paths           the latest estimates, for programs
//! ```
//!
//! [`ask`] answers programs. [`board`] keeps what is known of runs, which comes in as it is handed over, [`state`] that of all fleets. Pages
//! are made of it when they are asked for, whole and without a script. A script of a few lines only asks for the page again and puts what is
//! new in its place. Reports are drawn by a process of their own ([`drawing`]).

mod ask;
mod board;
mod chart;
mod drawing;
mod history;
mod html;
mod live;
mod matrix;
mod overview;
mod state;
#[cfg(test)]
mod tests;

pub(crate) use live::{Served, serve};
