//! What is written into TCP's socket when.
//!
//! - **Paced.** There is always a little more than TCP may send yet, one segment for each write, and the kernel is told how fast
//!   (`SO_MAX_PACING_RATE`). Written in larger pieces they would leave in pairs: the kernel paces what it segments, two at least.
//! - **Windowed.** There is always more; the receiver's window is the limit.
//! - **Bursts.** Each is written when it is due. It is over when nothing of it waits in the socket: then TCP's window had room for all of it.

use super::super::plan::Plan;
use super::super::sender::PER_PACKET;
use kit::load;
use kit::stream::is_timeout;
use mbm::diagnostic::TcpShape;
use mbm::stream::{Burst, Keeping, Schedule, Shape, Stream};
use std::collections::VecDeque;
use std::io;
use std::net::TcpStream;
use std::time::Duration;
use sys::{clock, tcp};
use units::{Instant, Rate};

/// What waits in the socket for TCP to send it: so long at the rate of the test.
const AHEAD: f64 = 0.05;
/// The least of it, in segments.
const LEAST_AHEAD: f64 = 8.0;
/// Segments of one write where they need not be written one by one.
const AT_ONCE: usize = 16;
/// While a burst waits in the socket it is looked at so often.
const FINE_LOOK: Duration = Duration::from_micros(200);

/// Writes into a socket.
pub(super) struct Feed<'a> {
    socket: &'a TcpStream,
    block: Vec<u8>,
    /// Octets of a segment's data.
    mss: usize,
    way: Way,
    /// Octets that the kernel has taken.
    written: u64,
    pub(super) pacing: Option<Rate>,
}

enum Way {
    /// There is always more, so many segments at a time; whether each is to be one by itself.
    Backlog {
        segments: usize,
        alone: bool,
    },
    Bursts(Box<Bursts>),
}

struct Bursts {
    schedule: Schedule,
    keeping: Keeping,
    /// Octets that are due.
    due: u64,
    /// Bursts that have not left whole: when they began, and up to which octet they are.
    open: VecDeque<(Burst, Instant, u64)>,
}

impl<'a> Feed<'a> {
    /// A feed of `shape` for `plan` from `start` on, whose full segments have `mss` octets of data.
    ///
    /// # Errors
    /// When the kernel does not do as it is told.
    pub(super) fn new(
        socket: &'a TcpStream,
        plan: &Plan,
        shape: TcpShape,
        mss: u32,
        start: Instant,
    ) -> Result<Self, sys::Error> {
        let octets_per_s = plan.target.packets_per_s() * f64::from(mss);
        let mut pacing = None;
        let way = match shape {
            TcpShape::Paced { packets_per_s } => {
                pacing = rate(packets_per_s * f64::from(mss) * 8.0);
                tcp::set_max_pacing(socket, pacing)?;
                Way::Backlog {
                    segments: 1,
                    alone: true,
                }
            }
            TcpShape::Windowed { .. } => Way::Backlog {
                segments: AT_ONCE,
                alone: false,
            },
            TcpShape::Bursts(pattern) => {
                let schedule = Schedule::new(pattern, start);
                let shape: Shape = schedule.shape();
                let span = PER_PACKET * shape.burst_packets;
                Way::Bursts(Box::new(Bursts {
                    keeping: Keeping::new(shape, plan.target.rtt(), span),
                    schedule,
                    due: 0,
                    open: VecDeque::new(),
                }))
            }
        };
        if matches!(way, Way::Backlog { .. }) {
            let ahead = (octets_per_s * AHEAD).max(LEAST_AHEAD * f64::from(mss));
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a conversion that saturates serves"
            )]
            let _ = tcp::set_unsent_limit(socket, ahead as u32);
        }
        let mut block = load::incompressible();
        let mss = (mss as usize).clamp(1, block.len());
        block.truncate(block.len() / mss * mss);
        Ok(Self {
            socket,
            block,
            mss,
            way,
            written: 0,
            pacing,
        })
    }

    /// Writes what is to be written now, and waits for the next time: for `patience` at most.
    ///
    /// # Errors
    /// When the connection is no more.
    pub(super) fn turn(&mut self, now: Instant, patience: Instant) -> io::Result<()> {
        match self.way {
            Way::Backlog { segments, alone } => {
                let length = self.segment(segments);
                // The write waits, as long as the socket's patience is.
                self.write(length, alone, true).map(drop)
            }
            Way::Bursts(_) => self.bursts(now, patience),
        }
    }

    /// The octets of the next write of up to `segments` segments: what is begun is finished first, so that a write ends with a segment.
    fn segment(&self, segments: usize) -> usize {
        let whole = self.mss as u64;
        let begun = usize::try_from(self.written % whole).unwrap_or_default();
        (self.mss * segments).min(self.block.len()) - begun
    }

    fn write(&mut self, length: usize, alone: bool, waits: bool) -> io::Result<usize> {
        let octets = self.block.get(..length).unwrap_or(&self.block);
        match tcp::send(self.socket, octets, alone, waits) {
            Ok(count) => {
                self.written += count as u64;
                Ok(count)
            }
            Err(error) if is_timeout(&error) => Ok(0),
            Err(error) => Err(error),
        }
    }

    fn bursts(&mut self, now: Instant, patience: Instant) -> io::Result<()> {
        let mss = self.mss as u64;
        if let Way::Bursts(bursts) = &mut self.way {
            while let Some(burst) = bursts.schedule.poll(now) {
                bursts.due += u64::from(burst.packets) * mss;
                bursts.open.push_back((burst, now, bursts.due));
            }
        }
        while let Some(left) = self.left().filter(|left| *left > 0) {
            let length = usize::try_from(left).unwrap_or(usize::MAX);
            if self.write(length.min(self.block.len()), false, false)? == 0 {
                break;
            }
        }
        let unsent = tcp::info(self.socket).ok().and_then(|i| i.notsent_bytes);
        let gone = self.written.saturating_sub(unsent.unwrap_or(0).into());
        let next = self.settle(gone).map_or(patience, |due| due.min(patience));
        clock::sleep_until(next);
        Ok(())
    }

    /// Octets that are due and not written.
    fn left(&self) -> Option<u64> {
        match &self.way {
            Way::Bursts(bursts) => Some(bursts.due.saturating_sub(self.written)),
            Way::Backlog { .. } => None,
        }
    }

    /// The first `gone` octets have left the socket. When there is something to do next.
    fn settle(&mut self, gone: u64) -> Option<Instant> {
        let Way::Bursts(bursts) = &mut self.way else {
            return None;
        };
        let now = clock::now();
        while let Some((burst, first, _)) = bursts.open.front().filter(|open| open.2 <= gone) {
            bursts.keeping.left(burst, *first, now);
            bursts.open.pop_front();
        }
        let due = bursts.schedule.next_due();
        if bursts.open.is_empty() {
            return due;
        }
        let soon = now + FINE_LOOK;
        Some(due.map_or(soon, |due| due.min(soon)))
    }

    /// The counters of the bursts, where there are any.
    pub(super) fn keeping(&self) -> Option<&Keeping> {
        match &self.way {
            Way::Bursts(bursts) => Some(&bursts.keeping),
            Way::Backlog { .. } => None,
        }
    }
}

fn rate(bps: f64) -> Option<Rate> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a rate that was one before"
    )]
    Rate::from_bps(bps.ceil() as u64)
}
