//! A flow, datagram by datagram.

use super::form::{FIRST, FULL, Form, Word};
use crate::extract::connection::SYSTEM_PORTS;
use crate::extract::counters::Count;
use crate::extract::extractor::Ended;
use crate::extract::finish::{End, Extracted, Seen};
use crate::extract::key::Key;
use crate::extract::talk::Talk;
use crate::{Loss, Transport, Vector};
use capture::dissect::Datagram;
use core::time::Duration;

/// Octets of an acknowledgement: QUIC's shortest header, some ranges of numbers, and the tag (RFC 9000 sections 17.3 and
/// 19.3).
const ACKNOWLEDGEMENT: u32 = 64;

/// Both directions, by place in the key, and what was said.
#[derive(Debug, Default)]
pub(in crate::extract) struct Flow {
    first_ns: u64,
    last_ns: u64,
    /// The place of the initiator.
    initiator: usize,
    packets: [u64; 2],
    /// With IP headers.
    bytes: [u64; 2],
    /// Datagrams with data, and the most that one had.
    datagrams: [u64; 2],
    largest: [u32; 2],
    /// Until the form is known.
    first: Vec<Word>,
    form: Option<Form>,
    talk: Talk,
    /// Of the last ADU of an exchange: its end, its octets, the last datagram's octets and time.
    last: Option<Last>,
}

#[derive(Clone, Copy, Debug)]
struct Last {
    place: u8,
    bytes: u64,
    datagram: u32,
    at_ns: u64,
}

impl Flow {
    /// `datagram`, of the end at `place`, begins it.
    pub(super) fn begin(&mut self, place: usize, datagram: &Datagram) {
        let ports = [datagram.from.port, datagram.to.port];
        let [from, to] = ports.map(|port| port < SYSTEM_PORTS);
        self.initiator = if from && !to { 1 - place } else { place };
        self.first_ns = datagram.at_ns;
        self.last_ns = datagram.at_ns;
    }

    pub(super) const fn last_ns(&self) -> u64 {
        self.last_ns
    }

    /// No vector may have more.
    pub(super) const fn is_full(&self) -> bool {
        self.talk.is_full()
    }

    /// Takes a datagram of the end at `place`.
    pub(super) fn handle(&mut self, place: usize, datagram: &Datagram, quiet_ns: u64) {
        self.last_ns = self.last_ns.max(datagram.at_ns);
        self.packets[place] += 1;
        self.bytes[place] += u64::from(datagram.packet_len);
        if datagram.payload == 0 {
            return;
        }
        self.datagrams[place] += 1;
        self.largest[place] = self.largest[place].max(datagram.payload);
        let word = Word {
            at_ns: self.last_ns,
            bytes: datagram.payload,
            place: u8::from(place == 1),
        };
        if let Some(form) = self.form {
            self.say(&word, form, quiet_ns);
            return;
        }
        self.first.push(word);
        if self.first.len() == FIRST {
            self.decide(quiet_ns);
        }
    }

    fn decide(&mut self, quiet_ns: u64) {
        let first = core::mem::take(&mut self.first);
        let form = Form::of(&first, quiet_ns);
        if form == Form::Isochronous {
            self.talk.becomes_concurrent(0);
        }
        self.form = Some(form);
        for word in &first {
            self.say(word, form, quiet_ns);
        }
    }

    fn say(&mut self, word: &Word, form: Form, quiet_ns: u64) {
        let place = usize::from(word.place);
        let bytes = u64::from(word.bytes);
        if form == Form::Isochronous {
            self.talk.say(place, bytes, true, word.at_ns);
            return;
        }
        let soon = self
            .last
            .filter(|last| word.at_ns.saturating_sub(last.at_ns) < quiet_ns);
        let mut before = 0;
        if let Some(last) = soon {
            let same = last.place == word.place;
            if !same && last.bytes >= u64::from(FULL) && word.bytes <= ACKNOWLEDGEMENT {
                return;
            }
            if same && last.datagram >= FULL {
                before = last.bytes;
            }
        }
        self.talk.say(place, bytes, before == 0, word.at_ns);
        self.last = Some(Last {
            place: word.place,
            bytes: before + bytes,
            datagram: word.bytes,
            at_ns: word.at_ns,
        });
    }

    /// The vector, if there is one, entered into the counters either way.
    pub(super) fn finish(&mut self, key: &Key, end: End, ended: &mut Ended) -> Option<Extracted> {
        let count = Count {
            connections: 1,
            packets: self.packets.iter().sum(),
            bytes: self.bytes.iter().sum(),
        };
        let counters = &mut ended.counters.udp;
        counters.all += count;
        if self.form.is_none() {
            self.decide(ended.quiet_ns);
        }
        if self.talk.is_empty() {
            counters.no_data += count;
            return None;
        }
        if self.packets.contains(&0) {
            counters.one_way += count;
        }
        if self.talk.is_concurrent() {
            counters.isochronous += count;
        } else {
            counters.exchange += count;
        }
        Some(Extracted {
            vector: self.vector(ended.origin_ns.unwrap_or_default()),
            seen: self.seen(key, end),
        })
    }

    const fn in_order<T: Copy>(&self, pair: &[T; 2]) -> [T; 2] {
        [pair[self.initiator & 1], pair[1 - (self.initiator & 1)]]
    }

    fn vector(&self, origin_ns: u64) -> Vector {
        let body = self
            .talk
            .body(self.initiator, Some(self.first_ns), |_, _| None);
        Vector {
            transport: Transport::Udp,
            start: Duration::from_nanos(self.first_ns.saturating_sub(origin_ns)),
            ids: [0; 2],
            windows: [0; 2],
            min_rtt: None,
            loss: [Loss::NONE; 2],
            mss: Some(self.in_order(&self.largest)),
            body,
        }
    }

    fn seen(&self, key: &Key, end: End) -> Seen {
        Seen {
            ends: self.in_order(&[0, 1]).map(|place| key.end(place).into()),
            initiator_known: false,
            complete: false,
            end,
            duration: Duration::from_nanos(self.last_ns - self.first_ns),
            packets: self.in_order(&self.packets),
            bytes: self.in_order(&self.bytes),
            segments: self.in_order(&self.datagrams),
            again: [0; 2],
            filled: [0; 2],
            overtaken: [0; 2],
            unseen: [0; 2],
            half_rtt: [None; 2],
        }
    }
}
