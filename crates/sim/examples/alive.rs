//! How fast the simulator is with many connections alive, and how much memory each takes, told as JSON.
//!
//! ```text
//! alive CONNECTIONS SECONDS
//! ```
//!
//! Two hosts and 1 Gbit/s between them each way, with a queue of 65,000 packets. Each connection has a round trip of its own (10 to
//! 200 ms) and asks again and again by 400 octets; of sixteen answers one has 200,000 octets, two have 20,000, and the others 2,000. Then it
//! thinks, so long that all together ask 4,000 times a second, which fills half of the link. Work and time are those of the seconds
//! after all are open. bench/sim-peers has the targets.

use isobath_sim::tcp::{Connection, Incoming, Key, Settings, Stack, Tcp, Terms};
use isobath_sim::{Builder, Node, NodeId, Parcel, World};
use path::{Assigned, Element, Limit, Pipeline, QueueSpec, RadixHeap, Spec, StageSpec};
use std::error::Error;
use std::time::Duration;
use transport::Options;
use units::{FlowId, Instant};

/// Octets of a question.
const QUESTION: u64 = 400;
/// Questions a second, of all connections together.
const PACE: u64 = 4_000;

struct Host {
    stack: Stack,
    peer: NodeId,
    /// Connections that this host opens, and those that it has opened.
    count: u64,
    opened: u64,
    apart: Duration,
    ends: Vec<End>,
    alarms: RadixHeap<(Instant, Key)>,
    changed: Vec<Key>,
}

#[derive(Clone, Copy, Default)]
struct End {
    flow: u64,
    round: u64,
    /// Octets to be heard, and to be said.
    due: u64,
    left: u64,
}

impl End {
    /// A number that differs from round to round.
    const fn number(&self) -> u64 {
        let seed = (self.flow / 2 + 1) ^ (self.round << 32);
        (seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ seed.wrapping_mul(0xbf58_476d_1ce4_e5b9)) >> 32
    }

    const fn answer(&self) -> u64 {
        match self.number() % 16 {
            0 => 200_000,
            1 | 2 => 20_000,
            _ => 2_000,
        }
    }
}

impl Host {
    fn new(here: u32, peer: u32, count: u64, apart: Duration) -> Self {
        Self {
            stack: Stack::new(NodeId(here), Settings::new(Options::default())),
            peer: NodeId(peer),
            count,
            opened: 0,
            apart,
            ends: Vec::new(),
            alarms: RadixHeap::default(),
            changed: Vec::new(),
        }
    }

    const fn asks(&self) -> bool {
        self.count > 0
    }

    fn next_open(&self) -> Option<Instant> {
        let number = u32::try_from(self.opened).ok()?;
        (self.opened < self.count).then(|| Instant::ZERO + self.apart * number)
    }

    fn enter(&mut self, key: Key, flow: u64) {
        if self.ends.len() <= key.index() {
            self.ends.resize(key.index() + 1, End::default());
        }
        let due = if self.asks() { 0 } else { QUESTION };
        self.ends[key.index()] = End {
            flow,
            due,
            ..End::default()
        };
    }

    fn attend(&mut self, key: Key, now: Instant) {
        if !self.stack.get(key).is_some_and(Connection::is_established) {
            return;
        }
        let end = &mut self.ends[key.index()];
        let heard = self.stack.take_heard(key);
        end.due = end.due.saturating_sub(heard);
        if heard > 0 && end.due == 0 {
            if self.count > 0 {
                self.think(key, now);
            } else {
                end.left = end.answer();
                end.round += 1;
                end.due = QUESTION;
            }
        } else if self.count > 0 && end.round == 0 && end.due == 0 {
            end.due = 1;
            self.think(key, now);
        }
        let end = &mut self.ends[key.index()];
        if end.left > 0 {
            end.left -= self.stack.write(key, end.left);
        }
    }

    fn think(&mut self, key: Key, now: Instant) {
        let mean_us = self.count * 1_000_000 / PACE;
        let pause_us = (self.ends[key.index()].number() * 2 * mean_us) >> 32;
        let at = now + Duration::from_micros(pause_us);
        self.alarms.push(at, (at, key));
    }

    fn ask(&mut self, key: Key) {
        let end = &mut self.ends[key.index()];
        end.due = end.answer();
        end.round += 1;
        end.left = QUESTION - self.stack.write(key, QUESTION);
    }
}

impl Node for Host {
    type Payload = Tcp;

    fn handle_packet(&mut self, packet: Parcel<Tcp>, now: Instant) {
        match self.stack.handle_packet(&packet, now) {
            Incoming::Changed(key) => self.attend(key, now),
            Incoming::Asked { from, flow } => {
                let key = self.stack.accept(from, flow, terms(flow), now);
                self.enter(key, flow.0);
            }
            Incoming::Nothing => {}
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        while self.next_open().is_some_and(|at| at <= now) {
            let flow = FlowId(self.opened * 2);
            let key = self.stack.open(self.peer, flow, terms(flow), now);
            self.enter(key, flow.0);
            self.opened += 1;
        }
        let mut changed = std::mem::take(&mut self.changed);
        self.stack.handle_timeout(now, &mut changed);
        for key in changed.drain(..) {
            self.attend(key, now);
        }
        self.changed = changed;
        while let Some((_, key)) = self.alarms.pop_due(now) {
            self.ask(key);
        }
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<Parcel<Tcp>> {
        loop {
            if let Some(packet) = self.stack.poll_transmit(now) {
                return Some(packet);
            }
            let key = self.stack.poll_drained()?;
            self.attend(key, now);
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        let open = self.next_open().unwrap_or(Instant::FAR_FUTURE);
        let stack = self.stack.next_timeout().unwrap_or(Instant::FAR_FUTURE);
        let first = open.min(self.alarms.next()).min(stack);
        (first < Instant::FAR_FUTURE).then_some(first)
    }
}

fn terms(flow: FlowId) -> Terms {
    Terms {
        seed: flow.0,
        window: None,
        peer_window: None,
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let mut number = |default: u64| words.next().map_or(Ok(default), |word| word.parse());
    let (connections, seconds) = (number(45_000)?, number(10)?);
    // All are open after ten seconds, at 200 a second at least.
    let apart = Duration::from_secs(10) / u32::try_from(connections.max(2_000))?;
    let delays =
        (0..2 * connections).map(|flow| Duration::from_micros(5_000 + flow / 2 * 7_919 % 95_000));
    let delays = Assigned::settled(delays);
    let resident_before = resident()?;
    let mut builder = Builder::default();
    let ends = [NodeId(0), NodeId(1)];
    builder.host(ends[0], Host::new(0, 1, connections, apart));
    builder.host(ends[1], Host::new(1, 0, 0, apart));
    builder.link(ends[0], ends[1], pipeline(&delays)?);
    builder.link(ends[1], ends[0], pipeline(&delays)?);
    let mut world = builder.build();
    let opening = Instant::from_millis(20_000);
    world.run_until(opening);
    let (before, carried) = (world.work().events(), octets(&world));
    let taken = (resident()? - resident_before) / connections as f64;
    let busy = on_processor()?;
    // As a replay does, which looks at queues.
    for step in 1..=seconds * 100 {
        world.run_until(opening + Duration::from_millis(10 * step));
    }
    let cpu = on_processor()? - busy;
    let events = world.work().events() - before;
    let mbps = (octets(&world) - carried) as f64 * 8e-6 / seconds as f64;
    println!(
        "{{\"connections\": {connections}, \"cpu_s\": {cpu}, \"packet_events\": {events}, \"mbps\": {mbps}, \"bytes_each\": {taken:.0}}}"
    );
    Ok(())
}

fn octets(world: &World<Host>) -> u64 {
    let links = (0..2).filter_map(|link| world.link(isobath_sim::LinkId(link)));
    links.map(|link| link.counters().left.bytes).sum()
}

fn pipeline<B: Clone + Send + 'static>(delays: &Assigned) -> Result<Pipeline<B>, Box<dyn Error>> {
    let spec = Spec(vec![
        StageSpec::ConnectionDelay {},
        StageSpec::Rate {
            rate: "1Gbit".parse()?,
            queue: QueueSpec::Fifo(Limit::packets(65_000)),
            cross: None,
        },
    ]);
    let no_trace = |name: &str| Err(format!("no trace {name}").into());
    Ok(spec.build_lazy(0, &no_trace, delays)?)
}

/// Seconds that this thread has run: on a busy machine the honest figure.
fn on_processor() -> Result<f64, Box<dyn Error>> {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    let ns = stat
        .split_whitespace()
        .next()
        .ok_or("no time in schedstat")?;
    Ok(ns.parse::<f64>()? / 1e9)
}

/// Memory of this process, in octets.
fn resident() -> Result<f64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().nth(1));
    Ok(kib.ok_or("no VmRSS")?.parse::<f64>()? * 1_024.0)
}
