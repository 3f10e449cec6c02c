//! What a stream of probes says of a path, as pure functions.
//!
//! Probes leave time stamps, losses and addresses; each module here turns one kind of them into figures that a standard
//! or a paper defines, and says which. Nothing here reads a clock or opens a socket. Where there is nothing to tell the
//! answer is `None`, and no finite input makes a figure that is not finite.
//!
//! | module | from | to |
//! |---|---|---|
//! | [`clock`] | raw one-way delays of round trips | offset and skew between two clocks |
//! | [`call`] | one stream of a call | loss, lateness, delay variation, bursts, reordering |
//! | [`playout`] | one stream of a call | what is heard behind a jitter buffer that adapts |
//! | [`emodel`] | delay and loss of a call | rating R and mean opinion score |
//! | [`hops`] | path traces, idle and loaded | the link whose queue fills under load |
//! | [`responsiveness`] | durations of HTTPS requests | round trips per minute |
//! | [`stability`] | figures of intervals | whether they have settled |
//! | [`train`] | what an estimator asks for | what came of a train of probes |
//! | [`riders`] | what rode on trains, and what applications offered | what to subtract from what trains find |
//! | [`pathload`] | delays of periodic streams | the available bandwidth |
//! | [`harvest`] | trains that packets of applications are | the available bandwidth, as far as they tell |
//! | [`badabing`] | states of slots of time | frequency and duration of loss episodes |
//! | [`isochronous`] | a steady stream, echoed or one-way | round trip, delays, jitter, loss, reordering |
//! | [`suspicion`] | a fast train | what makes its dispersion lie: a token bucket, coalescence, the sender |
//! | [`chirp`] | delays of streams that grow ever faster | the available bandwidth |
//! | [`yaz`] | mean spacings of periodic streams | the available bandwidth |
//! | [`pathrate`] | dispersions of packets that leave back to back | the capacity |
//! | [`service`] | who wants to know what | which estimator runs when, and who is told |
//! | [`acks`] | octets or segments of TCP data | octets of acknowledgements |
#![forbid(unsafe_code)]

pub mod acks;
pub mod badabing;
pub mod call;
pub mod chirp;
pub mod clock;
pub mod emodel;
pub mod harvest;
pub mod hops;
pub mod isochronous;
pub mod pathload;
pub mod pathrate;
pub mod playout;
pub mod responsiveness;
pub mod riders;
pub mod service;
pub mod spread;
pub mod stability;
pub mod suspicion;
#[cfg(test)]
pub(crate) mod testing;
pub mod train;
pub mod yaz;
