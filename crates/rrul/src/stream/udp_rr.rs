//! `UDP_RR`: a datagram, its reply, and the next datagram when the reply has come or is overdue.
//!
//! Such a closed loop asks less often the longer the path takes: its median is one of round trips, not of time, and a burst of
//! losses costs it one request. A *paced* exchange is the open loop beside it: requests leave at their times whatever comes back.
//!
//! A reply that comes after its request was given up counts with its true round trip, as *late*; lost is only what never came.

use super::requests::{Request, Requests, slot_after};
use kit::stream::{DRAIN, PATIENCE, wait_until};
use session::DataKeys;
use session::wire::{Flags, Kind, Probe};
use std::net::SocketAddr;
use std::time::Duration;
use sys::udp::{Event, Outgoing, RecvBatch, UdpSocket};
use sys::{Error, clock};
use units::{Instant, TrafficClass};

/// No request has this number: all replies are waited for alike.
const ANY: u32 = u32::MAX;

/// A stream of datagrams to be exchanged.
pub(crate) struct Exchange {
    pub session: u64,
    pub keys: DataKeys,
    pub peer: SocketAddr,
    pub stream: u16,
    pub class: TrafficClass,
    pub size: usize,
    pub gap: Duration,
    /// Whether requests leave every `gap` whatever comes back, or one at a time and not sooner than that.
    pub paced: bool,
    pub until: Instant,
    /// How much further the far end's monotonic clock is than ours.
    pub offset_ns: i64,
}

/// What became of one request.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub sequence: u32,
    pub sent: Instant,
    /// `None` for a request that was never answered.
    pub reply: Option<Reply>,
}

/// A reply.
#[derive(Debug)]
pub(crate) struct Reply {
    /// Without the time that the far end held the request.
    pub rtt: Duration,
    pub owd_up_ns: i64,
    pub owd_down_ns: i64,
    pub late: bool,
    /// Whether the kernel stamped departure and arrival here.
    pub kernel: bool,
    pub class_far: Option<u8>,
    pub class_near: Option<u8>,
}

/// What the kernel knows of a request in flight: its departure is the program's until the kernel's stamp has come.
#[derive(Clone, Copy)]
struct Stamped {
    kernel: bool,
    id: u32,
}

impl Exchange {
    /// Exchanges datagrams until the end of the stream and reports what became of each.
    ///
    /// # Errors
    ///
    /// When the socket cannot be made or used.
    pub(crate) fn run(
        &self,
        abort: &dyn Fn() -> bool,
        mut each: impl FnMut(Outcome),
    ) -> Result<(), Error> {
        let mut socket = UdpSocket::bind(kit::stream::any(self.peer))?;
        socket.connect(self.peer)?;
        socket.enable_tx_stamps()?;
        let mut state = State {
            exchange: self,
            socket,
            batch: RecvBatch::new(8, 2_048),
            requests: Requests::default(),
        };
        let (mut sequence, mut failure) = (0, None);
        let begun = clock::now();
        // The last part of the stream's time is for replies that are still on their way.
        let last_request = self.until - DRAIN;
        while clock::now() < last_request && !abort() {
            match state.send(sequence) {
                Ok(Some(sent)) => {
                    let (next, at) = if self.paced {
                        let (next, at) = slot_after(self.gap, sequence, begun, sent);
                        state.receive(ANY, at, abort, &mut each)?;
                        (next, at)
                    } else {
                        let deadline = sent + state.requests.patience();
                        state.receive(sequence, deadline, abort, &mut each)?;
                        (sequence.wrapping_add(1), sent + self.gap)
                    };
                    state.forget_oldest(&mut each);
                    sequence = next;
                    wait_until(at.min(self.until), abort);
                }
                // No route for the moment, or no room: nothing was sent, so nothing is lost.
                Ok(None) => drop(wait_until(clock::now() + PATIENCE, abort)),
                Err(error) => {
                    failure = Some(error);
                    wait_until(clock::now() + PATIENCE, abort);
                }
            }
        }
        state.receive(ANY, self.until, abort, &mut each)?;
        for (sequence, request) in state.requests.unanswered(clock::now()) {
            each(Outcome {
                sequence,
                sent: request.sent,
                reply: None,
            });
        }
        failure.map_or(Ok(()), Err)
    }
}

struct State<'a> {
    exchange: &'a Exchange,
    socket: UdpSocket,
    batch: RecvBatch,
    requests: Requests<Stamped>,
}

impl State<'_> {
    /// Sends a request; `None` when the system had no room for it.
    fn send(&mut self, sequence: u32) -> Result<Option<Instant>, Error> {
        let Exchange {
            session,
            stream,
            class,
            size,
            ..
        } = *self.exchange;
        let mut datagram = vec![0; size.max(Probe::LEN)];
        let sent = clock::now();
        let probe = Probe {
            kind: Kind::Request,
            class,
            arrived: TrafficClass::default(),
            stream,
            flags: Flags::default(),
            sequence,
            session,
            sent,
            received: Instant::ZERO,
            replied: Instant::ZERO,
        };
        // The plan was checked: a header fits.
        let emitted = probe.emit(&mut datagram, &self.exchange.keys.to_server);
        debug_assert!(emitted.is_ok());
        let out = Outgoing {
            payload: &datagram,
            to: None,
            from: None,
            class,
        };
        let done = self.socket.send(&[out])?;
        if done.count == 0 {
            return Ok(None);
        }
        let stamped = Stamped {
            kernel: false,
            id: done.first_id,
        };
        self.requests.sent(sequence, sent, stamped);
        Ok(Some(sent))
    }

    /// Takes replies until that to `sequence` has come, or `deadline`.
    fn receive(
        &mut self,
        sequence: u32,
        deadline: Instant,
        abort: &dyn Fn() -> bool,
        each: &mut impl FnMut(Outcome),
    ) -> Result<(), Error> {
        loop {
            let now = clock::now();
            if now >= deadline {
                break;
            }
            if abort() || now >= self.exchange.until || self.requests.is_empty() {
                return Ok(());
            }
            self.socket.wait(deadline.since(now).min(PATIENCE))?;
            self.take_events()?;
            let mut done = false;
            while self.socket.recv(&mut self.batch)? > 0 {
                done |= self.take_replies(sequence, each);
            }
            if done {
                return Ok(());
            }
        }
        self.requests.give_up(sequence);
        Ok(())
    }

    /// Moves the kernel's transmit stamps onto the requests; ICMP errors need no action, the reply just does not come.
    fn take_events(&mut self) -> Result<(), Error> {
        while let Some(event) = self.socket.poll_event()? {
            if let Event::Sent { id, wall_ns } = event {
                let mut latest = self.requests.latest_mut();
                if let Some(request) = latest.find(|request| request.more.id == id) {
                    request.sent = clock::stamp().mono_at(wall_ns);
                    request.more.kernel = true;
                }
            }
        }
        Ok(())
    }

    /// Reports the replies in the batch; says whether one was to `sequence`.
    fn take_replies(&mut self, sequence: u32, each: &mut impl FnMut(Outcome)) -> bool {
        let stamp = clock::stamp();
        let mut done = false;
        for datagram in self.batch.iter() {
            let Ok(probe) = Probe::parse(datagram.payload) else {
                continue;
            };
            let Exchange {
                session,
                stream,
                keys,
                ..
            } = self.exchange;
            let ours = (probe.session, probe.stream) == (*session, *stream);
            let is_reply = ours && probe.kind == Kind::Reply;
            if !is_reply || Probe::verify(datagram.payload, &keys.to_client).is_err() {
                continue;
            }
            // A duplicate finds its request gone.
            let Some(request) = self.requests.replied(probe.sequence) else {
                continue;
            };
            let arrived = datagram
                .wall_ns
                .map_or(stamp.mono, |wall_ns| stamp.mono_at(wall_ns));
            let reply = self
                .exchange
                .reply(&request, &probe, arrived, datagram.wall_ns.is_some());
            let class_near = datagram.class.map(TrafficClass::octet);
            self.requests.took(reply.rtt);
            done |= probe.sequence == sequence;
            each(Outcome {
                sequence: probe.sequence,
                sent: request.sent,
                reply: Some(Reply {
                    class_near,
                    ..reply
                }),
            });
        }
        done
    }

    /// Gives up the oldest requests when there are too many.
    fn forget_oldest(&mut self, each: &mut impl FnMut(Outcome)) {
        while let Some((sequence, request)) = self.requests.forget_oldest() {
            each(Outcome {
                sequence,
                sent: request.sent,
                reply: None,
            });
        }
    }
}

impl Exchange {
    fn reply(
        &self,
        request: &Request<Stamped>,
        probe: &Probe,
        arrived: Instant,
        stamped: bool,
    ) -> Reply {
        let held = probe.replied.since(probe.received);
        let theirs = |at: Instant| at.offset(self.offset_ns.saturating_neg());
        Reply {
            rtt: arrived.since(request.sent).saturating_sub(held),
            owd_up_ns: theirs(probe.received).signed_since(request.sent),
            owd_down_ns: arrived.signed_since(theirs(probe.replied)),
            late: request.overdue,
            kernel: stamped && request.more.kernel,
            class_far: probe.arrived().map(TrafficClass::octet),
            class_near: None,
        }
    }
}
