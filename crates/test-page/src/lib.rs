//! A page for people who install nothing: their browser is the near end.
//!
//! `isobath serve --also page` serves it. The browser takes round trips all the time, in datagrams or over a WebSocket (RFC 6455), and fills the path both
//! ways over others meanwhile; the plan is one of [`rrul`]'s ([`mod@plan`]). It only observes: what it has seen goes back to the server
//! ([`findings`]), which puts it beside what its own kernel tells of the same connections and makes a record of both with the arithmetic of
//! every other run ([`conclude`]), and says where the browser was the limit, not the path ([`browser`]). So `isobath show`, `report` and `compare` treat it as they treat a run of `isobath rrul`.
//!
//! ```text
//! GET  /                         the page: page.html, style.css, page.js, visit.js; its workers: probe.js, load.js
//! WS   /v1/test                  a run: what is to be done, round trips, and at the end findings and what came of them
//! WS   /v1/load/RUN/STREAM       one stream of load of that run
//! WT   /v1/datagrams/RUN         its probes and a call, where the browser has WebTransport
//! GET  /v1/pages/RUN/LOAD/FILE   a page that is loaded during a run, and its objects
//! GET  /v1/reports/RUN           its report
//! GET  /v1/records/RUN           its record, as one file
//! ```
//!
//! [`desk`] knows the runs under way and lets in only so many; [`server`] answers, [`conversation`] is that of a run, [`load`] a stream, and
//! [`mod@datagrams`] has the probes and the call ([`call`]), [`page_loads`] the page that is loaded meanwhile.
#![forbid(unsafe_code)]

mod browser;
mod call;
mod conclude;
mod conversation;
mod datagrams;
mod desk;
mod findings;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod load;
mod page_loads;
mod plan;
mod server;

pub use server::make;
