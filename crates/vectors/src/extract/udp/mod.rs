//! Flows of UDP, as vectors.
//!
//! The a-b-t model is of TCP. A link carries UDP too, and a replay without it is not that link. UDP has no numbers that
//! would say what the application did, but also nothing between the application and the network: what is seen is, but for
//! losses and delays on the way to the monitor, what it handed over. So a vector of a flow keeps **every datagram, its size
//! and the wait before it**, with one exception: what a protocol with a congestion control of its own (QUIC) sends in a train of full
//! datagrams is one ADU, because when each of these left was the old network's doing.
//!
//! # What a flow is
//!
//! All datagrams between two addresses and ports, both ways, until there was none for 60 s ([`Options::udp_idle`]). The
//! *initiator* is who was seen first, unless that end has a port below 1024 and the other has not. Nothing opens or closes a
//! flow, so a vector has no tails, and one of either direction alone is whole: a stream of RTP is answered, if at all,
//! elsewhere. Empty datagrams are packets, but no ADUs; a flow of nothing else is discarded.
//!
//! # Two forms
//!
//! [`Body::Sequential`] is an **exchange**: requests and responses (DNS, QUIC). Whoever sends an ADU has the one before it,
//! from whichever end, and then waits for as long as the ADU's `wait`.
//!
//! [`Body::Concurrent`] is **isochronous**: each end has a clock of its own and does not wait for the other (RTP, IPTV, games,
//! telemetry). An ADU follows the last of the same end after its `wait`, whatever the other end does.
//!
//! The first 256 datagrams decide, or all if there are fewer:
//!
//! 1. Where one end only was seen, or sent 64 datagrams in a row, it waits for nobody: *isochronous*. (Who minds congestion
//!    begins with ten datagrams, RFC 9002 section 7.2, and needs answers to go on.)
//! 2. Else, where at least half the octets of one end came in *full* datagrams, of 1,200 octets and more, what one sees is a
//!    transfer and its acknowledgements: an *exchange*. (1,200 octets must fit into the datagrams of every path of QUIC,
//!    RFC 9000 section 14. A video's frames are cut into smaller ones, to leave room for tunnels.)
//! 3. Else, where an end sent 16 datagrams without a quiet time (500 ms) between them, it keeps time: *isochronous*.
//! 4. Else it is an *exchange*.
//!
//! So two ends that answer each other promptly with small datagrams, sixteen times and more, are taken for isochronous: on another
//! network they keep the pace that they had.
//!
//! # ADUs of an exchange
//!
//! A datagram is an ADU of its own, unless it goes on with a **train**: the last datagram of the ADU before it was full, of the
//! same end, and less than a quiet time ago. A datagram of at most 64 octets that comes less than a quiet time after an ADU
//! of 1,200 octets or more of the other end is its acknowledgement: a packet, but no ADU, and the train may go on after it.
//! In isochronous flows every datagram is an ADU.
//!
//! # How it is replayed
//!
//! - An ADU of no more octets than the largest datagram of its end ([`Vector::mss`](crate::Vector::mss)) is one datagram. A larger one is a train: datagrams of
//!   the largest size, and one of what is left. (Where a flow raised the size of its datagrams on the way, the trains before have
//!   fewer of them in a replay, and the same octets.)
//! - When a train's datagrams leave is the business of a congestion control; a replay without one sends them in a row.
//! - The first ADU of all begins at the vector's start. In an isochronous flow the first ADU of the other end waits since then too.
//! - A datagram that is lost is lost. An end that waits for a whole ADU of an exchange goes on without it after a patience of
//!   the replay's own ([`play::datagrams`](crate::play::datagrams)).
//! - Round-trip time and loss are unknown (none), windows zero: no header of UDP says them.

mod flow;
mod form;

use super::counters::Count;
use super::extractor::Ended;
use super::finish::End;
use super::key::Key;
use super::sweep::Sweep;
use super::table::Table;
use super::{Options, nanos};
use capture::dissect::Datagram;
use flow::Flow;

#[cfg(doc)]
use crate::Body;

/// Flows that are open.
#[derive(Debug)]
pub(super) struct Flows {
    table: Table<Flow>,
    sweep: Sweep,
    most_open: usize,
}

impl Flows {
    pub(super) fn new(options: &Options) -> Self {
        Self {
            table: Table::new(options.seed),
            sweep: Sweep::default(),
            most_open: 0,
        }
    }

    /// The most that were open since this was last asked.
    pub(super) fn most_open(&mut self) -> usize {
        core::mem::replace(&mut self.most_open, self.table.len())
    }

    /// All of them, in the order of their numbers.
    pub(super) fn numbers(&self) -> Vec<u32> {
        self.table.numbers(|_| true)
    }

    pub(super) fn handle(&mut self, datagram: &Datagram, options: &Options, ended: &mut Ended) {
        let idle_ns = nanos(options.udp_idle);
        self.sweep(datagram.at_ns, idle_ns, ended);
        let (key, place) = Key::of(datagram.from, datagram.to);
        let hash = self.table.hash(&key);
        let number = self.table.find(hash, &key).filter(|&number| {
            let silent = self.silent(number, datagram.at_ns, idle_ns);
            if silent {
                self.end(number, End::Silence, ended);
            }
            !silent
        });
        let number = match number {
            Some(number) => number,
            None if self.table.len() >= options.most_open => {
                let one = Count::packet(datagram.packet_len);
                ended.counters.udp.refused += one;
                ended.counters.udp.all += one;
                return;
            }
            None => {
                let number = self.table.insert(hash, key);
                let flow = &mut self.table.slot_mut(number).connection;
                flow.begin(place, datagram);
                number
            }
        };
        self.most_open = self.most_open.max(self.table.len());
        let flow = &mut self.table.slot_mut(number).connection;
        flow.handle(place, datagram, nanos(options.quiet));
        if flow.is_full() {
            self.end(number, End::Full, ended);
        }
    }

    /// Takes a flow out.
    pub(super) fn end(&mut self, number: u32, end: End, ended: &mut Ended) {
        let last = |key: &Key, flow: &mut Flow| flow.finish(key, end, ended);
        let vector = self.table.remove(number, last);
        ended.queue.extend(vector);
    }

    fn silent(&self, number: u32, at_ns: u64, idle_ns: u64) -> bool {
        let flow = &self.table.slot(number).connection;
        at_ns.saturating_sub(flow.last_ns()) > idle_ns
    }

    fn sweep(&mut self, at_ns: u64, idle_ns: u64, ended: &mut Ended) {
        if !self.sweep.is_due(at_ns, self.table.len(), idle_ns) {
            return;
        }
        let is_silent = |flow: &Flow| at_ns.saturating_sub(flow.last_ns()) > idle_ns;
        for number in self.table.numbers(is_silent) {
            self.end(number, End::Silence, ended);
        }
    }
}

#[cfg(test)]
mod tests;
