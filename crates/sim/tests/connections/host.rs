//! A host whose only connection says and hears numbers of octets, and a path that loses what a test names.

use isobath_sim::tcp::{Connection, Incoming, Key, Settings, Stack, Tcp, Terms};
use isobath_sim::{Addressed, Builder, Node, NodeId, Parcel, World};
use path::{ConstantRate, Counters, Delay, Element, Fifo, Fixed, Limit, Link, Pipeline};
use std::collections::VecDeque;
use std::time::Duration;
use units::{FlowId, Instant};

/// What one end does with its connection.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Script {
    /// Says so many octets once it is established, and again each time that it has heard as many as `hears`.
    pub(crate) says: u64,
    pub(crate) hears: u64,
    /// So often, then it closes.
    pub(crate) rounds: u32,
    /// It speaks first.
    pub(crate) begins: bool,
    /// Octets that it has room for.
    pub(crate) window: Option<u32>,
    pub(crate) refuses: bool,
    pub(crate) aborts: bool,
}

/// What happened at one end, in ms.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) established: Option<u64>,
    pub(crate) heard: u64,
    pub(crate) heard_at: Option<u64>,
    pub(crate) peer_closed: Option<u64>,
    pub(crate) refused: Option<u64>,
    pub(crate) broken: Option<u64>,
    pub(crate) over: Option<u64>,
    /// Packets that left: when, what.
    pub(crate) sent: Vec<(u64, Tcp)>,
    pub(crate) came: Vec<(u64, Tcp)>,
}

pub(crate) struct Host {
    stack: Stack,
    script: Script,
    /// The peer's window.
    terms: Terms,
    opens: Option<NodeId>,
    key: Option<Key>,
    /// Octets of this round that are not said yet, and not heard.
    left: u64,
    due: u64,
    round: u32,
    closed: bool,
    pub(crate) seen: Seen,
}

impl Host {
    fn attend(&mut self, key: Key, now: Instant) {
        let ms = now.as_nanos() / 1_000_000;
        let Some(connection) = self.stack.get(key) else {
            return;
        };
        let (refused, broken, established) = (
            connection.is_refused(),
            connection.is_broken(),
            connection.is_established(),
        );
        if refused {
            self.seen.refused.get_or_insert(ms);
        }
        if broken {
            self.seen.broken.get_or_insert(ms);
            self.stack.abort(key);
        }
        if !established {
            return;
        }
        if self.seen.established.is_none() {
            self.seen.established = Some(ms);
            if self.script.begins {
                self.left = self.script.says;
            }
            self.due = self.script.hears;
        }
        let heard = self.stack.take_heard(key);
        if heard > 0 {
            self.seen.heard += heard;
            self.seen.heard_at = Some(ms);
            self.due = self.due.checked_sub(heard).expect("more than was said");
            if self.due == 0 {
                self.turn();
            }
        }
        if self.left > 0 {
            self.left -= self.stack.write(key, self.left);
        }
        let all_said = self.left == 0 && self.round >= self.script.rounds && self.due == 0;
        if self.seen.established.is_some() && all_said && !self.closed {
            self.closed = true;
            if self.script.aborts {
                self.stack.abort(key);
            } else {
                self.stack.close(key);
            }
        }
        if self.stack.get(key).is_some_and(Connection::has_peer_closed) {
            self.seen.peer_closed.get_or_insert(ms);
            if self.closed {
                self.stack.release(key);
            }
        }
    }

    /// It has heard all of a round.
    fn turn(&mut self) {
        self.round += 1;
        let goes_on = if self.script.begins {
            self.round < self.script.rounds
        } else {
            self.round <= self.script.rounds
        };
        if goes_on {
            self.left += self.script.says;
        }
        if self.round < self.script.rounds {
            self.due = self.script.hears;
        }
    }
}

impl Node for Host {
    type Payload = Tcp;

    fn handle_packet(&mut self, packet: Parcel<Tcp>, now: Instant) {
        let ms = now.as_nanos() / 1_000_000;
        self.seen.came.push((ms, packet.body.payload.clone()));
        match self.stack.handle_packet(&packet, now) {
            Incoming::Changed(key) => self.attend(key, now),
            Incoming::Asked { from, flow } if self.script.refuses => {
                self.stack.refuse(from, flow);
            }
            Incoming::Asked { from, flow } => {
                let key = self.stack.accept(from, flow, self.terms, now);
                self.key = Some(key);
            }
            Incoming::Nothing => {}
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        if let Some(to) = self.opens.take() {
            self.key = Some(self.stack.open(to, FlowId(0), self.terms, now));
        }
        let mut changed = Vec::new();
        self.stack.handle_timeout(now, &mut changed);
        for key in changed {
            self.attend(key, now);
        }
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<Parcel<Tcp>> {
        let ms = now.as_nanos() / 1_000_000;
        loop {
            if let Some(packet) = self.stack.poll_transmit(now) {
                self.seen.sent.push((ms, packet.body.payload.clone()));
                return Some(packet);
            }
            if self.stack.is_empty() && self.key.is_some() {
                self.seen.over.get_or_insert(ms);
            }
            let key = self.stack.poll_drained()?;
            self.attend(key, now);
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        match self.opens {
            Some(_) => Some(Instant::ZERO),
            None => self.stack.next_timeout(),
        }
    }
}

/// Loses the packets whose places in the row `lost` names, from 0.
pub(crate) struct Losing<B> {
    lost: Vec<u64>,
    counters: Counters,
    body: std::marker::PhantomData<fn(B)>,
}

impl<B> Element<B> for Losing<B> {
    fn process(
        &mut self,
        packet: Option<path::Packet<B>>,
        _: Instant,
        out: &mut VecDeque<path::Packet<B>>,
    ) -> Option<Instant> {
        if let Some(packet) = packet {
            let place = self.counters.entered.packets;
            self.counters.enter(packet.size);
            if self.lost.contains(&place) {
                self.counters.drop(packet.size, path::Cause::Loss);
            } else {
                self.counters.leave(packet.size);
                out.push_back(packet);
            }
        }
        None
    }

    fn counters(&self) -> Counters {
        self.counters
    }
}

/// 100 Mbit/s each way, `delay` each way, and losses.
fn pipeline(delay: Duration, lost: &[u64]) -> Pipeline<Addressed<Tcp>> {
    let losing = Losing {
        lost: lost.to_vec(),
        counters: Counters::default(),
        body: std::marker::PhantomData,
    };
    let rate = Link::new(
        ConstantRate::new("100Mbit".parse().unwrap()),
        Box::new(Fifo::new(Limit::packets(1_000))),
    );
    Pipeline::new(vec![
        ("loss".to_owned(), Box::new(losing)),
        ("rate".to_owned(), Box::new(rate)),
        ("delay".to_owned(), Box::new(Delay::new(Fixed::new(delay)))),
    ])
}

/// Plays both scripts, the client's first, over a path with a round trip of 40 ms that loses these packets of each; both
/// accounts.
pub(crate) fn play(settings: &Settings, scripts: [Script; 2], lost: [&[u64]; 2]) -> [Seen; 2] {
    play_over(Duration::from_millis(20), settings, scripts, lost)
}

/// The same over a path that takes `delay` each way.
pub(crate) fn play_over(
    delay: Duration,
    settings: &Settings,
    scripts: [Script; 2],
    lost: [&[u64]; 2],
) -> [Seen; 2] {
    let mut builder = Builder::default();
    for (number, script) in (0_u32..).zip(scripts) {
        let peer = scripts[1 - number as usize];
        builder.host(
            NodeId(number),
            Host {
                stack: Stack::new(NodeId(number), settings.clone()),
                script,
                terms: Terms {
                    seed: number.into(),
                    window: script.window,
                    peer_window: peer.window,
                },
                opens: (number == 0).then_some(NodeId(1)),
                key: None,
                left: 0,
                due: 0,
                round: 0,
                closed: false,
                seen: Seen::default(),
            },
        );
    }
    builder.link(NodeId(0), NodeId(1), pipeline(delay, lost[0]));
    builder.link(NodeId(1), NodeId(0), pipeline(delay, lost[1]));
    let mut world: World<Host> = builder.build();
    world.run_until(Instant::ZERO + Duration::from_secs(3_000));
    let mut seen = world.into_nodes().map(|host| host.seen);
    [seen.next().unwrap(), seen.next().unwrap()]
}
