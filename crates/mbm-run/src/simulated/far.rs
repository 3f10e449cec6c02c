//! The receiver's host: answers, counts what arrives and reports it.

use super::super::receiver::Receiver;
use super::super::results::ReceiverResult;
use super::super::sender::Report;
use super::{Datagram, Outbox, REPORT, Says, Stream, flow, is_marked};
use kit::datagrams::Quality;
use sim::{Node, NodeId, Parcel};
use std::time::Duration;
use units::{Instant, TrafficClass};

/// See the module.
pub(super) struct Far {
    out: Outbox,
    test: u16,
    class: TrafficClass,
    streams: Vec<Counting>,
}

/// A stream, and the last packet that came, to report in its name.
struct Counting {
    receiver: Receiver,
    shown: Option<Report>,
}

impl Far {
    pub(super) const fn new(here: NodeId, peer: NodeId, class: TrafficClass) -> Self {
        Self {
            out: Outbox::new(here, peer),
            test: 0,
            class,
            streams: Vec::new(),
        }
    }

    /// Awaits so many streams of test number `test`, one of `report_every` packets of which is reported at once, for a target of
    /// round trip `rtt`.
    pub(super) fn begin(&mut self, test: u16, streams: u16, report_every: u64, rtt: Duration) {
        self.test = test;
        let streams = (0..streams).map(|_| Counting {
            receiver: Receiver::new(report_every, rtt),
            shown: None,
        });
        self.streams = streams.collect();
    }

    /// The counters of the streams, of which so many packets were sent.
    pub(super) fn end(&mut self, sent: impl Iterator<Item = u64>) -> Vec<ReceiverResult> {
        let streams = std::mem::take(&mut self.streams).into_iter().zip(sent);
        let end = |(counting, sent): (Counting, u64)| {
            counting.receiver.end(Some(sent), &Quality::default())
        };
        streams.map(end).collect()
    }

    fn handle_data(&mut self, stream: Stream, report: Report) {
        let number = usize::from(stream.number);
        let counting = self.streams.get_mut(number);
        let Some(counting) = counting.filter(|_| stream.test == self.test) else {
            return;
        };
        let Report {
            seq, ce, received, ..
        } = report;
        counting.shown = Some(report);
        if counting.receiver.handle_packet(seq, ce, received) {
            self.report(stream.number, received);
        }
    }

    /// Reports stream `number` in the name of the last packet.
    fn report(&mut self, number: u16, now: Instant) {
        let counting = self.streams.get_mut(usize::from(number));
        let Some((report, counting)) = counting.and_then(|one| Some((one.shown?, one))) else {
            return;
        };
        let stream = Stream {
            test: self.test,
            number,
        };
        let says = Says::Report {
            stream,
            report,
            totals: counting.receiver.report(),
        };
        self.out
            .put(says, REPORT, flow(stream, true), self.class, now);
    }
}

impl Node for Far {
    type Payload = Datagram;

    fn handle_packet(&mut self, packet: Parcel<Datagram>, now: Instant) {
        match *packet.body.payload.0 {
            Says::Ask { sent } => {
                let (answer, class) = (Says::Answer { sent }, TrafficClass::default());
                self.out.put(answer, packet.size, packet.flow, class, now);
            }
            Says::Packet { stream, seq, sent } => {
                let report = Report {
                    seq,
                    sent,
                    received: now,
                    // Nobody knows yet.
                    reported: now,
                    ce: is_marked(packet.ecn),
                };
                self.handle_data(stream, report);
            }
            Says::Answer { .. } | Says::Report { .. } => {}
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        for number in 0..u16::try_from(self.streams.len()).unwrap_or(u16::MAX) {
            let receiver = &mut self.streams[usize::from(number)].receiver;
            receiver.handle_timeout(now);
            if receiver.has_news() {
                self.report(number, now);
            }
        }
    }

    fn poll_transmit(&mut self, _: Instant) -> Option<Parcel<Datagram>> {
        self.out.waiting.pop_front()
    }

    fn next_timeout(&self) -> Option<Instant> {
        let due = |one: &Counting| {
            if one.receiver.has_news() {
                // What is due since before now is due now.
                return Some(Instant::ZERO);
            }
            one.receiver.next_timeout()
        };
        self.streams.iter().filter_map(due).min()
    }
}
