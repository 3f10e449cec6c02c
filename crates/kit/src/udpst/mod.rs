//! Both ends of a UDPSTP test at work (RFC 9946): the load that a socket sends, and that which arrives.
//!
//! [`far_ends::udpst`] knows what is sent, and what it means; here are the socket and the clocks. Either end of a test may have either part,
//! so both are written for both: who is the server tells [`End::lasts`].

mod receiving;
mod sending;

pub use receiving::receive;
pub use sending::send;

use far_ends::Moment;
use std::time::Duration;
use sys::clock;
use sys::udp::{Outgoing, UdpSocket};
use units::{Instant, Stamp, TrafficClass};

/// After so long without a word from the other end it is gone.
pub const SILENT: Duration = Duration::from_secs(3);
/// How long is waited at once.
const LOOK: Duration = Duration::from_millis(20);
/// Calls that empty a socket before anything else is looked at again.
const RECEIVES: usize = 32;
const SECOND_NS: u64 = 1_000_000_000;
/// The two clocks are compared again after this long: the wall clock may be slewed.
const STAMP_EVERY: Duration = Duration::from_millis(100);
/// What the kernel may hold of a load, octets: it counts 2,304 for a datagram of 1,250, so this is 70 ms of 1 Gbit/s.
pub const BUFFER: usize = 16 << 20;

/// One end of a test, after its activation.
pub struct End<'a> {
    /// Connected to the other end.
    pub socket: &'a UdpSocket,
    /// DSCP and ECN field of what is sent.
    pub class: TrafficClass,
    /// After so long this end has the test stopped, as a server does; none: it waits for the other end's word.
    pub lasts: Option<Duration>,
    /// After so long it is over, whatever the other end says.
    pub longest: Duration,
    /// What is answered to a datagram that is neither load nor feedback: the other end may not have heard that the test has begun.
    pub answer: &'a dyn Fn(&[u8]) -> Option<Vec<u8>>,
    /// Whether to stop at once.
    pub is_interrupted: &'a dyn Fn() -> bool,
}

/// How a test ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Ended {
    /// As it is to.
    Stopped,
    /// Nothing more came from the other end.
    Silent,
    /// Somebody here wanted it to.
    Interrupted,
}

/// Both clocks of this host, compared now and then.
struct Clocks(Stamp);

impl Clocks {
    fn new() -> Self {
        Self(clock::stamp())
    }

    /// Now.
    fn now(&mut self) -> Moment {
        let now = clock::now();
        if now.since(self.0.mono) > STAMP_EVERY {
            self.0 = clock::stamp();
        }
        Moment {
            wall_ns: self.0.wall_at(now),
            mono_ns: now.as_nanos(),
        }
    }

    /// When a datagram came that has this stamp of the kernel's. One that is not of the last second is of a clock that was set meanwhile.
    fn at(&mut self, wall_ns: Option<u64>) -> Moment {
        let now = self.now();
        let age_ns = wall_ns.and_then(|wall_ns| now.wall_ns.checked_sub(wall_ns));
        match age_ns {
            Some(age_ns) if age_ns <= SECOND_NS => Moment {
                wall_ns: now.wall_ns - age_ns,
                mono_ns: now.mono_ns.saturating_sub(age_ns),
            },
            _ => now,
        }
    }
}

const fn mono(moment: Moment) -> Instant {
    Instant::from_nanos(moment.mono_ns)
}

impl End<'_> {
    /// Sends one PDU. A full buffer loses it, as the path may.
    fn say(&self, pdu: &[u8]) -> Result<(), sys::Error> {
        let out = Outgoing {
            payload: pdu,
            to: None,
            from: None,
            class: self.class,
        };
        self.socket.send(&[out]).map(drop)
    }

    /// How the test has ended, if it has: nothing has come since `heard`.
    fn ended(&self, begun: Instant, heard: Instant, now: Instant) -> Option<Ended> {
        if (self.is_interrupted)() {
            Some(Ended::Interrupted)
        } else if now.since(heard) > SILENT {
            Some(Ended::Silent)
        } else {
            (now.since(begun) > self.longest).then_some(Ended::Stopped)
        }
    }

    /// Whether this end wants the test to stop.
    fn is_over(&self, begun: Instant, now: Instant) -> bool {
        self.lasts.is_some_and(|lasts| now.since(begun) >= lasts)
    }

    /// Waits until something comes, or `next` at the latest; whether something has.
    fn wait(&self, next: Instant) -> Result<bool, sys::Error> {
        let ready = self.socket.wait(next.since(clock::now()).min(LOOK))?;
        if ready.event {
            // That the other end has closed its socket is known by its silence.
            while self.socket.poll_event()?.is_some() {}
        }
        Ok(ready.datagram)
    }
}
