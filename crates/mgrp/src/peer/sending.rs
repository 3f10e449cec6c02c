//! What goes to a peer.

use super::Peer;
use super::train::{Asked, Pays, Train};
use crate::buffer::Cargo;
use crate::envelope::{self, TAG};
use crate::ip;
use crate::packet::{FRAGMENT_HEADER, Packet};
use crate::transaction::Sent;
use thiserror::Error;
use units::Instant;

/// Why an application's packet was dropped.
#[derive(Clone, Copy, Debug, Eq, Error, Hash, PartialEq)]
pub enum Dropped {
    /// Too many are waiting.
    #[error("too many packets are waiting")]
    Full,
    /// No datagram can hold it.
    #[error("packet longer than the path's datagrams")]
    Long,
    /// It is none.
    #[error("not a packet of IP")]
    NotIp,
}

/// A datagram that leaves now.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Transmit {
    /// The number of its packet.
    pub sequence: u64,
    /// Whether it has a probe: then its departure is to be told to [`Peer::sent`].
    pub is_probe: bool,
    datagram: Vec<u8>,
}

impl Transmit {
    /// Its octets, stamped with a time of the clock by which receivers are told departures, and tagged. To be called last
    /// before it is sent: a stamp is as good as it is fresh, and the tag, which covers it, takes a hash's time to make.
    pub fn seal(self, stamp_ns: u64, tag: impl Fn(&[u8], &[u8]) -> [u8; TAG]) -> Vec<u8> {
        let mut datagram = self.datagram;
        envelope::seal(&mut datagram, self.sequence, stamp_ns, tag);
        datagram
    }
}

impl Peer {
    /// An application's packet for the peer. It leaves in a probe or after the buffer's delay; where no probe is to be expected as soon
    /// as those before it have left; at once where it `may_ride` not, the policy lets nothing ride, or there is no delay. Such
    /// packets overtake those that wait.
    ///
    /// # Errors
    /// [`Dropped`], counted; the packet is gone.
    pub fn offer(&mut self, packet: Vec<u8>, may_ride: bool, now: Instant) -> Result<(), Dropped> {
        self.counters.offered_packets += 1;
        self.counters.offered_octets += packet.len() as u64;
        if ip::protocol(&packet).is_none() {
            self.counters.dropped_not_ip += 1;
            return Err(Dropped::NotIp);
        }
        if packet.len() > self.config.longest_packet() {
            self.counters.dropped_long += 1;
            return Err(Dropped::Long);
        }
        let lines_up = may_ride && self.config.policy.riding && !self.config.delay.is_zero();
        let octets = self.alone(packet.len());
        if !self.store(packet, lines_up, now) {
            self.counters.dropped_full += 1;
            return Err(Dropped::Full);
        }
        self.taken_octets += octets;
        Ok(())
    }

    /// What leaves at `now`; asked until it says nothing. First comes the rest of a packet that the last train cut, then a probe that is due,
    /// then packets that do not wait, then those that have waited long enough. Probes go first because nothing else must move them; a train without gaps
    /// therefore holds up what it does not carry until its last probe has left.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Transmit> {
        self.reassembly.handle_timeout(now);
        self.expect(now);
        self.settle();
        self.poll_remainder()
            .or_else(|| self.poll_rest())
            .or_else(|| self.poll_probe(now))
            .or_else(|| self.poll_prompt())
            .or_else(|| self.poll_expired(now))
    }

    /// The probe in the packet with this number left at this moment, for the audit: to be told before
    /// [`poll_transmit`](Self::poll_transmit) is called again; where it is not, the probe left when it was polled.
    pub fn sent(&mut self, sequence: u64, at: Instant) {
        if let Some(train) = self.trains.front_mut() {
            train.tell(sequence, at);
        }
        self.settle();
    }

    /// When [`poll_transmit`](Self::poll_transmit) is to be called again; a moment that has passed means at once.
    pub fn next_timeout(&self) -> Option<Instant> {
        let rest = self.remainder.is_some() || self.has_free_rest();
        let rest = rest.then_some(Instant::ZERO);
        let probe = self.trains.front();
        let probe = probe.map(|train| train.due(self.buffer.head()));
        let prompt = self.prompt.front().map(Cargo::came);
        let timeouts = [rest, probe, prompt, self.buffer.next_timeout()];
        let timeouts = timeouts.into_iter().chain([self.reassembly.next_timeout()]);
        timeouts.flatten().min()
    }

    /// What a packet of so many octets takes on the wire that does not ride: datagrams of its own, with all their headers.
    fn alone(&self, octets: usize) -> u64 {
        let room = self.room(self.path_mtu, &[]);
        let (overhead, cut) = (self.config.carrier.overhead(), FRAGMENT_HEADER);
        let headers = if octets <= room {
            overhead
        } else {
            let pieces = octets.div_ceil(room.saturating_sub(cut).max(1));
            pieces * (overhead + cut)
        };
        (octets + headers) as u64
    }

    /// False when there is no room.
    fn store(&mut self, packet: Vec<u8>, lines_up: bool, now: Instant) -> bool {
        if lines_up {
            let holds = self.holds(now);
            return self.buffer.push(packet, holds, now).is_none();
        }
        let octets = self.prompt_octets + packet.len();
        if octets > self.config.waiting_octets {
            return false;
        }
        self.prompt_octets = octets;
        self.prompt.push_back(Cargo::whole(packet, now));
        true
    }

    fn has_free_rest(&self) -> bool {
        let is_underway = self.trains.front().is_some_and(Train::has_begun);
        !is_underway && self.buffer.is_cut()
    }

    fn poll_remainder(&mut self) -> Option<Transmit> {
        let cargo = self.remainder.take()?;
        self.leave_outside(cargo)
    }

    fn poll_rest(&mut self) -> Option<Transmit> {
        if !self.has_free_rest() {
            return None;
        }
        let cargo = self.buffer.poll_cut()?;
        self.leave_alone(cargo)
    }

    fn poll_prompt(&mut self) -> Option<Transmit> {
        let cargo = self.prompt.pop_front()?;
        self.prompt_octets -= cargo.octets();
        self.counters.prompt += 1;
        self.leave_outside(cargo)
    }

    fn poll_expired(&mut self, now: Instant) -> Option<Transmit> {
        let due = self.buffer.next_timeout();
        let cargo = self.buffer.poll_due(now)?;
        if due == Some(cargo.came()) {
            self.counters.prompt += 1;
            return self.leave_outside(cargo);
        }
        // What leaves beside a train disturbs it.
        if self.trains.front().is_some_and(Train::yields) {
            self.starve();
        }
        self.leave_alone(cargo)
    }

    /// A packet that found no probe, or what is left of one.
    fn leave_alone(&mut self, cargo: Cargo) -> Option<Transmit> {
        if cargo.is_piece() {
            self.counters.rests += 1;
            let header = FRAGMENT_HEADER as u64;
            self.counters.saved_octets = self.counters.saved_octets.saturating_sub(header);
        } else {
            self.counters.expired += 1;
        }
        self.leave_outside(cargo)
    }

    /// What is in no probe, whether a train is under way or not; what the path does not take at once follows.
    fn leave_outside(&mut self, cargo: Cargo) -> Option<Transmit> {
        let room = self.room(self.path_mtu, &[]);
        let (cargo, rest) = self.buffer.split(cargo, room);
        self.counters.split += u64::from(rest.is_some());
        self.remainder = rest;
        if let Some(train) = self.trains.front_mut() {
            train.pass(self.config.carrier.overhead() + cargo.payload().length());
        }
        self.transmit(Packet::default(), Some(&cargo))
    }

    fn poll_probe(&mut self, now: Instant) -> Option<Transmit> {
        let head = self.buffer.head();
        let train = self.trains.front_mut()?;
        if train.due(head) > now {
            return None;
        }
        let (place, count) = train.progress();
        let asked = train.ask(head);
        let may_leave = |asked: &Asked| asked.must_leave || self.can_pay(now);
        if let Some(asked) = asked.filter(may_leave) {
            let may_carry = asked.may_carry && self.config.policy.lets_carry(place, count);
            let cargo = may_carry.then(|| self.load(&asked)).flatten();
            if asked.must_leave || cargo.is_some() {
                return self.leave_in_train(&asked, cargo.as_ref(), now);
            }
        }
        self.starve();
        self.poll_transmit(now)
    }

    /// There is nothing for the train under way to carry, or it does not carry all: it is over.
    fn starve(&mut self) {
        if let Some(train) = self.trains.front_mut() {
            train.end();
        }
        self.settle();
    }

    /// What a probe takes from what waits.
    fn load(&mut self, asked: &Asked) -> Option<Cargo> {
        // A probe that is as long as its packet cuts only what the path does not take.
        let octets = asked.octets.unwrap_or(self.path_mtu);
        let room = self.room(octets, &asked.header);
        self.buffer.fill(room, self.config.policy.fragments)
    }

    /// Octets of a probe's packet that padding or a rider may have.
    fn room(&self, octets: u16, header: &[u8]) -> usize {
        let taken = self.config.carrier.overhead() + header.len();
        usize::from(octets).saturating_sub(taken)
    }

    fn leave_in_train(
        &mut self,
        asked: &Asked,
        cargo: Option<&Cargo>,
        now: Instant,
    ) -> Option<Transmit> {
        let carried = cargo.map_or(0, |cargo| cargo.payload().length());
        let room = asked.octets.map(|octets| self.room(octets, &asked.header));
        let padding = room.map_or(0, |room| room.saturating_sub(carried));
        let length = self.config.carrier.overhead() + asked.header.len() + carried + padding;
        let sent = Sent {
            sequence: self.sequence,
            octets: u16::try_from(length).unwrap_or(u16::MAX),
        };
        let train = self.trains.front_mut()?;
        let (place, _) = train.progress();
        let pays = train.pays(place);
        let channel = train.channel();
        train.leave(asked.gap, sent, cargo, now);
        let alone = cargo.map_or(0, |cargo| self.count_rider(cargo));
        self.pay(pays, length as u64, alone, now);
        let packet = Packet {
            channel,
            probe: Some(&asked.header),
            padding,
            ..Packet::default()
        };
        self.transmit(packet, cargo)
    }

    fn can_pay(&mut self, now: Instant) -> bool {
        let bucket = self.bucket.as_mut();
        bucket.is_none_or(|bucket| !bucket.is_spent(now))
    }

    /// Settles with the budget for a probe of so many octets, of which so many would have left without it.
    fn pay(&mut self, pays: Pays, octets: u64, alone: u64, now: Instant) {
        let Some(bucket) = &mut self.bucket else {
            return;
        };
        match pays {
            Pays::Before => {}
            Pays::Back => bucket.give(alone),
            Pays::Now => bucket.spend(octets.saturating_sub(alone), now),
        }
    }

    /// What riding has kept from the wire: what the rider would have taken without the probe.
    fn count_rider(&mut self, cargo: &Cargo) -> u64 {
        let octets = cargo.octets() as u64;
        self.counters.riders += 1;
        self.counters.riding_pieces += u64::from(cargo.is_piece());
        self.counters.riding_octets += octets;
        // With its last octet a packet needs no datagram of its own any more.
        let headers = if cargo.is_end() {
            self.config.carrier.overhead() as u64
        } else {
            0
        };
        self.counters.saved_octets += octets + headers;
        octets + headers
    }

    /// A datagram with this packet and what it carries; lengths were checked when they came, so it can always be written.
    fn transmit(&mut self, packet: Packet<'_>, cargo: Option<&Cargo>) -> Option<Transmit> {
        let sequence = self.sequence;
        let [_, _, _, _, low @ ..] = sequence.to_be_bytes();
        let packet = Packet {
            sequence: u32::from_be_bytes(low),
            payload: cargo.map(Cargo::payload),
            ..packet
        };
        let mut datagram = Vec::with_capacity(envelope::ENVELOPE + packet.length());
        envelope::begin(self.config.session, &mut datagram);
        packet.emit(&mut datagram).ok()?;
        self.sequence += 1;
        self.count_sent(&packet, datagram.len());
        Some(Transmit {
            sequence,
            is_probe: packet.probe.is_some(),
            datagram,
        })
    }

    fn count_sent(&mut self, packet: &Packet<'_>, octets: usize) {
        let octets = (octets + self.config.carrier.outside()) as u64;
        self.counters.sent_packets += 1;
        self.counters.sent_octets += octets;
        self.counters.padding_octets += packet.padding as u64;
        if packet.probe.is_some() {
            self.counters.sent_probes += 1;
            self.counters.sent_probe_octets += octets;
        }
    }
}
