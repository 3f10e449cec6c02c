//! A manager of a host in virtual time.

use super::body::Body;
use super::control::{CONTROL, Control, Line};
use super::pouch::Pouch;
use crate::dumbbell::Riding;
use crate::dumbbell::managers::{FAR, NEAR, configs};
use manager::config::Config;
use manager::machine::{Leaving, Machine, Session, outbox};
use manager::told::{self, next_line};
use manager::way::Way;
use mgrp::envelope::{Carrier, TAG};
use mgrp::message::Message;
use mgrp::peer;
use mgrp::transaction::Arrival;
use path::{Family, Packet};
use session::wire::Probe;
use session::{DEFAULT_PORT, Identity};
use sim::tcp::{Settings, Stack, Tcp, Terms};
use sim::{Addressed, NodeId, Parcel};
use std::cell::RefCell;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::rc::Rc;
use std::sync::mpsc::Receiver;
use std::time::Duration;
use transport::Options;
use units::{Dscp, Ecn, FlowId, Instant};

/// Sessions have numbers; there is one.
const SESSION: u64 = 1;
/// The peer's place in either file.
const PEER: usize = 0;
/// The tool's number.
const TOOL: u64 = 1;
/// The other end is told what came this often, as [`manager`] does it.
const TELL: Duration = Duration::from_millis(10);
/// Octets of the headers of IPv4 and TCP with time stamps.
const TCP_HEADERS: u16 = 52;
/// Flows of datagrams, which no connection has.
const FLOW: FlowId = FlowId(u64::MAX);

/// See the module.
pub struct Overlay {
    pub(super) machine: Machine,
    /// Connections of applications on the overlay's interface.
    pub(super) inside: Stack,
    pub(super) control: Control,
    segment: u16,
    pouch: Rc<RefCell<Pouch>>,
    /// Here and there: in the world, and in the overlay.
    nodes: [NodeId; 2],
    ends: [Ipv4Addr; 2],
    /// Probes of the peer's that it is to be told of.
    told: Receiver<Arrival>,
    /// When, if something has come since it was told last.
    tell_at: Option<Instant>,
}

/// Managers at two nodes, linked, with files as in a lab; the near one first. `options` are those of all connections.
///
/// # Errors
/// When a file could not be one.
pub fn overlays(
    nodes: [NodeId; 2],
    riding: Riding,
    options: &Options,
) -> anyhow::Result<[Overlay; 2]> {
    let identity = Identity::generate()?;
    let nowhere = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let [near, far] = configs(Path::new("/"), riding, nowhere, &identity)?;
    let [here, there] = Control::pair();
    let pouch = Rc::new(RefCell::new(Pouch::default()));
    let [to, from] = [address(FAR), address(NEAR)];
    let near = Overlay::new(&near, nodes, [from, to], here, &pouch, options)?;
    let back = [nodes[1], nodes[0]];
    let far = Overlay::new(&far, back, [to, from], there, &pouch, options)?;
    Ok([near, far])
}

fn address(address: IpAddr) -> Ipv4Addr {
    match address {
        IpAddr::V4(address) => address,
        IpAddr::V6(_) => Ipv4Addr::UNSPECIFIED,
    }
}

impl Overlay {
    fn new(
        config: &Config,
        nodes: [NodeId; 2],
        ends: [Ipv4Addr; 2],
        control: Control,
        pouch: &Rc<RefCell<Pouch>>,
        options: &Options,
    ) -> anyhow::Result<Self> {
        let peer = config.peers.first();
        let peer = peer.ok_or_else(|| anyhow::anyhow!("the file has no peer"))?;
        let (arrivals, told) = told::channel();
        let session = Session {
            config: peer::Config {
                session: SESSION,
                ..config.of_session(peer, Carrier::UdpV4)
            },
            address: (Ipv4Addr::LOCALHOST, DEFAULT_PORT).into(),
            way: Way::Udp(None),
            arrivals,
        };
        let mut machine = Machine::new(config, Instant::ZERO);
        machine.join(PEER, session, Instant::ZERO);
        let mtu = u16::try_from(config.inside_mtu()).unwrap_or(u16::MAX);
        let options = Options {
            mss: options.mss.min(mtu.saturating_sub(TCP_HEADERS)),
            ..options.clone()
        };
        Ok(Self {
            machine,
            control,
            segment: options.mss,
            inside: Stack::new(nodes[0], Settings::new(options)),
            pouch: Rc::clone(pouch),
            nodes,
            ends,
            told,
            tell_at: None,
        })
    }

    /// Octets of a full segment on the overlay's interface.
    pub fn segment(&self) -> u16 {
        self.segment
    }

    /// A tool connects, in place of one that may have been; what it is told.
    pub(super) fn connect(&mut self) -> Receiver<Message> {
        let (outbox, words) = outbox();
        self.machine.gone(TOOL);
        self.machine.come(TOOL, outbox);
        words
    }

    /// The tool says something.
    pub(super) fn say(&mut self, message: Message, now: Instant) {
        let machine = &mut self.machine;
        match message {
            Message::Begin {
                id,
                to,
                transaction,
            } => machine.begin((TOOL, id), to, transaction.into(), Duration::ZERO, now),
            Message::BeginRanges { id, to, ranges } => {
                machine.begin((TOOL, id), to, ranges.into(), Duration::ZERO, now);
            }
            Message::CallOff { id } => machine.call_off(TOOL, id),
            Message::Listen { channel } => machine.listen(TOOL, channel),
            // Only a manager says the others.
            _ => {}
        }
    }

    /// Asks the other end for the control connection.
    pub(super) fn dial(&mut self, outside: &mut Stack, seed: u64, now: Instant) {
        let terms = Terms {
            seed,
            window: None,
            peer_window: None,
        };
        self.control.key = Some(outside.open(self.nodes[1], CONTROL, terms, now));
    }

    /// Packets of connections here go to the interface.
    pub(super) fn offer(&mut self, now: Instant) {
        while let Some(packet) = self.inside.poll_transmit(now) {
            let octets = self.pouch.borrow_mut().put(packet, self.ends);
            self.machine.offer(octets, now);
        }
    }

    /// What leaves now.
    pub(super) fn poll_transmit(&mut self, now: Instant) -> Option<Parcel<Body>> {
        let is_exact = self.machine.keeps_time();
        let leaving = self.machine.poll_transmit(PEER, is_exact, now);
        self.machine.settle(PEER);
        let (body, octets) = match leaving? {
            Leaving::Datagram(transmit) => {
                let (sequence, is_probe) = (transmit.sequence, transmit.is_probe);
                let datagram = transmit.seal(now.as_nanos(), tag);
                if is_probe {
                    self.machine.sent(PEER, sequence, now);
                    self.machine.settle(PEER);
                }
                let octets = datagram.len();
                (Body::Overlay(datagram), octets)
            }
            Leaving::Word(octets) => {
                let outside = Carrier::UdpV4.outside();
                let length = usize::from(octets).saturating_sub(outside);
                (Body::Word(octets), length.max(Probe::LEN))
            }
        };
        let octets = octets + Carrier::UdpV4.outside();
        Some(self.packet(body, u32::try_from(octets).unwrap_or(u32::MAX), now))
    }

    fn packet(&self, payload: Body, size: u32, now: Instant) -> Parcel<Body> {
        let [from, to] = self.nodes;
        Packet {
            size,
            flow: FLOW,
            family: Family::V4,
            dscp: Dscp::CS0,
            ecn: Ecn::NotEct,
            at: now,
            body: Addressed { from, to, payload },
        }
    }

    /// A datagram has come: the packet for a connection here, if one is whole now.
    pub(super) fn receive(&mut self, datagram: &[u8], now: Instant) -> Option<Parcel<Tcp>> {
        let came = self
            .machine
            .receive(PEER, datagram, now.as_nanos(), now, tag);
        self.tell_at.get_or_insert_with(|| after(now));
        let octets = came.ok().flatten()?;
        self.pouch.borrow_mut().take(&octets)
    }

    /// A word of so many octets has come, of which the other end wants to know.
    pub(super) fn answer(&mut self, octets: u16, outside: &mut Stack) {
        let line = format!("{{\"long\":{octets}}}");
        self.control.say(Line::Long(octets), line.len(), outside);
    }

    /// Tells the other end what has come, if it is time.
    pub(super) fn tell(&mut self, outside: &mut Stack, now: Instant) {
        if self.tell_at.is_none_or(|at| at > now) {
            return;
        }
        self.tell_at = None;
        while let Some(line) = next_line(&self.told) {
            let octets = serde_json::to_string(&line).map_or(0, |line| line.len());
            if let told::Line::Told(rows) = line {
                let arrivals = rows.into_iter().map(Arrival::from).collect();
                self.control.say(Line::Told(arrivals), octets, outside);
            }
        }
    }

    /// Takes what the other end says over the control connection.
    pub(super) fn hear(&mut self, outside: &mut Stack, now: Instant) {
        self.control.write(outside);
        for line in self.control.hear(outside) {
            match line {
                Line::Long(octets) => self.machine.learn(PEER, SESSION, octets, now),
                Line::Told(arrivals) => self.machine.told(PEER, &arrivals),
            }
        }
    }

    pub(super) fn next_timeout(&self) -> Option<Instant> {
        let machine = Some(self.machine.next_timeout());
        let all = [machine, self.inside.next_timeout(), self.tell_at];
        all.into_iter().flatten().min()
    }
}

/// When the other end is told of what comes now.
fn after(now: Instant) -> Instant {
    let since = Duration::from_nanos(now.as_nanos());
    let turns = since.as_nanos() / TELL.as_nanos() + 1;
    Instant::ZERO + TELL.saturating_mul(u32::try_from(turns).unwrap_or(u32::MAX))
}

/// Nobody forges anything here.
const fn tag(_: &[u8], _: &[u8]) -> [u8; TAG] {
    [0; TAG]
}
