//! Figures in the making, row by row.

use super::udp;
use crate::replay::monitors::Rows;
use crate::replay::nanos;
use crate::replay::plan::{Plan, Way};
use crate::replay::tables::{Connection, Epoch, Flow, Goodput};
use crate::replay::totals::Totals;
use crate::replay::workload::Host;
use kit::lab_counters::LabRows;
use record::Record;
use schema::LinkTruth;
use schema::replay::{Arrivals, BothWays, Bytes, Connections, Spread, Summary, Window};
use serde::Deserialize;
use std::collections::HashSet;
use std::time::Duration;
use units::Rate;
use vectors::Transport;

/// What comes later has no part in the figures by second: no replay takes two days, and a damaged record must not take all memory.
const MOST_SECONDS: usize = 172_800;

/// Figures in the making.
pub struct Figures {
    connections: Connections,
    bytes: Bytes,
    flows: udp::Flows,
    forward: Way,
    /// Of the run, after its start, in nanoseconds; the end follows from the plan, or is known at the end.
    window: [u64; 2],
    planned_end: bool,
    lateness: Vec<f64>,
    durations: Vec<f64>,
    from_connect: Vec<f64>,
    responses: Vec<f64>,
    /// Time, packets and octets that waited in the forward direction.
    queue: Vec<(u64, u64, u64)>,
    /// Packets and octets that left each way in each second.
    carried: [Vec<[u64; 2]>; 2],
    /// Octets of data that arrived each way in each second.
    taken: [Vec<[u64; 2]>; 2],
    /// Time and connections.
    active: Vec<(u64, u32)>,
    /// Packets that came to the queue of the forward direction in each millisecond.
    offered: Vec<f64>,
}

impl Figures {
    /// For a replay of `totals` that begins: nothing has come yet.
    pub fn new(plan: &Plan, totals: &Totals) -> Self {
        let bytes = |transport| totals.bytes(transport);
        let flows = udp::Flows::planned(totals.flows(), bytes(Transport::Udp));
        Self::of(plan, totals.connections(), bytes(Transport::Tcp), flows)
    }

    /// Of a record whose run was killed before it could write a summary; what was to be sent is what the connections that are in it were to send.
    ///
    /// # Errors
    /// When the plan or a table cannot be read.
    pub fn of_record(record: &Record) -> anyhow::Result<Summary> {
        let run = record.run();
        let plan: Plan = Deserialize::deserialize(&run.plan)?;
        let rows: Vec<Connection> = record.rows()?;
        let bytes = rows
            .iter()
            .map(|row| row.request_bytes.saturating_add(row.response_bytes));
        let planned = |kind: &str| run.plan["forecast"][kind].as_u64();
        let flows: Vec<Flow> = record.rows()?;
        let of_flows = flows
            .iter()
            .map(|row| row.initiator_bytes + row.acceptor_bytes);
        let mut figures = Self::of(
            &plan,
            planned("connections").unwrap_or(rows.len() as u64),
            bytes.fold(0, u64::saturating_add),
            udp::Flows::planned(
                planned("flows").unwrap_or(flows.len() as u64),
                of_flows.fold(0, u64::saturating_add),
            ),
        );
        for row in &flows {
            figures.flow(row);
        }
        let concurrent = rows.iter().filter(|row| !row.sequential);
        let concurrent: HashSet<u64> = concurrent.map(|row| row.connection).collect();
        for row in &rows {
            figures.connection(row);
        }
        let epochs: Vec<Epoch> = record.rows()?;
        let sequential = epochs
            .iter()
            .filter(|row| !concurrent.contains(&row.connection));
        for row in sequential {
            figures.answered(row);
        }
        figures.lab(&LabRows {
            queue: record.rows()?,
            counters: record.rows()?,
            ..LabRows::default()
        });
        figures.monitors(&Rows {
            offered: record.rows()?,
            active: record.rows()?,
        });
        figures.goodput(&record.rows::<Goodput>()?);
        let last = figures.queue.last().map_or(0, |row| row.0);
        Ok(figures.summary(
            &plan,
            Duration::from_nanos(last),
            plan.bottleneck,
            Vec::new(),
        ))
    }

    fn of(plan: &Plan, planned: u64, bytes: u64, flows: udp::Flows) -> Self {
        Self {
            connections: Connections {
                planned,
                ..Connections::default()
            },
            bytes: Bytes {
                planned: bytes,
                sent: 0,
            },
            flows,
            forward: plan.forward,
            window: plan.window(Duration::MAX).map(nanos),
            planned_end: plan.duration.is_some(),
            lateness: Vec::new(),
            durations: Vec::new(),
            from_connect: Vec::new(),
            responses: Vec::new(),
            queue: Vec::new(),
            carried: [Vec::new(), Vec::new()],
            taken: [Vec::new(), Vec::new()],
            active: Vec::new(),
            offered: Vec::new(),
        }
    }

    /// Connections and flows that are over.
    pub const fn ended(&self) -> u64 {
        self.closed() + self.flows.ended()
    }

    /// Connections that are over.
    const fn closed(&self) -> u64 {
        let c = &self.connections;
        c.completed + c.reset + c.refused + c.unfinished
    }

    /// A flow of UDP is over.
    pub fn flow(&mut self, row: &Flow) {
        self.flows.enter(row);
    }

    /// A connection is over.
    pub fn connection(&mut self, row: &Connection) {
        let counts = &mut self.connections;
        *match row.end.as_ref() {
            "complete" => &mut counts.completed,
            "reset" => &mut counts.reset,
            "refused" => &mut counts.refused,
            _ => &mut counts.unfinished,
        } += 1;
        for octets in [row.received_by_acceptor, row.received_by_initiator] {
            self.bytes.sent = self.bytes.sent.saturating_add(octets);
        }
        let ms = |from: u64, to: u64| to.saturating_sub(from) as f64 / 1e6;
        if let Some(started) = row.started_ns {
            self.lateness.push(ms(row.planned_ns, started));
        }
        if row.end.as_ref() != "complete" {
            return;
        }
        let Some(last) = row.last_byte_ns else {
            return;
        };
        self.durations
            .extend(row.first_byte_ns.map(|first| ms(first, last)));
        self.from_connect
            .extend(row.started_ns.map(|started| ms(started, last)));
    }

    /// A request of a connection that was sequential was answered.
    pub fn answered(&mut self, row: &Epoch) {
        self.responses.push(row.response_ms);
    }

    /// The emulator's counters.
    pub fn lab(&mut self, rows: &LabRows) {
        let forward = self.forward.name();
        let queue = rows
            .queue
            .iter()
            .filter(|row| row.direction.as_ref() == forward);
        self.queue
            .extend(queue.map(|row| (row.t_ns, row.packets, row.bytes)));
        for row in &rows.counters {
            let way = usize::from(row.direction.as_ref() != forward);
            add(&mut self.carried[way], row.t_ns, [row.packets, row.bytes]);
        }
    }

    /// What the hosts took.
    pub fn goodput(&mut self, rows: &[Goodput]) {
        let receiver = match self.forward {
            Way::Up => Host::Server,
            Way::Down => Host::Client,
        };
        for row in rows {
            let way = usize::from(row.host != receiver.name());
            add(&mut self.taken[way], row.t_ns, [0, row.bytes]);
        }
    }

    /// What the monitors on the link saw.
    pub fn monitors(&mut self, rows: &Rows) {
        let active = rows.active.iter();
        self.active
            .extend(active.map(|row| (row.t_ns, row.connections)));
        let forward = self.forward.name();
        for row in rows.offered.iter().filter(|row| row.direction == forward) {
            let bin = usize::try_from(row.t_ns / 1_000_000).unwrap_or(usize::MAX);
            if bin / 1_000 >= MOST_SECONDS {
                continue;
            }
            if self.offered.len() <= bin {
                self.offered.resize(bin + 1, 0.0);
            }
            self.offered[bin] += row.packets as f64;
        }
    }

    /// What was found in a run of this `length`, over a bottleneck of this `rate`.
    pub fn summary(
        mut self,
        plan: &Plan,
        length: Duration,
        rate: Option<Rate>,
        links: Vec<LinkTruth>,
    ) -> Summary {
        if !self.planned_end {
            self.window = plan.window(length).map(nanos);
        }
        let [from, to] = self.window;
        let inside = |t_ns: u64| (from..to).contains(&t_ns);
        let queue: Vec<_> = self.queue.iter().filter(|row| inside(row.0)).collect();
        let packets: Vec<f64> = queue.iter().map(|row| row.1 as f64).collect();
        let drain = |rate: Rate| {
            let ms = queue
                .iter()
                .map(|row| rate.time_for(row.2).as_secs_f64() * 1e3);
            Spread::of(&ms.collect::<Vec<_>>())
        };
        let empty = packets.iter().filter(|packets| **packets < 0.5).count();
        let active = self.active.iter().filter(|row| inside(row.0));
        let active: Vec<f64> = active.map(|row| f64::from(row.1)).collect();
        let of = |ways: &[Vec<[u64; 2]>; 2], figure: usize, scale: f64| {
            let [forward, reverse] = ways
                .each_ref()
                .map(|way| mean(way, from, to)[figure] * scale);
            BothWays { forward, reverse }
        };
        let seen = !links.is_empty() || self.carried.iter().any(|way| !way.is_empty());
        self.connections.never = self.connections.planned.saturating_sub(self.closed());
        let drops = |link: &LinkTruth| link.dropped_overflow + link.dropped_aqm + link.dropped_loss;
        Summary {
            connections: self.connections,
            bytes: self.bytes,
            udp: self.flows.summary(),
            start_lateness_ms: Spread::of(&self.lateness),
            duration_ms: Spread::of(&self.durations),
            duration_from_connect_ms: Spread::of(&self.from_connect),
            response_ms: Spread::of(&self.responses),
            queue_empty_pct: (!packets.is_empty())
                .then(|| empty as f64 * 100.0 / packets.len() as f64),
            queue_packets: Spread::of(&packets),
            queue_ms: rate.and_then(drain),
            drops: seen.then(|| links.iter().map(drops).sum()),
            active_connections: Spread::of(&active),
            throughput_mbps: seen.then(|| of(&self.carried, 1, 8e-6)),
            packets_per_s: seen.then(|| of(&self.carried, 0, 1.0)),
            goodput_mbps: of(&self.taken, 1, 8e-6),
            arrivals: Arrivals::of(between(&self.offered, from, to)),
            window: Window {
                from_s: from as f64 / 1e9,
                to_s: to as f64 / 1e9,
            },
            forward: self.forward,
            links,
        }
    }
}

/// Adds `figures` to those of the second in which `t_ns` lies.
fn add(seconds: &mut Vec<[u64; 2]>, t_ns: u64, figures: [u64; 2]) {
    let second = usize::try_from(t_ns / 1_000_000_000).unwrap_or(usize::MAX);
    if second >= MOST_SECONDS {
        return;
    }
    if seconds.len() <= second {
        seconds.resize(second + 1, [0; 2]);
    }
    for (sum, figure) in seconds[second].iter_mut().zip(figures) {
        *sum = sum.saturating_add(figure);
    }
}

/// The bins of 1 ms between two moments.
fn between(millis: &[f64], from: u64, to: u64) -> &[f64] {
    let bin = |t_ns: u64| {
        usize::try_from(t_ns / 1_000_000).map_or(millis.len(), |bin| bin.min(millis.len()))
    };
    millis.get(bin(from)..bin(to)).unwrap_or_default()
}

/// Packets and octets a second on average over the whole seconds between two moments.
fn mean(seconds: &[[u64; 2]], from: u64, to: u64) -> [f64; 2] {
    let second = |t_ns: u64| usize::try_from(t_ns / 1_000_000_000).unwrap_or(usize::MAX);
    let (from, to) = (
        second(from.div_ceil(1_000_000_000) * 1_000_000_000),
        second(to).min(seconds.len()),
    );
    let inside = seconds.get(from..to).unwrap_or_default();
    let sum = |figure: usize| inside.iter().map(|second| second[figure]).sum::<u64>() as f64;
    [0, 1].map(|figure| sum(figure) / inside.len().max(1) as f64)
}
