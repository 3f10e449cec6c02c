//! Delays assigned by somebody else while packets pass.

use crate::world::packet;
use isobath_path::{Assigned, ConnectionDelay, Delay, Element, Packet};
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::{HashMap, VecDeque};
use std::time::Duration;
use units::{FlowId, Instant};

/// What happens, in order.
#[derive(Clone, Debug)]
enum Event {
    Set(u64, Duration),
    Clear(u64),
    /// So much later a packet of that flow.
    Packet(u64, Duration),
}

fn events(flows: u64) -> impl Strategy<Value = Vec<Event>> {
    let us = |most: u64| (0..most).prop_map(Duration::from_micros);
    let event = prop_oneof![
        2 => (0..flows, us(500_000)).prop_map(|(flow, delay)| Event::Set(flow, delay)),
        1 => (0..flows).prop_map(Event::Clear),
        9 => (0..flows, us(20_000)).prop_map(|(flow, gap)| Event::Packet(flow, gap)),
    ];
    vec(event, 1..400)
}

/// Plays `events`: every packet as it left, and by number when it should have.
fn play(events: Vec<Event>) -> (Vec<Packet<u64>>, Vec<Instant>) {
    let table = Assigned::default();
    let mut delay = Delay::new(ConnectionDelay::new(table.clone()));
    let (mut out, mut at) = (VecDeque::new(), Instant::from_millis(1));
    let (mut delays, mut last) = (HashMap::new(), HashMap::new());
    let mut due = Vec::new();
    for event in events {
        match event {
            Event::Set(flow, delay) => {
                table.set(FlowId(flow), delay);
                delays.insert(flow, delay);
            }
            Event::Clear(flow) => {
                table.clear(FlowId(flow));
                delays.remove(&flow);
            }
            Event::Packet(flow, gap) => {
                at += gap;
                delay.process(Some(packet(due.len() as u64, flow, 100, at)), at, &mut out);
                let own = at + delays.get(&flow).copied().unwrap_or_default();
                let before = last.get(&flow).copied().unwrap_or(Instant::ZERO);
                last.insert(flow, own.max(before));
                due.push(own.max(before));
            }
        }
    }
    delay.process(None, Instant::FAR_FUTURE, &mut out);
    assert_eq!(delay.counters().queued.packets, 0);
    (out.into(), due)
}

proptest! {
    #[test]
    fn each_packet_leaves_after_its_flows_delay_and_none_overtakes_its_own_flow(
        events in prop_oneof![events(3), events(300)],
    ) {
        let (left, due) = play(events);
        prop_assert_eq!(left.len(), due.len());
        prop_assert!(left.is_sorted_by_key(|packet| packet.at));
        let mut last = HashMap::new();
        for packet in &left {
            prop_assert_eq!(packet.at, due[usize::try_from(packet.body).unwrap()]);
            let before = last.insert(packet.flow, packet.body);
            prop_assert!(before.is_none_or(|before| before < packet.body));
        }
    }
}

#[test]
fn a_hundred_thousand_packets_in_flight_leave_in_order() {
    let table = Assigned::default();
    let mut delay = Delay::new(ConnectionDelay::new(table.clone()));
    let mut out = VecDeque::new();
    for flow in 0..100_000 {
        // Scattered over a second: 7,919 has no factor in common with a million.
        table.set(
            FlowId(flow),
            Duration::from_micros(flow * 7_919 % 1_000_000),
        );
        delay.process(
            Some(packet(flow, flow, 40, Instant::ZERO)),
            Instant::ZERO,
            &mut out,
        );
    }
    delay.process(None, Instant::from_millis(1_000), &mut out);
    assert_eq!(out.len(), 100_000);
    for packet in &out {
        let due = Instant::from_nanos(packet.body * 7_919 % 1_000_000 * 1_000);
        assert_eq!(packet.at, due);
    }
    assert!(out.iter().is_sorted_by_key(|packet| packet.at));
}
