//! Two managers' machines, the path between them, and an application that sends over it.

use super::application::{Application, PACKET, Pace};
use mgrp::envelope::Carrier;
use mgrp::peer::{Config, Finished, Peer};
use mgrp::transaction::{self, Probe, Ranges, Request, Spacing, Transaction};
use path::{Element, Family, Packet, Pipeline, Spec};
use probe::riders::{Offered, Riders};
use probe::train::{Arrival, Extent, Passage, Train};
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;
use units::{Dscp, Ecn, FlowId, Instant};

/// How far the receiver's clock is ahead.
const AHEAD: Duration = Duration::from_secs(77);
/// What has not come this long after its train is lost.
const PATIENCE: Duration = Duration::from_secs(1);
/// Until the other end's word is here.
const WORD: Duration = Duration::from_millis(20);
const CHANNEL: u8 = 5;
const RECORDING: &str = include_str!("../../../../labs/traces/web-page.packets");

pub(crate) struct Manager {
    near: Peer,
    far: Peer,
    path: Pipeline<Vec<u8>>,
    wake: Option<Instant>,
    arriving: VecDeque<Packet<Vec<u8>>>,
    application: Application,
    now: Instant,
    finished: Option<Finished>,
    /// Probes that have arrived since a train began, by the numbers of their packets.
    arrived: BTreeMap<u64, transaction::Arrival>,
    delivered: u64,
}

fn tag(_: &[u8], _: &[u8]) -> [u8; 8] {
    [0; 8]
}

impl Manager {
    /// Over a link of `mbps` of which others take `load`, evenly and in packets of recorded sizes, 20 ms each way.
    pub(crate) fn new(mbps: f64, load: f64, bps: f64, pace: Pace, seed: u64) -> Self {
        let config = |session| Config::new(Carrier::UdpV4, session, [10, 0, 0, 1].into());
        Self {
            near: Peer::new(config(7)),
            far: Peer::new(config(7)),
            path: path(mbps, load, seed),
            wake: None,
            arriving: VecDeque::new(),
            application: Application::new(bps, mbps * 1e6, pace, seed),
            now: Instant::ZERO,
            finished: None,
            arrived: BTreeMap::new(),
            delivered: 0,
        }
    }

    pub(crate) fn now(&self) -> Instant {
        self.now
    }

    /// Carries a train, not before this moment, and tells what came of it.
    pub(crate) fn carry(&mut self, train: &Train, not_before: Instant) -> Passage {
        self.advance(self.now.max(not_before), |_| false);
        self.arrived.clear();
        let request = request(train);
        self.near.begin(request, Duration::ZERO, self.now).unwrap();
        self.advance(Instant::FAR_FUTURE, |manager| manager.finished.is_some());
        let outcome = self.finished.take().unwrap().outcome;
        let count = outcome.gaps.len();
        self.advance(self.now + PATIENCE, |manager| {
            manager.arrived.len() >= count
        });
        self.advance(self.now + WORD, |_| false);
        let octets = match train.extent {
            Extent::Whole => train.octets(),
            _ => outcome.sent.iter().map(|sent| u64::from(sent.octets)).sum(),
        };
        Passage {
            sent: u32::try_from(count).unwrap(),
            octets,
            lasted: outcome.transmission,
            arrivals: self.arrivals(&outcome),
            riders: Riders {
                packets: outcome.riders.probes,
                octets: outcome.riders.octets,
                competing_octets: outcome.competing.octets,
                beside_octets: outcome.beside,
                offered: Some(Offered {
                    octets: outcome.offered.octets,
                    at_ns: outcome.offered.at.as_nanos(),
                }),
            },
        }
    }

    /// Lets everything arrive.
    pub(crate) fn settle(&mut self) {
        let end = self.now + PATIENCE;
        self.application.stop();
        self.advance(end, |_| false);
    }

    /// Octets that left beyond what the application's packets would have taken by themselves.
    pub(crate) fn added(&self) -> u64 {
        let counters = self.near.counters();
        let alone = (u64::from(PACKET) + 60) * counters.offered_packets;
        counters.sent_octets - alone
    }

    pub(crate) fn padding(&self) -> u64 {
        self.near.counters().padding_octets
    }

    /// Packets of the application that did not arrive.
    pub(crate) fn lost(&self) -> u64 {
        self.application.packets - self.delivered
    }

    fn arrivals(&self, outcome: &transaction::Outcome) -> Vec<Arrival> {
        let number = |arrival: &transaction::Arrival| {
            let header = arrival.header.as_slice();
            header.try_into().map(u32::from_be_bytes).unwrap()
        };
        let place = |arrival: &transaction::Arrival| match outcome.sent.as_slice() {
            [] => number(arrival),
            sent => {
                let place = sent
                    .iter()
                    .position(|sent| sent.sequence == arrival.sequence);
                u32::try_from(place.unwrap()).unwrap()
            }
        };
        let arrived = self.arrived.values().map(|arrival| Arrival {
            number: place(arrival),
            sent_ns: arrival.sent_ns,
            arrived_ns: arrival.arrived_ns,
            back: None,
        });
        arrived.collect()
    }

    /// Plays what happens until `to`, or until it `is_enough`.
    fn advance(&mut self, to: Instant, is_enough: impl Fn(&Self) -> bool) {
        loop {
            self.act();
            if is_enough(self) {
                return;
            }
            let timeouts = [self.near.next_timeout(), self.wake];
            let next = timeouts.into_iter().flatten().min();
            let next = next.unwrap_or(Instant::FAR_FUTURE);
            let next = next.min(self.application.next_timeout());
            if next > to {
                break;
            }
            self.now = self.now.max(next);
        }
        self.now = self.now.max(to);
    }

    /// All that happens now.
    fn act(&mut self) {
        while let Some(wake) = self.wake.filter(|wake| *wake <= self.now) {
            self.wake = self.path.process(None, wake, &mut self.arriving);
        }
        while let Some(packet) = self.arriving.pop_front() {
            self.arrive(&packet);
        }
        while self.application.next_timeout() <= self.now {
            if let Some(packet) = self.application.poll(self.now) {
                self.near.offer(packet, true, self.now).unwrap();
            }
        }
        while let Some(transmit) = self.near.poll_transmit(self.now) {
            let (sequence, is_probe) = (transmit.sequence, transmit.is_probe);
            let datagram = transmit.seal(self.now.as_nanos(), tag);
            if is_probe {
                self.near.sent(sequence, self.now);
            }
            let packet = packet(datagram, self.now);
            self.wake = self
                .path
                .process(Some(packet), self.now, &mut self.arriving);
        }
        self.finished = self.finished.take().or_else(|| self.near.poll_finished());
    }

    fn arrive(&mut self, packet: &Packet<Vec<u8>>) {
        let arrived = (packet.at + AHEAD).as_nanos();
        let received = self.far.handle(&packet.body, arrived, packet.at, tag);
        let received = received.unwrap();
        self.delivered += u64::from(received.packet.is_some());
        let arrival = received.arrival.into_iter();
        self.arrived
            .extend(arrival.map(|arrival| (arrival.sequence, arrival)));
    }
}

/// As a tool asks for it.
fn request(train: &Train) -> Request {
    let most = u32::try_from(train.probes.len()).unwrap();
    let probe = train.probes.last().unwrap();
    let (least, octets, spacing) = match train.extent {
        Extent::Whole => return listed(train).into(),
        Extent::AtLeast(least) => {
            let octets = u16::try_from(probe.octets).unwrap();
            (least, Some(octets), Spacing::Fixed(probe.gap))
        }
        Extent::Packets(gap) => (0, None, Spacing::UpTo(gap)),
    };
    let ranges = Ranges {
        channel: CHANNEL,
        count: [least, most],
        octets,
        spacing,
        patience: PATIENCE,
    };
    ranges.into()
}

fn listed(train: &Train) -> Transaction {
    let probes = (0_u32..).zip(&train.probes).map(|(number, probe)| Probe {
        header: number.to_be_bytes().to_vec(),
        octets: u16::try_from(probe.octets).unwrap(),
        gap: probe.gap,
        may_carry: probe.may_carry,
    });
    Transaction {
        channel: CHANNEL,
        probes: probes.collect(),
    }
}

fn packet(datagram: Vec<u8>, at: Instant) -> Packet<Vec<u8>> {
    Packet {
        size: u32::try_from(datagram.len() + Carrier::UdpV4.outside()).unwrap(),
        flow: FlowId(1),
        family: Family::V4,
        dscp: Dscp::CS0,
        ecn: Ecn::NotEct,
        at,
        body: datagram,
    }
}

fn path(mbps: f64, load: f64, seed: u64) -> Pipeline<Vec<u8>> {
    #[derive(serde::Deserialize)]
    struct Way {
        way: Spec,
    }
    let bits = |mbps: f64| format!("{:.0}bit", mbps * 1e6);
    let (rate, others) = (bits(mbps), bits(mbps * load));
    let cross = if load > 0.0 {
        format!(r#", cross = {{ pace = "even", recording = "web-page", rates = ["{others}"] }}"#)
    } else {
        String::new()
    };
    let text = format!(
        r#"way = [{{ kind = "rate", rate = "{rate}", queue = {{ kind = "fifo", packets = 500 }}{cross} }}, {{ kind = "delay", delay = "20ms" }}]"#
    );
    let way: Way = toml::from_str(&text).unwrap();
    let resolve = |_: &str| Ok(RECORDING.to_owned());
    way.way
        .build(seed, &resolve, &path::Assigned::default())
        .unwrap()
}
