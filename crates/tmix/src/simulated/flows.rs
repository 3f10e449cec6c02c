//! A host's ends of flows of UDP.
//!
//! What an end does [`vectors::play::datagrams`] decides, as on sockets. Both ends begin at the planned start; datagrams carry the
//! number of their turn.

use super::{flow_of, number_of};
use crate::replay::datagrams::Half;
use crate::replay::live::{Alarm, End};
use crate::replay::workload::Part;
use path::{Family, Packet, RadixHeap};
use sim::tcp::{Datagram, Tcp, back};
use sim::{Addressed, NodeId, Parcel};
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use units::{Dscp, Ecn, FlowId, Instant};
use vectors::Side;
use vectors::play::datagrams::{DatagramPlayer, LABEL};

/// See the module.
pub(super) struct Flows {
    ends: [NodeId; 2],
    /// Flows to begin, by start.
    coming: VecDeque<(Instant, u32, Rc<Part>, Side)>,
    /// By number.
    lives: BTreeMap<u32, Live>,
    /// When which end wants to be looked after; entries of ends that are gone do no harm.
    alarms: RadixHeap<(Instant, u32)>,
    /// Datagrams that leave.
    out: VecDeque<Parcel<Tcp>>,
    /// Ends that are over.
    pub(super) over: Vec<(Half, Rc<Part>)>,
    /// Flows that were begun since they were last taken.
    pub(super) begun: u64,
}

/// An end at work.
struct Live {
    part: Rc<Part>,
    player: DatagramPlayer,
    half: Half,
    alarm: Alarm,
}

impl Flows {
    /// Of the host at the first of `ends`.
    pub(super) fn new(ends: [NodeId; 2]) -> Self {
        Self {
            ends,
            coming: VecDeque::new(),
            lives: BTreeMap::new(),
            alarms: RadixHeap::default(),
            out: VecDeque::new(),
            over: Vec::new(),
            begun: 0,
        }
    }

    /// Has this host play `side` of flow `number`, which does not start before those that it was given already.
    pub(super) fn give(&mut self, number: u32, part: Rc<Part>, side: Side) {
        let start = Instant::ZERO + part.vector.start;
        self.coming.push_back((start, number, part, side));
    }

    /// Whether nothing is left to begin or to end.
    pub(super) fn are_over(&self) -> bool {
        self.coming.is_empty() && self.lives.is_empty()
    }

    /// Whether an end waits for its turn by the clock.
    pub(super) fn are_waiting(&self) -> bool {
        !self.lives.is_empty()
    }

    /// A datagram of `flow` came.
    pub(super) fn handle_datagram(&mut self, flow: FlowId, datagram: Datagram, now: Instant) {
        let number = number_of(flow);
        if let Some(live) = self.lives.get_mut(&number) {
            let octets = u64::from(datagram.len);
            live.half.heard += octets;
            live.half.datagrams[1] += 1;
            live.half.last_heard = Some(now);
            let vector = &live.part.vector;
            live.player
                .handle_heard(vector, datagram.label, octets, now);
            self.attend(number, now);
        }
    }

    /// The instant of [`Flows::next_timeout`] has come.
    pub(super) fn handle_timeout(&mut self, now: Instant) {
        while let Some((start, number, part, side)) =
            self.coming.pop_front_if(|(start, ..)| *start <= now)
        {
            let mut player = DatagramPlayer::new(&part.vector, side);
            player.handle_begun(&part.vector, start);
            self.begun += u64::from(side == Side::Initiator);
            let live = Live {
                part,
                player,
                half: Half::new(number, side, now),
                alarm: Alarm::default(),
            };
            self.lives.insert(number, live);
            self.attend(number, now);
        }
        while let Some((due, number)) = self.alarms.pop_due(now) {
            if let Some(live) = self.lives.get_mut(&number) {
                live.alarm.rings(due);
                self.attend(number, now);
            }
        }
    }

    /// When to call [`Flows::handle_timeout`]; [`Instant::FAR_FUTURE`] is never.
    pub(super) fn next_timeout(&self) -> Instant {
        let first = self.coming.front();
        let first = first.map_or(Instant::FAR_FUTURE, |(start, ..)| *start);
        first.min(self.alarms.next())
    }

    /// The next datagram to send.
    pub(super) fn poll_transmit(&mut self) -> Option<Parcel<Tcp>> {
        self.out.pop_front()
    }

    /// Cuts what is still under way at `now`, the end of the replay.
    pub(super) fn cut(&mut self, now: Instant) {
        for (_, live) in std::mem::take(&mut self.lives) {
            let mut half = live.half;
            half.ended = Some(now);
            self.over.push((half, live.part));
        }
    }

    /// Does all that the end can do now.
    fn attend(&mut self, number: u32, now: Instant) {
        let Some(live) = self.lives.get_mut(&number) else {
            return;
        };
        live.player.handle_timeout(&live.part.vector, now);
        live.say(self.ends, number, &mut self.out, now);
        if live.player.is_over(&live.part.vector, now) {
            if let Some(mut live) = self.lives.remove(&number) {
                live.half.end = End::Complete;
                live.half.ended = Some(now);
                self.over.push((live.half, live.part));
            }
        } else if let Some(due) = live.player.next_timeout()
            && live.alarm.sets(due)
        {
            self.alarms.push(due, (due, number));
        }
    }
}

impl Live {
    fn say(
        &mut self,
        [from, to]: [NodeId; 2],
        number: u32,
        out: &mut VecDeque<Parcel<Tcp>>,
        now: Instant,
    ) {
        let there = flow_of(number);
        let flow = match self.half.side {
            Side::Initiator => there,
            Side::Acceptor => back(there),
        };
        while let Some(train) = self.player.poll_send(&self.part.vector, now) {
            let mut datagrams = 0;
            for size in train.sizes() {
                datagrams += 1;
                self.half.sent += u64::from(size);
                let label = (size as usize >= LABEL).then_some(train.turn);
                let len = u16::try_from(size).unwrap_or(u16::MAX);
                let datagram = Datagram { len, label };
                out.push_back(Packet {
                    size: datagram.size(),
                    flow,
                    family: Family::V4,
                    dscp: Dscp::CS0,
                    ecn: Ecn::NotEct,
                    at: now,
                    body: Addressed {
                        from,
                        to,
                        payload: Tcp::Udp(datagram),
                    },
                });
            }
            if datagrams == 0 {
                return;
            }
            self.half.first_sent.get_or_insert(now);
            self.half.datagrams[0] += datagrams as u64;
            self.player.handle_sent(&self.part.vector, datagrams, now);
        }
    }
}
