//! The near end of a run: carries trains to the far end or from it, one after the other, and tells what came of each.

use super::messages::{self, Arrived, Extent, Far, Near as Say, Order, Sent};
use super::plan::Plan;
use super::receiving::{Arrivals, of_train};
use super::sending::Sender;
use super::traffic::Traffic;
use super::{ECHO, terms};
use kit::control::{ANSWER, Broken};
use kit::datagrams::{Link, Quality, Terms, expand};
use kit::trains::patience;
use kit::{control, hello, path_mtu};
use probe::riders::Riders;
use probe::train::{Arrival, Back, Passage, Train};
use schema::Direction;
use session::wire::{Kind, Probe};
use session::{Client, ClockOffset};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use sys::udp::{RecvBatch, UdpSocket};
use sys::{Error, clock};
use units::Instant;

/// How long is waited before an interrupt is looked for.
const LOOK: Duration = Duration::from_millis(5);

/// A carrier between two hosts.
pub(crate) struct Carrier<'a> {
    pub client: &'a mut Client,
    direction: Direction,
    interrupt: &'a AtomicBool,
    link: Link,
    echoes: Link,
    sender: Sender,
    arrivals: Arrivals,
    /// Octets of the longest packet that the path was seen to take.
    pub path_mtu: Option<u32>,
    /// Number of the next probe.
    next: u64,
    origin: Instant,
    clock: ClockOffset,
    pub traffic: Traffic,
}

impl<'a> Carrier<'a> {
    /// Opens sockets at both ends, after the far end was told of the run.
    ///
    /// # Errors
    /// When the far end refuses, or no datagram reaches it.
    pub(crate) fn open(
        client: &'a mut Client,
        plan: &Plan,
        interrupt: &'a AtomicBool,
        (origin, clock): (Instant, ClockOffset),
    ) -> Result<Self, Broken> {
        let v6 = client.peer.ip().to_canonical().is_ipv6();
        let keys = client.dialer.keys();
        let keys = (keys.to_server, keys.to_client);
        let terms = terms(client.dialer.session(), keys, plan, v6);
        let socket = hello::connected(client)?;
        greet(client, &socket, terms.stream)?;
        let path_mtu = path_mtu::find(client, &|| interrupt.load(Ordering::Relaxed))?;
        let echo = Terms {
            stream: ECHO,
            kind: Kind::Request,
            ..terms
        };
        Ok(Self {
            direction: plan.direction,
            interrupt,
            echoes: Link::new(hello::connected(client)?, echo)?,
            link: Link::new(socket, terms)?,
            client,
            sender: Sender::new(v6)?,
            arrivals: Arrivals::default(),
            path_mtu,
            next: 0,
            origin,
            clock,
            traffic: Traffic::default(),
        })
    }

    /// Carries a train, not before this moment.
    ///
    /// # Errors
    /// When the far end is gone, or the run is interrupted.
    pub(crate) fn carry(&mut self, train: &Train, not_before: Instant) -> Result<Passage, Broken> {
        messages::check(train).map_err(Broken::Far)?;
        self.wait_until(not_before)?;
        let extent = Extent {
            first: self.next,
            count: u32::try_from(train.probes.len()).unwrap_or(u32::MAX),
        };
        self.next = self.next.saturating_add(u64::from(extent.count));
        let (sent, arrivals) = match (train.echo, self.direction) {
            (true, _) => self.there_and_back(train, extent)?,
            (false, Direction::Up) => self.up(train, extent)?,
            (false, Direction::Down) => self.down(train, extent)?,
        };
        let passage = Passage {
            sent: sent.count.min(extent.count),
            octets: train.octets(),
            lasted: Duration::from_nanos(sent.lasted_ns),
            arrivals,
            riders: Riders::default(),
        };
        self.enter(train, &passage, sent);
        Ok(passage)
    }

    fn up(&mut self, train: &Train, extent: Extent) -> Result<(Sent, Vec<Arrival>), Broken> {
        let sent = self.sender.send(&mut self.link, extent.first, train)?;
        control::say(self.client, &Say::Collect(extent))?;
        let mut arrived: Vec<Arrived> = Vec::new();
        loop {
            match control::hear(self.client)? {
                Far::Arrivals(more) if arrived.len() + more.len() <= train.probes.len() => {
                    arrived.extend(more);
                }
                Far::Collected => break,
                Far::Refused(reason) => return Err(Broken::refused(&reason)),
                _ => return Err(Broken::out_of_turn()),
            }
        }
        Ok((sent, of_train(&arrived, extent)))
    }

    fn down(&mut self, train: &Train, extent: Extent) -> Result<(Sent, Vec<Arrival>), Broken> {
        let parts = messages::parts(train);
        let first = extent.first;
        control::say(self.client, &Say::Send(Order { first, parts }))?;
        let deadline = clock::now() + train.duration() + ANSWER;
        let sent = loop {
            match self.client.control.recv(LOOK) {
                Ok(Far::Sent(sent)) => break sent,
                Ok(Far::Refused(reason)) => return Err(Broken::refused(&reason)),
                Err(session::Error::Timeout { .. }) if clock::now() < deadline => {}
                Ok(_) => return Err(Broken::out_of_turn()),
                Err(error) => return Err(error.into()),
            }
            self.arrivals.take(&mut self.link)?;
        };
        let abort = || self.interrupt.load(Ordering::Relaxed);
        let arrived = self.arrivals.collect(&mut self.link, extent, &abort)?;
        Ok((sent, of_train(&arrived, extent)))
    }

    /// The far end's responder sends each probe back as it comes.
    fn there_and_back(
        &mut self,
        train: &Train,
        extent: Extent,
    ) -> Result<(Sent, Vec<Arrival>), Broken> {
        self.is_there()?;
        let sent = self.sender.send(&mut self.echoes, extent.first, train)?;
        let mut back = BTreeMap::new();
        let mut latest = clock::now();
        while back.len() < train.probes.len()
            && clock::now().since(latest) < patience(&back)
            && !self.is_interrupted()
        {
            let any = take_echoes(&mut self.echoes, extent, &mut back)?;
            if any {
                latest = clock::now();
            } else {
                self.echoes.wait(clock::now() + LOOK)?;
            }
        }
        Ok((sent, back.into_values().collect()))
    }

    /// Whether the far end still is: it says nothing while it sends probes back.
    fn is_there(&mut self) -> Result<(), Broken> {
        match self.client.control.recv::<Far>(Duration::from_millis(1)) {
            Err(session::Error::Timeout { .. }) => Ok(()),
            Ok(_) => Err(Broken::out_of_turn()),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) fn wait_until(&self, moment: Instant) -> Result<(), Broken> {
        loop {
            if self.is_interrupted() {
                return Err(Broken::Far("interrupted".to_owned()));
            }
            let left = moment.since(clock::now());
            if left.is_zero() {
                return Ok(());
            }
            clock::sleep_until(clock::now() + left.min(LOOK * 4));
        }
    }

    fn is_interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }

    /// Into the counters.
    fn enter(&mut self, train: &Train, passage: &Passage, sent: Sent) {
        let sends = train.echo || self.is_sender();
        let (clock, origin) = (self.clock, self.origin);
        let ours = |ns: u64, is_senders: bool| {
            let at = Instant::from_nanos(ns);
            let at = if is_senders == sends {
                at
            } else {
                clock.to_ours(at)
            };
            since(origin, at)
        };
        let now = since(origin, clock::now());
        self.traffic.enter(train, passage, sent, now, ours);
    }

    const fn is_sender(&self) -> bool {
        matches!(self.direction, Direction::Up)
    }

    /// How good the instrument was: of each of the sockets, and |actual - planned gap| of what was sent, in nanoseconds.
    pub(crate) fn quality(&self) -> (Vec<Quality>, Option<record::Distribution>) {
        // Echoes are looked at when their train is over: that says nothing of the host.
        let echoes = Quality {
            late_us: None,
            ..self.echoes.quality()
        };
        let sockets = vec![self.link.quality(), echoes];
        (sockets, self.sender.gap_errors())
    }
}

fn since(origin: Instant, at: Instant) -> u64 {
    u64::try_from(at.since(origin).as_nanos()).unwrap_or(u64::MAX)
}

/// Shows the far end where this end's datagrams come from, until it is ready.
fn greet(client: &mut Client, socket: &UdpSocket, stream: u16) -> Result<(), Broken> {
    let dialer = Arc::clone(&client.dialer);
    let hello = || hello::ask(socket, &dialer, stream, Probe::LEN);
    match control::until_answered(client, hello)? {
        Far::Ready => {}
        Far::Refused(reason) => return Err(Broken::refused(&reason)),
        _ => return Err(Broken::out_of_turn()),
    }
    // Answers to the requests are no probes.
    let mut batch = RecvBatch::new(16, 1);
    while socket.recv(&mut batch)? > 0 {}
    Ok(())
}

/// Takes the echoes that have come; false when there were none.
fn take_echoes(
    link: &mut Link,
    extent: Extent,
    back: &mut BTreeMap<u64, Arrival>,
) -> Result<bool, Error> {
    let mut any = false;
    while link.recv(|probe, _, receipt| {
        let number = expand(probe.sequence, extent.first);
        let place = number.checked_sub(extent.first);
        let place = place.and_then(|place| u32::try_from(place).ok());
        if let Some(place) = place.filter(|place| *place < extent.count)
            && probe.kind == Kind::Reply
        {
            any = true;
            back.entry(number).or_insert(Arrival {
                number: place,
                sent_ns: probe.sent.as_nanos(),
                arrived_ns: probe.received.as_nanos(),
                back: Some(Back {
                    left_ns: probe.replied.as_nanos(),
                    returned_ns: receipt.received.as_nanos(),
                }),
            });
        }
    })? {}
    Ok(any)
}
