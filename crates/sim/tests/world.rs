//! The event loop: order, routes and counters.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use isobath_sim::{Addressed, Builder, LinkId, Node, NodeId, Parcel, World};
use path::{Assigned, ConnectionDelay, Delay, Element, Family, Fifo, Fixed, Limit, Link, Pipeline};
use std::time::Duration;
use units::{Dscp, Ecn, FlowId, Instant};

/// Sends `burst` numbered packets at each of its times, and notes what happens to it.
#[derive(Default)]
struct Talker {
    here: u32,
    to: u32,
    burst: u64,
    times: Vec<u64>,
    waiting: u64,
    sent: u64,
    /// Milliseconds, and what: the number of a packet that came, `None` a timer.
    seen: Vec<(u64, Option<u64>)>,
    /// Numbers of packets that were said to come.
    foreseen: Vec<u64>,
}

impl Node for Talker {
    type Payload = u64;
    const FORESEES: bool = true;

    fn foresee(&mut self, packet: &Parcel<u64>) {
        let number = packet.body.payload;
        let is_here = |seen: &(u64, Option<u64>)| seen.1 == Some(number);
        assert!(!self.seen.iter().any(is_here), "{number} is here already");
        self.foreseen.push(number);
    }

    fn handle_packet(&mut self, packet: Parcel<u64>, now: Instant) {
        assert_eq!(packet.at, now);
        let ms = now.as_nanos() / 1_000_000;
        self.seen.push((ms, Some(packet.body.payload)));
    }

    fn handle_timeout(&mut self, now: Instant) {
        let ms = now.as_nanos() / 1_000_000;
        assert_eq!(self.times.remove(0), ms);
        self.waiting += self.burst;
        self.seen.push((ms, None));
    }

    fn poll_transmit(&mut self, at: Instant) -> Option<Parcel<u64>> {
        self.waiting = self.waiting.checked_sub(1)?;
        self.sent += 1;
        Some(Parcel {
            size: 1_250,
            flow: FlowId(u64::from(self.here)),
            family: Family::V4,
            dscp: Dscp::CS0,
            ecn: Ecn::NotEct,
            at,
            body: Addressed {
                from: NodeId(self.here),
                to: NodeId(self.to),
                payload: self.sent,
            },
        })
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.times.first().copied().map(Instant::from_millis)
    }
}

fn delay(ms: u64) -> Pipeline<Addressed<u64>> {
    let delay = Delay::new(Fixed::new(Duration::from_millis(ms)));
    Pipeline::new(vec![("delay".to_owned(), Box::new(delay))])
}

/// A packet of 1,250 octets lasts a millisecond.
fn ten_megabits() -> Pipeline<Addressed<u64>> {
    let service = path::ConstantRate::new("10Mbit".parse().unwrap());
    let queue = Box::new(Fifo::new(Limit::packets(3)));
    Pipeline::new(vec![(
        "link".to_owned(),
        Box::new(Link::new(service, queue)),
    )])
}

fn talker(here: u32, to: u32, burst: u64, times: &[u64]) -> Talker {
    let times = times.to_vec();
    Talker {
        here,
        to,
        burst,
        times,
        ..Talker::default()
    }
}

fn seen(world: &World<Talker>, node: u32) -> &[(u64, Option<u64>)] {
    &world.node(NodeId(node)).unwrap().seen
}

#[test]
fn packets_cross_routers_and_what_a_queue_has_no_room_for_is_counted() {
    // 0 - 1 - 2 - 3, with hosts at the ends.
    let mut builder = Builder::default();
    builder.host(NodeId(0), talker(0, 3, 5, &[10]));
    builder.host(NodeId(3), talker(3, 0, 0, &[]));
    builder.link(NodeId(0), NodeId(1), delay(0));
    let narrow = builder.link(NodeId(1), NodeId(2), ten_megabits());
    builder.link(NodeId(2), NodeId(3), delay(7));
    let mut world = builder.build();
    world.run_until(Instant::from_millis(1_000));
    assert_eq!(world.now(), Instant::from_millis(1_000));
    assert_eq!(world.next_deadline(), None);
    // One in transmission and three in the queue; the fifth is dropped.
    let expected: Vec<_> = (1..=4).map(|number| (17 + number, Some(number))).collect();
    assert_eq!(seen(&world, 3), expected);
    let work = world.work();
    assert_eq!((work.departures, work.unroutable), (5, 0));
    // At node 1 five, at nodes 2 and 3 four each.
    assert_eq!((work.arrivals, work.events()), (13, 18));
    let counters = world.link(narrow).unwrap().counters();
    assert!(counters.is_balanced());
    assert_eq!(counters.overflow.packets, 1);
}

/// Of two connections one has the longer way, so that packets overtake each other and turn on a wheel.
#[test]
fn packets_on_the_wheel_are_foreseen_once() {
    let mut builder = Builder::default();
    let times: Vec<u64> = (1..200).collect();
    builder.host(NodeId(0), talker(0, 2, 1, &times));
    let sent = 1_000;
    builder.host(
        NodeId(1),
        Talker {
            sent,
            ..talker(1, 2, 1, &times)
        },
    );
    builder.host(NodeId(2), talker(2, 0, 0, &[]));
    let table = Assigned::settled([20_000, 3_100].map(Duration::from_micros));
    let own = Delay::new(ConnectionDelay::new(table));
    builder.link(
        NodeId(0),
        NodeId(2),
        Pipeline::new(vec![("own".to_owned(), Box::new(own))]),
    );
    builder.link(NodeId(1), NodeId(0), delay(0));
    let mut world = builder.build();
    world.run_until(Instant::from_millis(1_000));
    let talker = world.node(NodeId(2)).unwrap();
    let mut came: Vec<u64> = talker.seen.iter().filter_map(|seen| seen.1).collect();
    came.sort_unstable();
    assert_eq!(came.len(), 2 * 199);
    // Those of the shorter way, whose numbers begin at 1,001; the others stand in a row. Of the first 17, which arrive before
    // any of the longer way, nobody is told: one looks ahead when packets leave the link.
    assert_eq!(came.split_off(199 + 17), talker.foreseen);
}

#[test]
fn a_packet_that_arrives_when_a_timer_runs_out_arrives_before() {
    let mut builder = Builder::default();
    builder.host(NodeId(0), talker(0, 1, 1, &[2]));
    builder.host(NodeId(1), talker(1, 0, 0, &[5]));
    builder.link(NodeId(0), NodeId(1), delay(3));
    let mut world = builder.build();
    world.run_until(Instant::from_millis(9));
    assert_eq!(seen(&world, 1), [(5, Some(1)), (5, None)]);
}

#[test]
fn what_cannot_be_delivered_is_counted() {
    let mut builder = Builder::default();
    builder.host(NodeId(0), talker(0, 4, 2, &[0]));
    builder.host(NodeId(4), talker(4, 0, 1, &[0]));
    builder.link(NodeId(0), NodeId(1), delay(3));
    let mut world = builder.build();
    world.run_until(Instant::from_millis(9));
    // Two end at node 1, from which no link leads; the one from node 4 has no link at all.
    assert_eq!(world.work().unroutable, 3);
    assert_eq!(seen(&world, 4), [(0, None)]);
    assert!(world.link(LinkId(1)).is_none() && world.node(NodeId(1)).is_none());
}

#[test]
fn running_in_steps_is_running_at_once() {
    let build = || {
        let mut builder = Builder::default();
        builder.host(NodeId(0), talker(0, 1, 4, &[1, 2, 3, 30]));
        builder.host(NodeId(1), talker(1, 0, 2, &[2, 4]));
        builder.link(NodeId(0), NodeId(1), ten_megabits());
        builder.link(NodeId(1), NodeId(0), ten_megabits());
        builder.build()
    };
    let (mut steps, mut once) = (build(), build());
    once.run_until(Instant::from_millis(100));
    for us in (0..=100_000).step_by(70) {
        steps.run_until(Instant::from_nanos(us * 1_000));
    }
    for node in 0..2 {
        assert_eq!(seen(&steps, node), seen(&once, node));
    }
    assert_eq!(steps.work(), once.work());
}
