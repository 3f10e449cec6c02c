//! ICMP echo at an even pace: what a far end answers that knows nothing of us.

use super::requests::{Requests, slot_after};
use far_ends::icmp::Echo;
use far_ends::{Exchange, Terms};
use kit::secret::secret;
use kit::stream::{DRAIN, PATIENCE};
use std::net::SocketAddr;
use std::time::Duration;
use sys::udp::{Outgoing, RecvBatch, UdpSocket};
use sys::{Error, clock};
use units::{Instant, TrafficClass};

/// Hosts that have agreed to nothing are asked no faster.
pub(crate) const LEAST_GAP: Duration = Duration::from_millis(20);
/// The longest reply, octets.
const LONGEST: usize = 2_048;

/// Echo requests to be sent.
pub(crate) struct Echoes {
    pub peer: SocketAddr,
    pub class: TrafficClass,
    /// Octets of a request behind the IP header.
    pub size: usize,
    pub gap: Duration,
    pub until: Instant,
}

/// What became of a request.
pub(crate) struct Echoed {
    pub sequence: u32,
    pub sent: Instant,
    /// `None` for a request that was never answered.
    pub rtt: Option<Duration>,
}

impl Echoes {
    /// Sends requests until the end of the stream, whatever comes back, and reports what became of each.
    ///
    /// # Errors
    /// When the socket cannot be had or used.
    pub(crate) fn run(
        &self,
        abort: &dyn Fn() -> bool,
        mut each: impl FnMut(Echoed),
    ) -> Result<(), Error> {
        let mut state = State::new(self)?;
        let gap = self.gap.max(LEAST_GAP);
        let begun = clock::now();
        let (mut sequence, mut due) = (0, begun);
        while due + DRAIN < self.until && !abort() {
            if let Some(sent) = state.send(sequence)? {
                (sequence, due) = slot_after(gap, sequence, begun, sent);
            } else {
                // No route for the moment, or no room: nothing was sent, so nothing is lost.
                due = clock::now() + PATIENCE;
            }
            while let Some((sequence, request)) = state.requests.forget_oldest() {
                let (sent, rtt) = (request.sent, None);
                each(Echoed {
                    sequence,
                    sent,
                    rtt,
                });
            }
            state.receive(due, abort, &mut each)?;
        }
        while clock::now() < self.until && !state.requests.is_empty() && !abort() {
            state.receive(self.until.min(clock::now() + PATIENCE), abort, &mut each)?;
        }
        for (sequence, request) in state.requests.unanswered(clock::now()) {
            let (sent, rtt) = (request.sent, None);
            each(Echoed {
                sequence,
                sent,
                rtt,
            });
        }
        Ok(())
    }
}

struct State {
    socket: UdpSocket,
    echo: Echo,
    class: TrafficClass,
    batch: RecvBatch,
    requests: Requests<()>,
    request: Vec<u8>,
    /// The number of the latest request.
    latest: u32,
}

impl State {
    fn new(echoes: &Echoes) -> Result<Self, Error> {
        let terms = Terms {
            payload: echoes.size,
            duration: Duration::ZERO,
            interval: echoes.gap,
            class: echoes.class,
            secret: secret(),
        };
        Ok(Self {
            socket: UdpSocket::echo(echoes.peer)?,
            echo: Echo::new(terms, echoes.peer.ip().to_canonical().is_ipv6()),
            class: echoes.class,
            batch: RecvBatch::new(4, LONGEST),
            requests: Requests::default(),
            request: Vec::new(),
            latest: 0,
        })
    }

    fn send(&mut self, sequence: u32) -> Result<Option<Instant>, Error> {
        self.echo.request(sequence, 0, &mut self.request);
        let out = Outgoing {
            payload: &self.request,
            to: None,
            from: None,
            class: self.class,
        };
        let sent = clock::now();
        if self.socket.send(&[out])?.count == 0 {
            return Ok(None);
        }
        self.requests.sent(sequence, sent, ());
        self.latest = sequence;
        Ok(Some(sent))
    }

    /// Takes replies until `deadline`.
    fn receive(
        &mut self,
        deadline: Instant,
        abort: &dyn Fn() -> bool,
        each: &mut impl FnMut(Echoed),
    ) -> Result<(), Error> {
        while !abort() {
            let left = deadline.since(clock::now());
            if left.is_zero() {
                break;
            }
            let ready = self.socket.wait(left.min(PATIENCE))?;
            if ready.event {
                while self.socket.poll_event()?.is_some() {}
            }
            while self.socket.recv(&mut self.batch)? > 0 {
                self.take(each);
            }
        }
        Ok(())
    }

    fn take(&mut self, each: &mut impl FnMut(Echoed)) {
        let stamp = clock::stamp();
        for datagram in self.batch.iter() {
            let reply = self.echo.handle(datagram.payload, self.latest);
            let Some(sequence) = reply.map(|reply| reply.number) else {
                continue;
            };
            // A copy finds its request gone.
            let Some(request) = self.requests.replied(sequence) else {
                continue;
            };
            let arrived = datagram
                .wall_ns
                .map_or(stamp.mono, |wall_ns| stamp.mono_at(wall_ns));
            let rtt = arrived.since(request.sent);
            self.requests.took(rtt);
            each(Echoed {
                sequence,
                sent: request.sent,
                rtt: Some(rtt),
            });
        }
    }
}
