//! One end of one connection, on a socket of the kernel.

use super::connector::Departure;
use super::listeners::Arrival;
use super::workload::Part;
use serde::{Deserialize, Serialize};
use session::Slot;
use session::wire::Preamble;
use socket2::Socket;
use std::io::{self, ErrorKind};
use std::net::Shutdown;
use std::time::Duration;
use sys::{clock, tcp};
use units::Instant;
use vectors::play::{Answered, Player};
use vectors::{Side, Turn};

/// Octets of one write.
const WRITE: usize = 64 << 10;
/// Octets of one read, which copies nothing.
const READ: usize = 1 << 20;
/// Octets that may wait unsent in the kernel: an end has said something when it is about to leave, not when memory took it.
const UNSENT: u32 = 16 << 10;
/// What is said.
static OCTETS: [u8; WRITE] = [0x5a; WRITE];

/// Octets by which a connection introduces itself.
pub const INTRODUCTION: u64 = Preamble::LEN as u64;

/// How an end came to its end.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum End {
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
    pub const fn name(self) -> &'static str {
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
pub struct Half {
    /// The connection, by its place among the parts.
    pub number: u32,
    /// Which end this is.
    pub side: Side,
    /// From and to which port, of an initiator.
    pub ports: Option<[u16; 2]>,
    /// When the connection was asked for, at the initiator, or accepted.
    pub started: Instant,
    /// When the handshake was done here.
    pub established: Option<Instant>,
    /// When its kernel first took an octet of what the vector says.
    pub first_sent: Option<Instant>,
    /// When it last took octets from its kernel.
    pub last_heard: Option<Instant>,
    /// When its socket was closed.
    pub closed: Option<Instant>,
    /// Octets that its kernel took.
    pub sent: u64,
    /// Octets that it took from its kernel.
    pub heard: u64,
    /// Segments that its kernel sent again, if the kernel tells.
    pub retransmits: Option<u32>,
    /// The shortest round trip that the kernel saw.
    pub min_rtt: Option<Duration>,
    /// How it came to its end.
    pub end: End,
}

impl Half {
    /// What is known of a connection that could not even be asked for.
    pub const fn refused(number: u32, now: Instant) -> Self {
        let mut half = Self::new(number, Side::Initiator, now);
        half.end = End::Refused;
        half
    }

    /// Of a connection that begins.
    pub const fn new(number: u32, side: Side, started: Instant) -> Self {
        Self {
            number,
            side,
            ports: None,
            started,
            established: None,
            first_sent: None,
            last_heard: None,
            closed: None,
            sent: 0,
            heard: 0,
            retransmits: None,
            min_rtt: None,
            end: End::Cut,
        }
    }
}

/// What became of a connection that was looked after.
pub enum State {
    /// It goes on; at this moment at the latest it wants to be looked after again.
    Waits(Option<Instant>),
    /// It is over.
    Over,
}

/// An end at work.
pub struct Live {
    socket: Socket,
    player: Player,
    half: Half,
    /// The pair of ports, to be given back by the initiator.
    tuple: Option<u32>,
    /// What is said first of all.
    introduction: Option<[u8; Preamble::LEN]>,
    /// Kept as long as the socket.
    slot: Option<Slot>,
    /// The timer by which it is woken.
    pub alarm: Alarm,
    connecting: bool,
    peer_closed: bool,
    closed: bool,
    /// The window that has to be said again and again, if the peer says enough to fill it.
    window: Option<u32>,
}

/// The timer of an end: set for the earliest moment at which it wants to be looked after, and not again for the same.
#[derive(Clone, Copy, Debug, Default)]
pub struct Alarm(Option<Instant>);

impl Alarm {
    /// Whether a timer is to be set for `due`: none is that wakes the end earlier.
    pub fn sets(&mut self, due: Instant) -> bool {
        let sets = self.0.is_none_or(|set| due < set);
        if sets {
            self.0 = Some(due);
        }
        sets
    }

    /// The timer that was set for `due` has woken the end.
    pub fn rings(&mut self, due: Instant) {
        self.0 = self.0.filter(|set| *set != due);
    }
}

/// What the kernel said of a socket.
#[derive(Clone, Copy, Debug, Default)]
pub struct Readiness {
    /// There are octets to read, or its end.
    pub readable: bool,
    /// The connection is made, or there is room for more to be sent.
    pub writable: bool,
    /// The peer has closed, or the connection is broken.
    pub hung_up: bool,
}

impl Drop for Live {
    fn drop(&mut self) {
        if let Some(slot) = &self.slot {
            slot.count(&self.socket);
        }
    }
}

impl Live {
    /// The initiator of `part`, which has begun to connect.
    pub fn open(departure: Departure, part: &Part, number: u32, now: Instant) -> Self {
        let mut live = Self::new((departure.socket, None), part, number, Side::Initiator, now);
        live.half.ports = Some(departure.ports);
        live.introduction = departure.introduction;
        live.connecting = true;
        live
    }

    /// The acceptor of `part`.
    pub fn accept(arrival: Arrival, part: &Part) -> Self {
        let at = arrival.accepted;
        let socket = (arrival.socket, arrival.slot);
        let mut live = Self::new(socket, part, arrival.number, Side::Acceptor, at);
        live.establish(part, at);
        if arrival.introduced && is_in_first_adu(part) {
            live.heard_of(part, INTRODUCTION, at);
        }
        live
    }

    fn new(
        (socket, slot): (Socket, Option<Slot>),
        part: &Part,
        number: u32,
        side: Side,
        started: Instant,
    ) -> Self {
        Self {
            socket,
            player: Player::new(&part.vector, side),
            half: Half::new(number, side, started),
            tuple: None,
            introduction: None,
            slot,
            alarm: Alarm::default(),
            connecting: false,
            peer_closed: false,
            closed: false,
            window: binding_window(part, side),
        }
    }

    /// The connection's place among the parts.
    pub const fn number(&self) -> u32 {
        self.half.number
    }

    /// Octets heard so far.
    pub const fn heard(&self) -> u64 {
        self.half.heard
    }

    /// An initiator by this pair of ports.
    #[must_use]
    pub const fn by(mut self, tuple: Option<u32>) -> Self {
        self.tuple = tuple;
        self
    }

    /// The pair of ports, to be given back by the initiator.
    pub const fn tuple(&self) -> Option<u32> {
        self.tuple
    }

    /// The socket, to be watched for news.
    pub const fn socket(&self) -> &Socket {
        &self.socket
    }

    /// Does all that can be done now; `answered` is told of each response.
    pub fn look_after(
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
            self.introduce(part)?;
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

    /// Says which connection this is, if that must be said.
    fn introduce(&mut self, part: &Part) -> io::Result<()> {
        let Some(octets) = self.introduction.take() else {
            return Ok(());
        };
        // It fits into an empty buffer.
        if tcp::send(&self.socket, &octets, false, false)? < octets.len() {
            return Err(ErrorKind::WriteZero.into());
        }
        if is_in_first_adu(part) {
            self.said(part, INTRODUCTION, clock::now());
        }
        Ok(())
    }

    /// The kernel has taken `octets` of what the vector says.
    fn said(&mut self, part: &Part, octets: u64, now: Instant) {
        self.half.first_sent.get_or_insert(now);
        self.half.sent += octets;
        self.player.handle_sent(&part.vector, octets, now);
    }

    /// `octets` have come; says whether the vector has them.
    fn heard_of(&mut self, part: &Part, octets: u64, now: Instant) -> bool {
        self.half.heard += octets;
        self.half.last_heard = Some(now);
        self.player.handle_heard(&part.vector, octets, now).is_ok()
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
            if !self.heard_of(part, octets as u64, now) {
                return Err(ErrorKind::InvalidData.into());
            }
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
                Ok(octets) => self.said(part, octets as u64, now),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// What this end knows, now that the connection is over; `cut` if it is over because the replay is.
    pub fn close(mut self, cut: bool) -> Half {
        let info = tcp::info(&self.socket).ok();
        self.half.retransmits = info.and_then(|info| info.total_retrans);
        self.half.min_rtt = info.and_then(|info| info.min_rtt);
        self.half.closed = Some(clock::now());
        if cut || self.half.end != End::Complete {
            // The peer shall know at once, and nothing of it shall linger.
            let _ = self.socket.set_linger(Some(Duration::ZERO));
        }
        self.half
    }
}

/// Whether the introduction of a connection takes the place of its first octets: then nothing is said that the vector does not
/// say. Where the initiator does not speak at once, or says less, it comes before what the vector says.
pub fn is_in_first_adu(part: &Part) -> bool {
    let speaks_at_once = |turn: &Turn| {
        turn.side == Side::Initiator && turn.wait.is_zero() && turn.bytes >= INTRODUCTION
    };
    part.vector.body.turns().first().is_some_and(speaks_at_once)
}

/// What each socket of a replay is told before it is used.
///
/// # Errors
/// When the system refuses one of its options.
pub fn prepare(
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
pub fn binding_window(part: &Part, side: Side) -> Option<u32> {
    let window = part.vector.windows[side.index()];
    let heard = part.vector.body.bytes(side.other());
    (window > 0 && heard > u64::from(window)).then_some(window)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_is_set_once_for_a_moment_and_again_for_an_earlier_one() {
        let at = Instant::from_nanos;
        let mut alarm = Alarm::default();
        assert!(alarm.sets(at(50)));
        assert!(!alarm.sets(at(50)) && !alarm.sets(at(60)));
        assert!(alarm.sets(at(40)));
        // The one for 50 is still there, and does no harm.
        alarm.rings(at(40));
        assert!(alarm.sets(at(60)));
        alarm.rings(at(50));
        assert!(!alarm.sets(at(60)));
    }
}
