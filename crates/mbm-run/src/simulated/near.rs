//! The sender's host: asks for round trips over the idle path, then sends the streams of one test after the other.

use super::super::messages::Passed;
use super::super::results::SenderResult;
use super::super::sender::{Report, Sender, TICK, Task, called_off};
use super::super::trips::Trips;
use super::{Datagram, Outbox, Says, Stream, flow, full};
use kit::datagrams::Quality;
use mbm::loss::Counts;
use mbm::verdict::Verdict;
use sim::{Node, NodeId, Parcel};
use units::{FlowId, Instant, TrafficClass};

/// The flow of round trips over the idle path.
const TRIPS: FlowId = FlowId(0);

/// See the module.
pub(super) struct Near<'a> {
    out: Outbox,
    at_work: AtWork<'a>,
    /// It looks up then, so that whoever gives it something to do need not wake it.
    tick: Instant,
}

#[derive(Default)]
enum AtWork<'a> {
    #[default]
    Idle,
    /// Round trips of packets with so many octets.
    Trips(Trips, u32),
    /// The streams of a test, all of which go on until each has its verdict.
    Test {
        test: u16,
        task: Task<'a>,
        streams: Vec<(Sender<'a>, Option<Verdict>)>,
    },
}

impl<'a> Near<'a> {
    pub(super) const fn new(here: NodeId, peer: NodeId) -> Self {
        Self {
            out: Outbox::new(here, peer),
            at_work: AtWork::Idle,
            tick: Instant::ZERO,
        }
    }

    /// Asks for round trips of packets with so many octets, from `start` on.
    pub(super) fn ask(&mut self, octets: u32, start: Instant) {
        self.at_work = AtWork::Trips(Trips::new(start), octets);
    }

    /// The round trips that came of it, once they are over.
    pub(super) fn trips(&self, now: Instant) -> Option<Trips> {
        match self.at_work {
            AtWork::Trips(trips, _) => trips.is_over(now).then_some(trips),
            _ => None,
        }
    }

    /// Begins test number `test` at `start`, not before the next tick.
    ///
    /// # Errors
    /// When it sends nothing.
    pub(super) fn begin(
        &mut self,
        test: u16,
        task: Task<'a>,
        start: Instant,
    ) -> Result<(), String> {
        let streams = (0..task.plan.streams).map(|_| Ok((Sender::new(task, start)?, None)));
        self.at_work = AtWork::Test {
            test,
            task,
            streams: streams.collect::<Result<_, String>>()?,
        };
        Ok(())
    }

    /// Whether each stream of the test has its verdict.
    pub(super) fn is_decided(&self) -> bool {
        match &self.at_work {
            AtWork::Test { streams, .. } => streams.iter().all(|(_, verdict)| verdict.is_some()),
            _ => true,
        }
    }

    /// What is known of each stream so far.
    pub(super) fn settled(&self) -> Vec<Counts> {
        match &self.at_work {
            AtWork::Test { streams, .. } => streams.iter().map(|one| one.0.settled()).collect(),
            _ => Vec::new(),
        }
    }

    /// Ends the test: the counters of its streams, and their first packets.
    pub(super) fn end(&mut self) -> Vec<(SenderResult, Vec<Passed>)> {
        let AtWork::Test { streams, .. } = std::mem::take(&mut self.at_work) else {
            return Vec::new();
        };
        let end = |(sender, verdict): (Sender<'_>, Option<Verdict>)| {
            sender.end(verdict.unwrap_or_else(called_off), Quality::default())
        };
        streams.into_iter().map(end).collect()
    }

    /// Sends what is due, and judges what is known.
    fn turn(&mut self, now: Instant) {
        match &mut self.at_work {
            AtWork::Idle => {}
            AtWork::Trips(trips, octets) => {
                while trips.poll(now) {
                    let ask = Says::Ask { sent: now };
                    self.out
                        .put(ask, *octets, TRIPS, TrafficClass::default(), now);
                }
            }
            AtWork::Test {
                test,
                task,
                streams,
            } => {
                // Nothing leaves after the last verdict.
                if streams.iter().all(|(_, verdict)| verdict.is_some()) {
                    return;
                }
                for (number, (sender, verdict)) in (0..).zip(streams) {
                    let stream = Stream {
                        test: *test,
                        number,
                    };
                    send(&mut self.out, stream, sender, *task, now);
                    if verdict.is_none() && sender.is_due(now) {
                        *verdict = sender.judge(now);
                        // A stream that goes on at another rate does so at once.
                        send(&mut self.out, stream, sender, *task, now);
                    }
                }
            }
        }
    }

    fn next_due(&self) -> Option<Instant> {
        match &self.at_work {
            AtWork::Idle => None,
            AtWork::Trips(trips, _) => trips.next_due(),
            AtWork::Test { .. } if self.is_decided() => None,
            AtWork::Test { streams, .. } => {
                let due = streams.iter().flat_map(|(sender, verdict)| {
                    let judged = verdict.is_none().then(|| sender.next_judgement());
                    [sender.next_due(), judged]
                });
                due.flatten().min()
            }
        }
    }
}

/// Sends what is due of a stream.
fn send(out: &mut Outbox, stream: Stream, sender: &mut Sender<'_>, task: Task<'_>, now: Instant) {
    let (octets, class) = (full(task.plan), task.plan.class());
    while let Some(burst) = sender.poll(now) {
        for seq in burst.first..burst.first + u64::from(burst.packets) {
            let says = Says::Packet {
                stream,
                seq,
                sent: now,
            };
            out.put(says, octets, flow(stream, false), class, now);
        }
        sender.left(&burst, now, now);
    }
}

impl Node for Near<'_> {
    type Payload = Datagram;

    fn handle_packet(&mut self, packet: Parcel<Datagram>, now: Instant) {
        match (&mut self.at_work, *packet.body.payload.0) {
            (AtWork::Trips(trips, octets), Says::Answer { sent }) if packet.size == *octets => {
                trips.handle_reply(now.since(sent));
            }
            (
                AtWork::Test { test, streams, .. },
                Says::Report {
                    stream,
                    report,
                    totals,
                },
            ) if stream.test == *test => {
                if let Some((sender, _)) = streams.get_mut(usize::from(stream.number)) {
                    let report = Report {
                        reported: now,
                        ..report
                    };
                    sender.handle_report(&report, &totals);
                }
                self.turn(now);
            }
            _ => {}
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        if self.tick <= now {
            self.tick = now + TICK;
        }
        self.turn(now);
    }

    fn poll_transmit(&mut self, _: Instant) -> Option<Parcel<Datagram>> {
        self.out.waiting.pop_front()
    }

    fn next_timeout(&self) -> Option<Instant> {
        Some(self.next_due().map_or(self.tick, |due| due.min(self.tick)))
    }
}
