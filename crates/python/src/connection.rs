//! A transfer over a path, in virtual time, step by step.

use crate::errors::failed;
use crate::machines::{event, options, snapshot};
use crate::pipeline::built;
use crate::table::Table;
use crate::work::Own;
use arrow_array::RecordBatch;
use path::{Element as _, Family, Packet};
use pyo3::prelude::*;
use record::{Label, Row as _, table};
use std::collections::VecDeque;
use std::time::Duration;
use transport::{Ack, Receiver, Segment, Sender, Snapshot};
use units::{Dscp, Ecn, FlowId, Instant};

/// Octets of the headers of a segment, and of an acknowledgement: IP, TCP and a time stamp.
const HEADERS: u32 = 52;
/// The least time between two looks at a window.
const APART: Duration = Duration::from_millis(1);

table! {
    /// How the sender stood.
    struct Window in "windows" {
        /// When.
        t_ns: u64 => "ns",
        /// Congestion window.
        cwnd: f64 => "segments",
        /// Slow start threshold; null before the first loss.
        ssthresh: Option<f64> => "segments",
        /// Segments that are held to be in the network.
        flight: u32 => "segments",
        /// Smoothed round trip (RFC 6298); null before the first.
        srtt_ms: Option<f64> => "ms",
        /// Octets acknowledged in order.
        acked_bytes: u64 => "bytes",
    }
}

table! {
    /// What happened to the sender.
    struct Happened in "events" {
        /// When.
        t_ns: u64 => "ns",
        /// What: `cut_loss`, `cut_mark`, `cut_timeout`, `recovered`, `undone`, `lost` or `violation`.
        event: Label,
        /// The window before it was cut.
        from_segments: Option<f64> => "segments",
        /// And after that.
        to_segments: Option<f64> => "segments",
    }
}

/// A way of the path, and what wants to leave it when.
struct Way<B> {
    pipeline: path::Pipeline<B>,
    wake: Option<Instant>,
    left: VecDeque<Packet<B>>,
}

impl<B: Clone + Send + 'static> Way<B> {
    fn new(spec: &str, seed: u64) -> PyResult<Self> {
        Ok(Self {
            pipeline: built(spec, seed)?,
            wake: None,
            left: VecDeque::new(),
        })
    }

    fn put(&mut self, body: B, size: u32, ecn: Ecn, at: Instant) {
        let packet = Packet {
            size,
            flow: FlowId(0),
            family: Family::V4,
            dscp: Dscp::CS0,
            ecn,
            at,
            body,
        };
        self.wake = self.pipeline.process(Some(packet), at, &mut self.left);
    }

    fn advance(&mut self, now: Instant) {
        if self.wake.is_some_and(|wake| wake <= now) {
            self.wake = self.pipeline.process(None, now, &mut self.left);
        }
    }

    /// When something happens here: a packet is due to leave, or has left and was not taken.
    fn next(&self) -> Option<Instant> {
        let left = self.left.front().map(|packet| packet.at);
        [left, self.wake].into_iter().flatten().min()
    }
}

/// A bulk transfer over a path in virtual time: the machines of `isobath sim btc`, which can be stopped anywhere and looked at.
#[pyclass(module = "isobath._isobath")]
pub(crate) struct Connection(Own<Running>);

/// Both ends, the ways between them, and what was seen.
struct Running {
    sender: Sender,
    receiver: Receiver,
    there: Way<Segment>,
    back: Way<Ack>,
    ecn: Ecn,
    /// Whether there is an end to what is sent.
    is_limited: bool,
    now: Instant,
    windows: Vec<Window>,
    events: Vec<Happened>,
    last: Option<(Instant, Snapshot)>,
}

#[pymethods]
impl Connection {
    /// By the rules `rules`, over the stages `there` and `back` (all JSON). Of `segments` it sends so many, or without end.
    #[new]
    #[pyo3(signature = (rules, there, back, segments=None, seed=1))]
    fn new(
        rules: &str,
        there: &str,
        back: &str,
        segments: Option<u32>,
        seed: u64,
    ) -> PyResult<Self> {
        let options = options(rules)?;
        let mut sender = Sender::new(&options, seed);
        sender.supply(segments.unwrap_or(u32::MAX));
        Ok(Self(Own::new(Running {
            receiver: Receiver::new(&options),
            there: Way::new(there, seed)?,
            back: Way::new(back, seed.wrapping_add(1))?,
            ecn: if options.ecn { Ecn::Ect0 } else { Ecn::NotEct },
            sender,
            is_limited: segments.is_some(),
            now: Instant::ZERO,
            windows: Vec::new(),
            events: Vec::new(),
            last: None,
        })))
    }

    /// What time it is.
    #[getter]
    fn now_ns(&mut self) -> u64 {
        self.0.get().now.as_nanos()
    }

    /// Lets time pass until `to_ns`, or until all is acknowledged; returns what time it is.
    fn advance(&mut self, py: Python<'_>, to_ns: u64) -> u64 {
        let running = self.0.get();
        py.detach(|| running.run(Instant::from_nanos(to_ns)));
        running.now.as_nanos()
    }

    /// Octets of payload that have arrived in order.
    #[getter]
    fn received_bytes(&mut self) -> u64 {
        self.0.get().receiver.bytes()
    }

    /// Whether all has been acknowledged.
    #[getter]
    fn is_done(&mut self) -> bool {
        self.0.get().is_done()
    }

    /// How the sender stands, as JSON.
    fn snapshot(&mut self) -> PyResult<String> {
        serde_json::to_string(&snapshot(&self.0.get().sender)).map_err(failed)
    }

    /// How the sender stood, at every change and at most once a millisecond.
    fn windows(&mut self) -> PyResult<Table> {
        told(Window::batch(&self.0.get().windows))
    }

    /// What happened to the sender, round trips apart.
    fn events(&mut self) -> PyResult<Table> {
        told(Happened::batch(&self.0.get().events))
    }
}

fn told(batch: Result<RecordBatch, arrow_schema::ArrowError>) -> PyResult<Table> {
    batch.map(Table::of).map_err(failed)
}

impl Running {
    fn is_done(&self) -> bool {
        self.is_limited && self.sender.is_idle()
    }

    fn run(&mut self, to: Instant) {
        loop {
            self.transmit();
            let next = self.next().filter(|next| *next <= to);
            let Some(next) = next.filter(|_| !self.is_done()) else {
                break;
            };
            self.now = self.now.max(next);
            self.arrive();
            self.time_out();
            self.look();
        }
        if !self.is_done() {
            self.now = self.now.max(to);
        }
    }

    fn next(&self) -> Option<Instant> {
        let timers = [self.sender.next_timeout(), self.receiver.next_timeout()];
        let ways = [self.there.next(), self.back.next()];
        timers.into_iter().chain(ways).flatten().min()
    }

    fn transmit(&mut self) {
        while let Some(segment) = self.sender.poll_transmit(self.now) {
            let size = u32::from(segment.len) + HEADERS;
            self.there.put(segment, size, self.ecn, self.now);
        }
        while let Some(ack) = self.receiver.poll_transmit(self.now) {
            self.back.put(ack, HEADERS, Ecn::NotEct, self.now);
        }
    }

    fn arrive(&mut self) {
        self.there.advance(self.now);
        self.back.advance(self.now);
        while let Some(packet) = self.there.left.pop_front_if(|packet| packet.at <= self.now) {
            self.receiver
                .handle_segment(&packet.body, packet.ecn, self.now);
        }
        while let Some(packet) = self.back.left.pop_front_if(|packet| packet.at <= self.now) {
            self.sender.handle_ack(&packet.body, self.now);
        }
    }

    fn time_out(&mut self) {
        if self.sender.next_timeout().is_some_and(|at| at <= self.now) {
            self.sender.handle_timeout(self.now);
        }
        if self
            .receiver
            .next_timeout()
            .is_some_and(|at| at <= self.now)
        {
            self.receiver.handle_timeout(self.now);
        }
    }

    /// Notes what happened, and the window where it changed.
    fn look(&mut self) {
        let t_ns = self.now.as_nanos();
        let mut is_cut = false;
        while let Some(happened) = self.sender.poll_event() {
            let (name, cut) = event(&happened);
            is_cut |= cut.is_some() || name == "undone";
            if name != "round_trip" {
                self.events.push(Happened {
                    t_ns,
                    event: Label::Borrowed(name),
                    from_segments: cut.map(|(from, _)| from),
                    to_segments: cut.map(|(_, to)| to),
                });
            }
        }
        let is_due = |(at, _): (Instant, Snapshot)| self.now.since(at) >= APART;
        if !is_cut && !self.last.is_none_or(is_due) {
            return;
        }
        let stands = self.sender.snapshot();
        if self.last.is_none_or(|(_, last)| last != stands) {
            self.last = Some((self.now, stands));
            self.windows.push(Window {
                t_ns,
                cwnd: stands.cwnd,
                ssthresh: stands.ssthresh.is_finite().then_some(stands.ssthresh),
                flight: stands.flight,
                srtt_ms: stands.srtt.map(|srtt| srtt.as_secs_f64() * 1e3),
                acked_bytes: self.sender.sent().acked_bytes,
            });
        }
    }
}
