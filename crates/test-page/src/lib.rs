//! A page for people who install nothing: their browser is the near end.
//!
//! `isobath serve --also page` serves it. The browser takes round trips over a WebSocket (RFC 6455) all the time, and fills the path both
//! ways over others meanwhile; the plan is one of [`rrul`]'s ([`mod@plan`]). It only observes: what it has seen goes back to the server
//! ([`findings`]), which puts it beside what its own kernel tells of the same connections and makes a record of both with the arithmetic of
//! every other run ([`conclude`]). So `isobath show`, `report` and `compare` treat it as they treat a run of `isobath rrul`.
//!
//! ```text
//! GET  /                         the page: page.html, style.css, page.js; its workers: probe.js, load.js
//! WS   /v1/test                  a run: what is to be done, round trips, and at the end findings and what came of them
//! WS   /v1/load/RUN/STREAM       one stream of load of that run
//! GET  /v1/reports/RUN           its report
//! ```
//!
//! [`desk`] knows the runs under way and lets in only so many; [`server`] answers, [`conversation`] is that of a run, [`load`] a stream.
#![forbid(unsafe_code)]

mod conclude;
mod conversation;
mod desk;
mod findings;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod load;
mod plan;
mod server;

pub use server::make;
