//! The two machines of a transfer, one call at a time.

use crate::errors::{failed, usage};
use crate::work::Own;
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::time::Duration;
use transport::{Event, Options, SackBlocks};
use units::{Ecn, Instant};

/// The options that a JSON object describes.
pub(crate) fn options(json: &str) -> PyResult<Options> {
    serde_json::from_str(json).map_err(usage)
}

/// A copy of a segment (crate `transport`).
#[pyclass(frozen, module = "isobath._isobath")]
pub(crate) struct Segment(transport::Segment);

#[pymethods]
impl Segment {
    /// Its number, the same in every copy.
    #[getter]
    const fn seq(&self) -> u32 {
        self.0.seq.0
    }

    /// This copy's own name.
    #[getter]
    const fn id(&self) -> u64 {
        self.0.id.0
    }

    /// Octets of payload.
    #[getter]
    const fn len(&self) -> u16 {
        self.0.len
    }

    /// When it left.
    #[getter]
    const fn sent_ns(&self) -> u64 {
        self.0.sent.as_nanos()
    }

    fn __repr__(&self) -> String {
        format!(
            "Segment(seq={}, len={}, sent_ns={})",
            self.seq(),
            self.len(),
            self.sent_ns()
        )
    }
}

/// An acknowledgement (crate `transport`).
#[pyclass(frozen, module = "isobath._isobath")]
pub(crate) struct Ack(transport::Ack);

#[pymethods]
impl Ack {
    /// The number that the receiver expects next.
    #[getter]
    const fn ack(&self) -> u32 {
        self.0.ack.0
    }

    /// Segments that the receiver has room for.
    #[getter]
    const fn window(&self) -> u32 {
        self.0.window
    }

    /// Whether congestion was experienced (RFC 3168).
    #[getter]
    const fn ece(&self) -> bool {
        self.0.ece
    }

    /// Blocks `(first, end)` that have arrived beyond `ack` (RFC 2018).
    #[getter]
    fn sack(&self) -> Vec<(u32, u32)> {
        let blocks: &SackBlocks = &self.0.sack;
        blocks.iter().map(|(first, end)| (first.0, end.0)).collect()
    }

    fn __repr__(&self) -> String {
        format!("Ack(ack={}, sack={:?})", self.ack(), self.sack())
    }
}

/// How a sender stands, as JSON.
pub(crate) fn snapshot(sender: &transport::Sender) -> Value {
    let ms = |span: Duration| span.as_secs_f64() * 1e3;
    let (now, sent) = (sender.snapshot(), sender.sent());
    json!({
        "cwnd": now.cwnd,
        "ssthresh": now.ssthresh.is_finite().then_some(now.ssthresh),
        "flight": now.flight,
        "una": now.una.0,
        "next": now.next.0,
        "window": now.window,
        "srtt_ms": now.srtt.map(ms),
        "rttvar_ms": ms(now.rttvar),
        "rto_ms": ms(now.rto),
        "min_rtt_ms": now.min_rtt.map(ms),
        "in_recovery": now.in_recovery,
        "in_loss": now.in_loss,
        "packets": sent.packets,
        "bytes": sent.bytes,
        "retransmits": sent.retransmits,
        "acked": sent.acked,
        "acked_bytes": sent.acked_bytes,
        "timeouts": sent.timeouts,
        "recoveries": sent.recoveries,
        "marks": sent.marks,
    })
}

/// An event's name, and the windows before and after a cut.
pub(crate) fn event(event: &Event) -> (&'static str, Option<(f64, f64)>) {
    match event {
        Event::RoundTrip(_) => ("round_trip", None),
        Event::Cut { cause, from, to } => {
            let name = match cause {
                transport::Cause::Loss => "cut_loss",
                transport::Cause::Mark => "cut_mark",
                transport::Cause::Timeout => "cut_timeout",
            };
            (name, Some((*from, *to)))
        }
        Event::Undone => ("undone", None),
        Event::Recovered => ("recovered", None),
        Event::Lost(_) => ("lost", None),
        Event::Violation(_) => ("violation", None),
    }
}

/// The sending end of a transfer (crate `transport`): it decides which segment leaves when. Time is an argument.
#[pyclass(module = "isobath._isobath")]
pub(crate) struct Sender(Own<transport::Sender>);

#[pymethods]
impl Sender {
    /// A sender by the rules that `options` (JSON) describes, with nothing to send.
    #[new]
    #[pyo3(signature = (options, seed=1))]
    fn new(options: &str, seed: u64) -> PyResult<Self> {
        let options = self::options(options)?;
        Ok(Self(Own::new(transport::Sender::new(&options, seed))))
    }

    /// Gives it so many full segments more to send.
    fn supply(&mut self, segments: u32) {
        self.0.get().supply(segments);
    }

    /// Takes back what has not been sent yet, and marks the end.
    fn close(&mut self) {
        self.0.get().close();
    }

    /// The next segment to leave at `now_ns`, if any may: ask until there is none.
    fn poll_transmit(&mut self, now_ns: u64) -> Option<Segment> {
        self.0
            .get()
            .poll_transmit(Instant::from_nanos(now_ns))
            .map(Segment)
    }

    /// An acknowledgement arrived.
    fn handle_ack(&mut self, ack: &Ack, now_ns: u64) {
        self.0.get().handle_ack(&ack.0, Instant::from_nanos(now_ns));
    }

    /// When to call `handle_timeout`, in nanoseconds.
    fn next_timeout(&mut self) -> Option<u64> {
        self.0.get().next_timeout().map(Instant::as_nanos)
    }

    /// The instant of `next_timeout` has come.
    fn handle_timeout(&mut self, now_ns: u64) {
        self.0.get().handle_timeout(Instant::from_nanos(now_ns));
    }

    /// Whether all that was sent has been acknowledged, after `close`.
    #[getter]
    fn is_done(&mut self) -> bool {
        self.0.get().is_done()
    }

    /// How it stands, as JSON.
    fn snapshot(&mut self) -> PyResult<String> {
        serde_json::to_string(&snapshot(self.0.get())).map_err(failed)
    }

    /// What happened since the last call, oldest first: `(event, (window before, after) or None)`.
    fn events(&mut self) -> Vec<(&'static str, Option<(f64, f64)>)> {
        std::iter::from_fn(|| self.0.get().poll_event())
            .map(|happened| event(&happened))
            .collect()
    }
}

/// The receiving end of a transfer (crate `transport`): it decides which acknowledgement goes back when.
#[pyclass(module = "isobath._isobath")]
pub(crate) struct Receiver(transport::Receiver);

#[pymethods]
impl Receiver {
    /// A receiver by the rules that `options` (JSON) describes.
    #[new]
    fn new(options: &str) -> PyResult<Self> {
        let options = self::options(options)?;
        Ok(Self(transport::Receiver::new(&options)))
    }

    /// A segment arrived, perhaps marked on its way.
    #[pyo3(signature = (segment, now_ns, ce=false))]
    fn handle_segment(&mut self, segment: &Segment, now_ns: u64, ce: bool) {
        let ecn = if ce { Ecn::Ce } else { Ecn::NotEct };
        self.0
            .handle_segment(&segment.0, ecn, Instant::from_nanos(now_ns));
    }

    /// The next acknowledgement to leave at `now_ns`, if any: ask until there is none.
    fn poll_transmit(&mut self, now_ns: u64) -> Option<Ack> {
        self.0.poll_transmit(Instant::from_nanos(now_ns)).map(Ack)
    }

    /// When to call `handle_timeout`, in nanoseconds.
    fn next_timeout(&self) -> Option<u64> {
        self.0.next_timeout().map(Instant::as_nanos)
    }

    /// The instant of `next_timeout` has come.
    fn handle_timeout(&mut self, now_ns: u64) {
        self.0.handle_timeout(Instant::from_nanos(now_ns));
    }

    /// Octets of payload that have arrived in order.
    #[getter]
    const fn bytes(&self) -> u64 {
        self.0.bytes()
    }
}
