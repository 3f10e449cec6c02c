//! One end of one connection, on a socket of the kernel.

use super::cast::Part;
use socket2::Socket;
use std::io::{self, ErrorKind};
use std::net::Shutdown;
use std::time::Duration;
use sys::{clock, tcp};
use units::Instant;
use vectors::Side;
use vectors::play::{Answered, Player};

/// Octets of one write.
const WRITE: usize = 64 << 10;
/// Octets of one read, which copies nothing.
const READ: usize = 1 << 20;
/// Octets that may wait unsent in the kernel: an end has said something when it is about to leave, not when memory took it.
const UNSENT: u32 = 16 << 10;
/// What is said.
static OCTETS: [u8; WRITE] = [0x5a; WRITE];

/// How an end came to its end.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum End {
    /// All was said and heard, and both closed.
    Complete,
    /// The connection could not be made.
    Refused,
    /// The connection was broken.
    Reset,
    /// The replay was over before it was.
    Cut,
}

impl End {
    /// As tables name it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Refused => "refused",
            Self::Reset => "reset",
            Self::Cut => "unfinished",
        }
    }
}

/// What one end knows of a connection when it is over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Half {
    /// The connection, by its place among the parts.
    pub(crate) number: u32,
    pub(crate) side: Side,
    /// The pair of ports, of an initiator.
    pub(crate) tuple: Option<u32>,
    /// When the connection was asked for, at the initiator, or accepted.
    pub(crate) started: Instant,
    pub(crate) established: Option<Instant>,
    pub(crate) first_sent: Option<Instant>,
    pub(crate) last_heard: Option<Instant>,
    pub(crate) closed: Option<Instant>,
    pub(crate) sent: u64,
    pub(crate) heard: u64,
    pub(crate) retransmits: Option<u32>,
    pub(crate) end: End,
}

impl Half {
    /// What is known of a connection that could not even be asked for.
    pub(crate) const fn refused(number: u32, now: Instant) -> Self {
        Self {
            number,
            side: Side::Initiator,
            tuple: None,
            started: now,
            established: None,
            first_sent: None,
            last_heard: None,
            closed: None,
            sent: 0,
            heard: 0,
            retransmits: None,
            end: End::Refused,
        }
    }
}

/// What became of a connection that was looked after.
pub(crate) enum State {
    /// It goes on; at this moment at the latest it wants to be looked after again.
    Waits(Option<Instant>),
    /// It is over.
    Over,
}

/// An end at work.
pub(crate) struct Live {
    socket: Socket,
    player: Player,
    half: Half,
    connecting: bool,
    peer_closed: bool,
    closed: bool,
    /// The window that has to be said again and again, if the peer says enough to fill it.
    window: Option<u32>,
}

/// What the kernel said of a socket.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Readiness {
    pub(crate) readable: bool,
    pub(crate) writable: bool,
    /// The peer has closed, or the connection is broken.
    pub(crate) hung_up: bool,
}

impl Live {
    /// The initiator of `part` on a socket that has begun to connect, or the acceptor on one that was accepted.
    pub(crate) fn new(
        socket: Socket,
        part: &Part,
        number: u32,
        side: Side,
        started: Instant,
    ) -> Self {
        let mut live = Self {
            socket,
            player: Player::new(&part.vector, side),
            half: Half {
                number,
                side,
                tuple: None,
                started,
                established: None,
                first_sent: None,
                last_heard: None,
                closed: None,
                sent: 0,
                heard: 0,
                retransmits: None,
                end: End::Cut,
            },
            connecting: side == Side::Initiator,
            peer_closed: false,
            closed: false,
            window: binding_window(part, side),
        };
        if !live.connecting {
            live.establish(part, started);
        }
        live
    }

    pub(crate) const fn number(&self) -> u32 {
        self.half.number
    }

    /// An initiator by this pair of ports.
    pub(crate) const fn by(mut self, tuple: u32) -> Self {
        self.half.tuple = Some(tuple);
        self
    }

    /// The pair of ports, to be given back by the initiator.
    pub(crate) const fn tuple(&self) -> Option<u32> {
        self.half.tuple
    }

    pub(crate) const fn socket(&self) -> &Socket {
        &self.socket
    }

    /// Does all that can be done now; `answered` is told of each response.
    pub(crate) fn look_after(
        &mut self,
        part: &Part,
        ready: Readiness,
        answered: &mut impl FnMut(Answered),
    ) -> State {
        match self.go_on(part, ready, answered) {
            Ok(true) => State::Over,
            Ok(false) => State::Waits(self.player.next_timeout(clock::now())),
            Err(_) => {
                let was_connecting = self.connecting;
                self.half.end = if was_connecting {
                    End::Refused
                } else {
                    End::Reset
                };
                State::Over
            }
        }
    }

    /// Says whether the connection is over.
    fn go_on(
        &mut self,
        part: &Part,
        ready: Readiness,
        answered: &mut impl FnMut(Answered),
    ) -> io::Result<bool> {
        if self.connecting {
            if let Some(error) = self.socket.take_error()? {
                return Err(error);
            }
            if !ready.writable {
                return Ok(false);
            }
            self.connecting = false;
            self.establish(part, clock::now());
        }
        if ready.readable || ready.hung_up {
            self.hear(part, ready.hung_up, answered)?;
        }
        self.say(part)?;
        if self.player.poll_close(clock::now()) && !self.closed {
            self.closed = true;
            self.socket.shutdown(Shutdown::Write)?;
        }
        let over = self.closed && self.peer_closed;
        if over && self.player.is_complete(&part.vector) {
            self.half.end = End::Complete;
        }
        Ok(over)
    }

    fn establish(&mut self, part: &Part, now: Instant) {
        self.half.established = Some(now);
        self.player.handle_established(&part.vector, now);
    }

    fn hear(
        &mut self,
        part: &Part,
        hung_up: bool,
        answered: &mut impl FnMut(Answered),
    ) -> io::Result<()> {
        while !self.peer_closed {
            let octets = match tcp::try_discard(&self.socket, READ) {
                Ok(octets) => octets,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let now = clock::now();
            if octets == 0 {
                if self.player.expected() > 0 {
                    return Err(ErrorKind::UnexpectedEof.into());
                }
                self.peer_closed = true;
                self.player.handle_closed(&part.vector, now);
                return Ok(());
            }
            self.half.heard += octets as u64;
            self.half.last_heard = Some(now);
            self.player
                .handle_heard(&part.vector, octets as u64, now)
                .map_err(io::Error::other)?;
            if let Some(epoch) = self.player.poll_answered() {
                answered(epoch);
            }
            if let Some(window) = self.window.filter(|_| self.player.expected() > 0) {
                // Newer kernels forget it as they learn how large segments are.
                tcp::set_window_clamp(&self.socket, window).map_err(io::Error::other)?;
            }
            // More would have been there to read, and what comes later is told anew.
            if octets < READ && !hung_up {
                return Ok(());
            }
        }
        Ok(())
    }

    fn say(&mut self, part: &Part) -> io::Result<()> {
        loop {
            let now = clock::now();
            let allowed = self.player.poll_send(&part.vector, now);
            let allowed = usize::try_from(allowed).unwrap_or(WRITE).min(WRITE);
            if allowed == 0 {
                return Ok(());
            }
            match tcp::send(&self.socket, &OCTETS[..allowed], false, false) {
                Ok(octets) => {
                    self.half.first_sent.get_or_insert(now);
                    self.half.sent += octets as u64;
                    self.player.handle_sent(&part.vector, octets as u64, now);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// What this end knows, now that the connection is over; `cut` if it is over because the replay is.
    pub(crate) fn bury(mut self, cut: bool) -> Half {
        let info = tcp::info(&self.socket).ok();
        self.half.retransmits = info.and_then(|info| info.total_retrans);
        self.half.closed = Some(clock::now());
        if cut || self.half.end != End::Complete {
            // The peer shall know at once, and nothing of it shall linger.
            let _ = self.socket.set_linger(Some(Duration::ZERO));
        }
        self.half
    }
}

/// What each socket of a replay is told before it is used.
pub(crate) fn prepare(
    socket: &Socket,
    part: &Part,
    side: Side,
    congestion_control: Option<&str>,
) -> Result<(), sys::Error> {
    tcp::set_nodelay(socket, true)?;
    tcp::set_unsent_limit(socket, UNSENT)?;
    if let Some(window) = binding_window(part, side) {
        tcp::set_window_clamp(socket, window)?;
    }
    if let Some(control) = congestion_control {
        tcp::set_congestion(socket, control)?;
    }
    Ok(())
}

/// The window that `side` offers, if its peer says so much that it can ever be full.
fn binding_window(part: &Part, side: Side) -> Option<u32> {
    let window = part.vector.windows[side.index()];
    let heard = part.vector.body.bytes(side.other());
    (window > 0 && heard > u64::from(window)).then_some(window)
}
