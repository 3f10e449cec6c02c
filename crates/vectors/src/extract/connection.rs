//! A connection, segment by segment.

use super::half::{Around, FARTHEST, Half, Piece, side_by_side};
use super::talk::Talk;
use super::{Options, distance, nanos};
use capture::dissect::{Flags, Segment};

/// Segments in a row that do not belong to a connection before they begin another.
const STRANGERS: u8 = 3;
/// How late a hole may be filled by what was overtaken, when no round trip is known.
const OVERTAKEN_NS: u64 = 10_000_000;
/// A SYN that belongs to segments seen before it is at most so far from them.
const NEAR_SYN: i32 = 1 << 16;
/// Ports of services, which connect to nobody, end here (RFC 6335 section 6).
pub(super) const SYSTEM_PORTS: u16 = 1_024;

/// Whether a connection goes on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Fate {
    Open,
    Closed,
    /// Its vector is as long as any may be.
    Full,
}

/// Both directions, by place in the key, and what was said.
#[derive(Debug, Default)]
pub(super) struct Connection {
    pub(super) halves: [Half; 2],
    pub(super) talk: Talk,
    pub(super) first_ns: u64,
    pub(super) last_ns: u64,
    /// When the initiator acknowledged the other's SYN.
    pub(super) established_ns: Option<u64>,
    pub(super) reset_ns: Option<u64>,
    /// The place of the initiator, and whether a SYN told it.
    pub(super) initiator: usize,
    pub(super) initiator_known: bool,
    pub(super) strange: u64,
}

impl Connection {
    /// `segment`, of the end at `place`, begins it.
    pub(super) fn begin(&mut self, place: usize, segment: &Segment) {
        let syn = segment.flags.has(Flags::SYN);
        let ack = segment.flags.has(Flags::ACK);
        let [from, to] = [segment.from.port, segment.to.port].map(|port| port < SYSTEM_PORTS);
        // Who has the port of a service was asked; else who speaks first asks.
        let asked = if syn { ack } else { from && !to };
        self.initiator = if asked { 1 - place } else { place };
        self.initiator_known = syn;
        self.first_ns = segment.at_ns;
        self.last_ns = segment.at_ns;
    }

    /// Something of every part of it that a segment needs.
    pub(super) fn near(&self) -> u64 {
        let [one, two] = self.halves.each_ref().map(|half| {
            half.packets ^ half.free_since_ns ^ u64::from(half.end) ^ half.round_trip.near()
        });
        one ^ two ^ self.last_ns
    }

    /// Whether `segment` belongs to another connection of the same ends.
    pub(super) fn is_other(&self, place: usize, segment: &Segment) -> bool {
        let half = &self.halves[place];
        if segment.flags.has(Flags::SYN) {
            let first = segment.seq.wrapping_add(1);
            let asks = !segment.flags.has(Flags::ACK);
            match half.syn {
                Some(syn) if asks => return syn != segment.seq,
                _ if asks && self.reset_ns.is_some() => return true,
                // It may be that it was overtaken. If not, and it answers, the SYN that it answers is not in the capture.
                None if half.based => return !(0..NEAR_SYN).contains(&distance(first, half.end)),
                None if asks => return half.heard && half.acked != first,
                Some(_) | None => {}
            }
        }
        half.strange.saturating_add(1) >= STRANGERS && half.is_strange(segment.seq)
    }

    /// Takes a segment of the end at `place`.
    pub(super) fn handle(&mut self, place: usize, segment: &Segment, options: &Options) -> Fate {
        let now = segment.at_ns.max(self.last_ns);
        self.last_ns = now;
        let half = &mut self.halves[place];
        half.packets += 1;
        half.bytes += u64::from(segment.packet_len);
        if segment.flags.has(Flags::RST) {
            self.reset_ns.get_or_insert(now);
            return Fate::Open;
        }
        let is_syn = segment.flags.has(Flags::SYN);
        // Of a connection with another first number nothing is known here.
        let is_foreign = is_syn && half.syn.is_some_and(|syn| syn != segment.seq);
        if is_foreign || !is_syn && half.is_strange(segment.seq) {
            half.strange = half.strange.saturating_add(1);
            self.strange += 1;
            return Fate::Open;
        }
        if is_syn {
            self.syn(place, segment, now);
        }
        self.halves[place].strange = 0;
        if !self.near_enough(place, segment, options, now) {
            self.strange += 1;
            return Fate::Open;
        }
        if segment.flags.has(Flags::ACK) {
            if self.is_witnessed(place, segment, options, now) {
                self.ack(place, segment, options, now);
            } else {
                self.strange += 1;
            }
        }
        self.data(place, segment, options, now);
        if let Some((ours, theirs)) = segment.options.timestamps {
            self.halves[place].round_trip.clock(ours, now);
            // The echo of a segment without ACK means nothing (RFC 7323 section 3.2): a SYN that is sent again has heard nothing.
            if segment.flags.has(Flags::ACK) {
                self.halves[1 - place].round_trip.echo(theirs, now);
            }
        }
        self.fate()
    }

    /// Whether a segment is where its direction is, or another said that it went on there.
    fn near_enough(
        &mut self,
        place: usize,
        segment: &Segment,
        options: &Options,
        now: u64,
    ) -> bool {
        let half = &mut self.halves[place];
        if !half.is_far(segment.seq) {
            return true;
        }
        match half.far.take() {
            Some(before) if side_by_side(before.seq, segment.seq) => {
                self.data(place, &before, options, now);
                true
            }
            _ => {
                half.far = Some(Box::new(*segment));
                false
            }
        }
    }

    /// The same of what a segment acknowledges.
    fn is_witnessed(
        &mut self,
        place: usize,
        segment: &Segment,
        options: &Options,
        now: u64,
    ) -> bool {
        let other = &mut self.halves[1 - place];
        if !other.is_far(segment.ack) {
            return true;
        }
        let before = other.far_ack.replace(segment.ack);
        if let Some(data) = other.far.take_if(|far| side_by_side(far.seq, segment.ack)) {
            self.data(1 - place, &data, options, now);
            return true;
        }
        before.is_some_and(|before| side_by_side(before, segment.ack))
    }

    fn fate(&self) -> Fate {
        if self.halves.iter().all(|half| half.fin_acked) {
            Fate::Closed
        } else if self.talk.is_full() {
            Fate::Full
        } else {
            Fate::Open
        }
    }

    fn syn(&mut self, place: usize, segment: &Segment, now: u64) {
        let half = &mut self.halves[place];
        let first = segment.seq.wrapping_add(1);
        if half.syn.is_some() {
            half.round_trip.sent_again(segment.seq);
            // It is asked again, whatever the answer was.
            self.reset_ns = None;
            return;
        }
        half.syn = Some(segment.seq);
        half.window_scale = segment.options.window_scale;
        half.mss = segment.options.mss;
        if !half.based {
            half.based = true;
            half.end = first;
            if !half.heard {
                half.acked = segment.seq;
            }
            half.round_trip.sent(first, now);
        }
        self.initiator = if segment.flags.has(Flags::ACK) {
            1 - place
        } else {
            place
        };
        self.initiator_known = true;
    }

    fn ack(&mut self, place: usize, segment: &Segment, options: &Options, now: u64) {
        let syn = segment.flags.has(Flags::SYN);
        let quiet = self.is_quiet(1 - place, options, now);
        let unseen = self.halves[1 - place].acknowledged(segment.ack, now);
        if unseen > 0 {
            self.talk.say(1 - place, unseen.into(), quiet, now);
        }
        if !syn && place == self.initiator && self.halves[1 - place].syn.is_some() {
            self.established_ns.get_or_insert(now);
        }
        let (window, known) = self.window(place, segment, syn);
        let end = self.halves[1 - place].end;
        let half = &mut self.halves[place];
        half.largest_window = half.largest_window.max(window);
        // A window that opens, without an acknowledgement, sets the other end free.
        let opens = window > half.window && half.shuts(end);
        half.window = window;
        // Of a window in an unknown unit only nothing is known to be nothing.
        let room = if known || window == 0 {
            window
        } else {
            FARTHEST.unsigned_abs()
        };
        half.edge = Some(segment.ack.wrapping_add(room));
        if opens {
            self.halves[1 - place].free_since_ns = now;
        }
    }

    /// The window in octets (RFC 7323 section 2.2): shifted when both ends wanted that, and never in a SYN. When their SYNs
    /// were not seen, whether they did is not known.
    fn window(&self, place: usize, segment: &Segment, syn: bool) -> (u32, bool) {
        let [ours, theirs] = [place, 1 - place].map(|place| &self.halves[place]);
        let window = u32::from(segment.window);
        match (ours.window_scale, theirs.window_scale) {
            (Some(scale), Some(_)) if !syn => (window << scale, true),
            _ => (window, syn || ours.syn.is_some() && theirs.syn.is_some()),
        }
    }

    fn data(&mut self, place: usize, segment: &Segment, options: &Options, now: u64) {
        let start = segment
            .seq
            .wrapping_add(segment.flags.has(Flags::SYN).into());
        let end = start.wrapping_add(segment.payload);
        let quiet = self.is_quiet(place, options, now);
        let around = Around {
            now_ns: now,
            overtaken_ns: self.round_trip_ns().unwrap_or(OVERTAKEN_NS),
            shut: self.halves[1 - place].shuts(start),
            fin: segment.flags.has(Flags::FIN) && self.halves[place].fin.is_none(),
        };
        match self.halves[place].pass(start, end, &around) {
            Piece::New(bytes) => {
                if segment.payload > 0 && self.crosses(place, segment, end) {
                    self.talk.becomes_concurrent(nanos(options.quiet));
                }
                self.talk.say(place, bytes.into(), quiet, now);
            }
            Piece::Old if self.halves[place].is_under_way(end) => self.talk.go_on(place, now),
            Piece::Old | Piece::Nothing => {}
        }
        let half = &mut self.halves[place];
        if segment.flags.has(Flags::FIN) {
            match half.fin {
                None => half.round_trip.sent(end.wrapping_add(1), now),
                Some(_) => half.round_trip.sent_again(end),
            }
            half.fin.get_or_insert((end, now));
        }
    }

    /// Whether new data up to `end` was under way at the same time as some of the other end's: see the module.
    fn crosses(&self, place: usize, segment: &Segment, end: u32) -> bool {
        let other = &self.halves[1 - place];
        !self.talk.is_concurrent()
            && segment.flags.has(Flags::ACK)
            && other.segments > 0
            && distance(segment.ack, other.end) > 0
            && self.halves[place].is_under_way(end)
    }

    /// Whether an end could have sent for so long that what it sends now is another ADU.
    fn is_quiet(&self, place: usize, options: &Options, now: u64) -> bool {
        let to_and_back = self.halves[1 - place].round_trip.shortest_ns().unwrap_or(0);
        let half = &self.halves[place];
        let free = now.saturating_sub(half.free_since_ns);
        !self.halves[1 - place].shuts(half.end)
            && free >= nanos(options.quiet).saturating_add(to_and_back)
    }

    /// The shortest round trip over the whole path, by its halves.
    pub(super) fn round_trip_ns(&self) -> Option<u64> {
        let [one, two] = self
            .halves
            .each_ref()
            .map(|half| half.round_trip.shortest_ns());
        Some(one?.saturating_add(two?))
    }

    /// How long it may be silent.
    pub(super) fn patience_ns(&self, options: &Options) -> u64 {
        let unanswered = self.halves.iter().any(|half| half.packets == 0);
        let closing = self.reset_ns.is_some() || self.halves.iter().any(|half| half.fin.is_some());
        nanos(if unanswered || closing {
            options.transitory
        } else {
            options.idle
        })
    }
}
