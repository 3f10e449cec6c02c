//! Senders that give way: a window each, a packet more a round trip, half of it after a loss or a
//! mark. No slow start, no retransmission: just enough to close the loop around a queue.

use isobath_path::{Element, Family, Packet};
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;
use units::{Dscp, Ecn, FlowId, Instant};

/// Without news for so long everything in flight counts as lost.
const TIMEOUT: Duration = Duration::from_secs(1);

struct Sender {
    window: f64,
    next: u64,
    /// The next packet that is not yet known to have arrived or to be lost.
    unknown: u64,
    /// Losses and marks of packets before this one have had their answer.
    answered: u64,
    last_news: Instant,
}

impl Sender {
    const fn new() -> Self {
        Self {
            window: 4.0,
            next: 0,
            unknown: 0,
            answered: 0,
            last_news: Instant::ZERO,
        }
    }

    /// Packet `id` has arrived; those before it that have not are lost.
    fn acknowledge(&mut self, id: u64, marked: bool, now: Instant) {
        let lost = id > self.unknown;
        self.unknown = id + 1;
        self.last_news = now;
        if (lost || marked) && id >= self.answered {
            self.window = (self.window / 2.0).max(2.0);
            self.answered = self.next;
        } else {
            self.window += 1.0 / self.window;
        }
    }

    fn give_up(&mut self, now: Instant) {
        self.unknown = self.next;
        self.window = 2.0;
        self.last_news = now;
    }

    fn may_send(&self) -> bool {
        ((self.next - self.unknown) as f64) < self.window.floor()
    }
}

/// `flows` senders with a base round trip of `rtt` share `link`: how long each packet stayed.
pub(crate) fn run(
    link: &mut impl Element<u64>,
    flows: usize,
    rtt: Duration,
    seconds: u64,
) -> Vec<Duration> {
    let mut senders: Vec<Sender> = (0..flows).map(|_| Sender::new()).collect();
    // By time and order: the flow's index, the packet, whether it is marked.
    let mut acknowledgements = BTreeMap::new();
    let mut sent_at = vec![Vec::new(); flows];
    let (mut out, mut stays, mut order) = (VecDeque::new(), Vec::new(), 0_u64);
    let (mut wake, mut now) = (None, Instant::ZERO);
    while now < Instant::from_millis(seconds * 1_000) {
        for (flow, sender) in senders.iter_mut().enumerate() {
            if now.since(sender.last_news) >= TIMEOUT {
                sender.give_up(now);
            }
            while sender.may_send() {
                let packet = packet(flow, sender.next, now);
                sent_at[flow].push(now);
                sender.next += 1;
                wake = link.process(Some(packet), now, &mut out);
            }
        }
        for packet in out.drain(..) {
            let flow = packet.flow.0 as usize;
            stays.push(packet.at.since(sent_at[flow][packet.body as usize]));
            order += 1;
            let marked = packet.ecn == Ecn::Ce;
            acknowledgements.insert((packet.at + rtt, order), (flow, packet.body, marked));
        }
        let first = acknowledgements.first_key_value().map(|((at, _), _)| *at);
        let idle = now + TIMEOUT;
        now = idle.min(wake.unwrap_or(idle)).min(first.unwrap_or(idle));
        wake = link.process(None, now, &mut out);
        while let Some(entry) = acknowledgements
            .first_entry()
            .filter(|entry| entry.key().0 <= now)
        {
            let (flow, id, marked) = entry.remove();
            senders[flow].acknowledge(id, marked, now);
        }
    }
    stays
}

fn packet(flow: usize, id: u64, at: Instant) -> Packet<u64> {
    Packet {
        size: 1_500,
        flow: FlowId(flow as u64),
        family: Family::V4,
        dscp: Dscp::CS0,
        ecn: Ecn::Ect0,
        at,
        body: id,
    }
}
