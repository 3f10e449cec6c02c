//! The datagrams of one stream of probes at one end: a connected socket, in batches, with tags and the kernel's stamps.
//!
//! Probes are datagrams that want no reply ([`Kind::OneWay`]), padded to the length they are to have; what the receiver says of
//! them are replies. Numbers on the wire have 32 bits; a stream's have 64, and the ones nearest to the last are meant.

use crate::thinned::Thinned;
use record::Distribution;
use serde::{Deserialize, Serialize};
use session::TagKey;
use session::wire::{Flags, Kind, Probe, Receipt};
use stats::random::SplitMix64;
use std::time::Duration;
use sys::udp::{BATCH, Outgoing, RecvBatch, UdpSocket};
use sys::{Error, clock};
use units::{Instant, Stamp, TrafficClass};

/// What is received and sent before the program or the interface gets to it.
const BUFFER: usize = 4 << 20;
/// The two clocks are compared again after this long: the wall clock may be slewed.
const STAMP_EVERY: Duration = Duration::from_millis(100);
/// A wall clock that moves by this between two comparisons was set.
const STEP: Duration = Duration::from_micros(500);
/// Waiting for room in the socket's buffer.
const ROOM: Duration = Duration::from_millis(1);

/// Whose datagrams they are, and how they are marked.
#[derive(Clone, Copy)]
pub struct Terms {
    /// The session, as every header names it.
    pub session: u64,
    /// Number of the stream in that session.
    pub stream: u16,
    /// What is sent: probes that want no reply, or requests.
    pub kind: Kind,
    /// Key of the tags on what this end sends.
    pub key_out: TagKey,
    /// Key of the tags on what arrives; a datagram with another tag is refused.
    pub key_in: TagKey,
    /// DSCP and ECN field of what is sent.
    pub class: TrafficClass,
    /// Octets of the longest UDP payload, at least a header's.
    pub payload: usize,
}

/// How good the instrument was at one end.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Quality {
    /// From a datagram's arrival, by the kernel's stamp, to its being looked at.
    pub late_us: Option<Distribution>,
    /// Datagrams that were not taken: no form, a wrong tag, another test's.
    pub refused: u64,
    /// Datagrams that found the socket's buffer full: they count as lost, and the path did not lose them.
    pub overflows: u64,
    /// Whether the wall clock, by which the kernel stamps, was set.
    pub clock_stepped: bool,
    /// Packets whose rows are not in the record.
    pub rows_left_out: u64,
}

/// One end of a stream's datagrams.
pub struct Link {
    socket: UdpSocket,
    terms: Terms,
    slots: Vec<u8>,
    batch: RecvBatch,
    stamp: Stamp,
    /// No datagram is told to have arrived before one that was told already.
    latest: Instant,
    late_us: Thinned,
    refused: u64,
    clock_stepped: bool,
}

impl Link {
    /// A link over `socket`, which is connected.
    ///
    /// # Errors
    /// When the socket does not take what it needs.
    pub fn new(socket: UdpSocket, terms: Terms) -> Result<Self, Error> {
        // With the system's default a burst may be lost here instead of on the path.
        let _ = socket.set_buffers(BUFFER, BUFFER);
        socket.forbid_fragments()?;
        let longest = terms.payload.max(Probe::LEN);
        let mut slots = vec![0; BATCH * longest];
        // Octets that no middlebox compresses.
        let mut chance = SplitMix64::new(1);
        for octets in slots.chunks_mut(8) {
            octets.copy_from_slice(&chance.draw().to_be_bytes()[..octets.len()]);
        }
        Ok(Self {
            socket,
            terms: Terms {
                payload: longest,
                ..terms
            },
            slots,
            batch: RecvBatch::new(BATCH, longest),
            stamp: clock::stamp(),
            latest: Instant::ZERO,
            late_us: Thinned::default(),
            refused: 0,
            clock_stepped: false,
        })
    }

    /// Sends `packets` packets from number `first` on as fast as the interface takes them; the times before the first and after
    /// the last.
    ///
    /// # Errors
    /// When they cannot be sent at all: too long, no route.
    pub fn send_burst(&mut self, first: u64, packets: u32) -> Result<(Instant, Instant), Error> {
        let began = self.advance(clock::now());
        let mut seq = first;
        let end = first + u64::from(packets);
        while seq < end {
            let count = (end - seq).min(BATCH as u64);
            let sent = clock::now();
            for (index, slot) in (0..count).zip(self.slots.chunks_exact_mut(self.terms.payload)) {
                // The slots are long enough for the header.
                let _ = self
                    .terms
                    .packet(seq + index, sent)
                    .emit(slot, &self.terms.key_out);
            }
            self.flush(usize::try_from(count).unwrap_or(BATCH), self.terms.payload)?;
            seq += count;
        }
        Ok((began, self.advance(clock::now())))
    }

    /// Sends probes of these lengths (octets of UDP payload, at most [`BATCH`] of them, no shorter than a header and no longer than
    /// the longest) with one system call, the first as number `first`; the time that the first of them says.
    ///
    /// # Errors
    /// When they cannot be sent at all: too long, no route.
    pub fn send_probes(&mut self, first: u64, lengths: &[usize]) -> Result<Instant, Error> {
        let longest = self.terms.payload;
        let mut began = None;
        for ((slot, length), seq) in self
            .slots
            .chunks_exact_mut(longest)
            .zip(lengths)
            .zip(first..)
        {
            let slot = &mut slot[..(*length).clamp(Probe::LEN, longest)];
            let sent = clock::now();
            began = began.or(Some(sent));
            let _ = self.terms.packet(seq, sent).emit(slot, &self.terms.key_out);
        }
        let slots = self.slots.chunks_exact(longest).zip(lengths);
        let out = slots.map(|(slot, length)| &slot[..(*length).clamp(Probe::LEN, longest)]);
        let out: Vec<_> = out.map(|slot| self.terms.out(slot)).collect();
        let mut done = 0;
        while done < out.len() {
            let sent = self.socket.send(&out[done..])?.count;
            if sent == 0 {
                self.socket.wait_for_room(ROOM)?;
            }
            done += sent;
        }
        Ok(began.unwrap_or_else(clock::now))
    }

    /// Replies to `packet`, of which `receipt` says how it arrived, with `payload`.
    ///
    /// # Errors
    /// When it cannot be sent at all.
    pub fn send_reply(
        &mut self,
        packet: &Probe,
        receipt: &Receipt,
        payload: &[u8],
    ) -> Result<(), Error> {
        let slot = &mut self.slots[..Probe::LEN + payload.len()];
        slot[Probe::LEN..].copy_from_slice(payload);
        let _ = packet.reply(receipt).emit(slot, &self.terms.key_out);
        // A reply that finds no room is as good as lost.
        let _ = self.socket.send(&[self.terms.out(slot)])?;
        Ok(())
    }

    /// Gives the first `count` slots to the kernel, and waits while it has no room.
    fn flush(&self, count: usize, length: usize) -> Result<(), Error> {
        let out: Vec<_> = self
            .slots
            .chunks_exact(length)
            .take(count)
            .map(|slot| self.terms.out(slot))
            .collect();
        let mut done = 0;
        while done < out.len() {
            let sent = self.socket.send_train(&out[done..])?;
            if sent == 0 {
                self.socket.wait_for_room(ROOM)?;
            }
            done += sent;
        }
        Ok(())
    }

    /// Waits for something to arrive, at most until `deadline`.
    ///
    /// # Errors
    /// When the socket cannot wait.
    pub fn wait(&mut self, deadline: Instant) -> Result<(), Error> {
        let ready = self.socket.wait(deadline.since(clock::now()))?;
        if ready.event {
            // What the path says of single datagrams is not believed.
            while self.socket.poll_event()?.is_some() {}
        }
        Ok(())
    }

    /// Takes what has arrived, one batch, and tells `each` datagram of the stream with its payload, what is known of its
    /// arrival, and whether a clock was set; false when there was nothing.
    ///
    /// # Errors
    /// When the socket cannot be used any more.
    pub fn recv(&mut self, mut each: impl FnMut(&Probe, &[u8], &Receipt)) -> Result<bool, Error> {
        if self.socket.recv(&mut self.batch)? == 0 {
            return Ok(false);
        }
        let now = clock::now();
        self.compare_clocks(now);
        for datagram in self.batch.iter() {
            let Some(probe) = self.terms.parse(datagram.payload) else {
                self.refused += 1;
                continue;
            };
            let stamped = datagram.wall_ns.map(|wall_ns| self.stamp.mono_at(wall_ns));
            if let Some(at) = stamped {
                self.late_us.add(now.since(at).as_secs_f64() * 1e6);
            }
            // The machine's time never goes back, and nothing arrives in the future.
            let at = stamped.unwrap_or(now).min(now).max(self.latest);
            self.latest = at;
            let receipt = Receipt {
                received: at,
                kernel_stamp: stamped.is_some(),
                arrived: datagram.class,
                replied: now,
            };
            each(&probe, &datagram.payload[Probe::LEN..], &receipt);
        }
        Ok(true)
    }

    fn compare_clocks(&mut self, now: Instant) {
        if now.since(self.stamp.mono) < STAMP_EVERY {
            return;
        }
        let stamp = clock::stamp();
        self.clock_stepped |= is_step(self.stamp, stamp);
        self.stamp = stamp;
    }

    /// Whether the wall clock was set since the link was made.
    pub const fn clock_stepped(&self) -> bool {
        self.clock_stepped
    }

    /// Time has come to `now` by another way than an arrival.
    pub fn advance(&mut self, now: Instant) -> Instant {
        self.latest = self.latest.max(now);
        self.latest
    }

    /// How good the instrument was.
    pub fn quality(&self) -> Quality {
        Quality {
            late_us: self.late_us.distribution(),
            refused: self.refused,
            overflows: self.batch.overflows().into(),
            clock_stepped: self.clock_stepped,
            rows_left_out: 0,
        }
    }
}

impl Terms {
    fn packet(&self, seq: u64, sent: Instant) -> Probe {
        Probe {
            kind: self.kind,
            class: self.class,
            arrived: TrafficClass::default(),
            stream: self.stream,
            flags: Flags::default(),
            // The lower half of it.
            sequence: u32::try_from(seq & u64::from(u32::MAX)).unwrap_or_default(),
            session: self.session,
            sent,
            received: Instant::ZERO,
            replied: Instant::ZERO,
        }
    }

    const fn out<'a>(&self, payload: &'a [u8]) -> Outgoing<'a> {
        Outgoing {
            payload,
            to: None,
            from: None,
            class: self.class,
        }
    }

    /// The header of `octets`, if they are this stream's and the tag is right.
    fn parse(&self, octets: &[u8]) -> Option<Probe> {
        let probe = Probe::parse(octets).ok()?;
        let is_ours = probe.session == self.session && probe.stream == self.stream;
        (is_ours && Probe::verify(octets, &self.key_in).is_ok()).then_some(probe)
    }
}

/// Whether the wall clock was set between two comparisons of the clocks: it moved by more than slewing explains.
fn is_step(before: Stamp, after: Stamp) -> bool {
    // Where the old comparison puts the present.
    let expected = before.mono_at(after.wall_ns);
    let moved = expected.since(after.mono).max(after.mono.since(expected));
    let slewed = after.mono.since(before.mono) / 1_000;
    moved > STEP + slewed
}

/// The number nearest to `last` whose lower half is `low`.
pub fn expand(low: u32, last: u64) -> u64 {
    const HALF: u64 = 1 << 31;
    let near = last.saturating_add(HALF);
    let candidate = near & !u64::from(u32::MAX) | u64::from(low);
    if candidate > near {
        candidate.checked_sub(1 << 32).unwrap_or(candidate)
    } else {
        candidate
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn stamp(mono_ms: u64, wall_ms: u64) -> Stamp {
        Stamp {
            mono: Instant::from_nanos(mono_ms * 1_000_000),
            wall_ns: wall_ms * 1_000_000,
        }
    }

    #[test]
    fn a_clock_that_was_set_is_known_from_one_that_is_slewed() {
        let before = stamp(5_000, 1_700_000_000_000);
        let after = |wall_ms: u64| stamp(15_000, 1_700_000_000_000 + wall_ms);
        // Ten seconds later; the kernel slews by at most 500 us a second.
        for wall_ms in [10_000, 10_005, 9_995] {
            assert!(!is_step(before, after(wall_ms)), "{wall_ms}");
        }
        for wall_ms in [10_050, 9_950, 3_610_000, 0] {
            assert!(is_step(before, after(wall_ms)), "{wall_ms}");
        }
        let long_ago = stamp(15_000, 1_000_000_000_000);
        assert!(is_step(before, long_ago));
    }

    proptest! {
        #[test]
        fn a_number_is_known_again_from_its_lower_half(last: u32, high in 0_u64..1 << 20, step in -1_000_000_i64..1_000_000) {
            let last = high << 32 | u64::from(last);
            let Some(seq) = last.checked_add_signed(step) else { return Ok(()) };
            #[expect(clippy::cast_possible_truncation, reason = "the lower half")]
            let low = seq as u32;
            prop_assert_eq!(expand(low, last), seq);
        }
    }
}
