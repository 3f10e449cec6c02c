//! One end of one flow, on a socket of the kernel.

use super::super::live::{Alarm, End, State};
use super::super::workload::Part;
use super::counters::Half;
use std::net::SocketAddr;
use std::time::Duration;
use sys::clock;
use sys::udp::{BATCH, Outgoing, UdpSocket};
use units::{Instant, TrafficClass};
use vectors::Side;
use vectors::play::datagrams::{DatagramPlayer, LABEL, Train, label};

/// How soon an end tries again whose datagram found no room in the kernel.
const AGAIN: Duration = Duration::from_millis(1);

/// What an end speaks with.
pub(super) enum Mouth {
    /// A socket of its own, connected to the acceptor.
    Own(UdpSocket),
    /// That shared socket, to this address.
    Shared { socket: usize, to: SocketAddr },
}

/// An end at work.
pub(super) struct Live {
    mouth: Mouth,
    player: DatagramPlayer,
    half: Half,
    pub(super) alarm: Alarm,
}

impl Live {
    pub(super) fn new(part: &Part, number: u32, side: Side, mouth: Mouth, now: Instant) -> Self {
        Self {
            mouth,
            player: DatagramPlayer::new(&part.vector, side),
            half: Half::new(number, side, now),
            alarm: Alarm::default(),
        }
    }

    pub(super) const fn number(&self) -> u32 {
        self.half.number
    }

    /// The socket that is this end's alone.
    pub(super) const fn own(&self) -> Option<&UdpSocket> {
        match &self.mouth {
            Mouth::Own(socket) => Some(socket),
            Mouth::Shared { .. } => None,
        }
    }

    /// The flow begins, by the clock of both ends, at `planned`.
    pub(super) fn begin(&mut self, part: &Part, planned: Instant) {
        self.player.handle_begun(&part.vector, planned);
    }

    /// A datagram has come, of the turn that its label says.
    pub(super) fn hear(&mut self, part: &Part, turn: Option<u32>, octets: u64) {
        let now = clock::now();
        self.half.heard += octets;
        self.half.datagrams[1] += 1;
        self.half.last_heard = Some(now);
        self.player.handle_heard(&part.vector, turn, octets, now);
    }

    /// Does all that can be done now, with `octets` to say.
    pub(super) fn look_after(
        &mut self,
        part: &Part,
        shared: &[UdpSocket],
        octets: &mut [u8],
    ) -> State {
        self.player.handle_timeout(&part.vector, clock::now());
        let Ok(has_room) = self.say(part, shared, octets) else {
            self.half.end = End::Reset;
            return State::Over;
        };
        let now = clock::now();
        if self.player.is_over(&part.vector, now) {
            self.half.end = End::Complete;
            State::Over
        } else if has_room {
            State::Waits(self.player.next_timeout())
        } else {
            State::Waits(Some(now + AGAIN))
        }
    }

    /// Says what is due; whether the kernel has taken all of it.
    fn say(
        &mut self,
        part: &Part,
        shared: &[UdpSocket],
        octets: &mut [u8],
    ) -> Result<bool, sys::Error> {
        loop {
            let now = clock::now();
            let due = self.player.due().unwrap_or(now);
            let Some(train) = self.player.poll_send(&part.vector, now) else {
                return Ok(true);
            };
            let (taken, sum) = self.mouth.send(&train, shared, octets)?;
            if taken == 0 {
                return Ok(false);
            }
            self.half.late = self.half.late.max(now.since(due));
            self.half.first_sent.get_or_insert(now);
            self.half.sent += sum;
            self.half.datagrams[0] += taken as u64;
            self.player.handle_sent(&part.vector, taken, now);
        }
    }

    /// What this end knows, now that it is over.
    pub(super) fn close(mut self) -> Half {
        self.half.ended = Some(clock::now());
        self.half
    }
}

impl Mouth {
    /// Sends as much of `train` as the kernel takes at once: datagrams, and their octets.
    fn send(
        &self,
        train: &Train,
        shared: &[UdpSocket],
        octets: &mut [u8],
    ) -> Result<(usize, u64), sys::Error> {
        let (socket, to) = match self {
            Self::Own(socket) => (Some(socket), None),
            Self::Shared { socket, to } => (shared.get(*socket), Some(*to)),
        };
        let Some(socket) = socket else {
            return Ok((0, 0));
        };
        if let Some(beginning) = octets.first_chunk_mut::<LABEL>() {
            *beginning = label(train.turn);
        }
        let datagram = |size: u32| Outgoing {
            payload: octets.get(..size as usize).unwrap_or_default(),
            to,
            from: None,
            class: TrafficClass::default(),
        };
        let batch: Vec<_> = train.sizes().take(BATCH).map(datagram).collect();
        let taken = socket.send_train(&batch)?;
        let sum = batch.iter().take(taken).map(|one| one.payload.len() as u64);
        Ok((taken, sum.sum()))
    }
}
