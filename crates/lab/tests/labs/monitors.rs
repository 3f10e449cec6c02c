//! What the counters of a link say of TCP connections.

use crate::dumbbell::{Dumbbell, FAR_PORT};
use crate::world::PATIENCE;
use capture::dissect::{Dissected, Segment, dissect};
use capture::{pcapng, read};
use isobath_lab::{Capture, Link, Log, Options, Signal};
use packet::{connection, flow};
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr};
use std::time::Duration;
use sys::clock;
use units::Instant;

const ROUND_TRIP: Duration = Duration::from_millis(40);
const NEAR_PORT: u16 = 4_000;
const KEPT: u16 = 80;
const FIN: u8 = 0x01;
const SYN: u8 = 0x02;
const ACK: u8 = 0x10;

/// All that a link has logged once `is_done`.
fn logged(link: &Link, is_done: impl Fn(&Log) -> bool) -> Log {
    let (mut all, end) = (Log::default(), clock::now() + PATIENCE);
    loop {
        let mut log = link.take_log();
        all.bins.append(&mut log.bins);
        all.arrivals.append(&mut log.arrivals);
        all.signals.append(&mut log.signals);
        // Every packet that is looked for leaves before anybody looks.
        if all.capture.is_empty() {
            all.capture = log.capture;
        }
        (all.totals, all.quality) = (log.totals, log.quality);
        if is_done(&all) {
            return all;
        }
        assert!(clock::now() < end, "{all:?}");
        clock::sleep_until(clock::now() + Duration::from_millis(10));
    }
}

/// 20,000 octets there and 50,000 back, on one connection that both sides close; the logs of both directions.
fn exchange(lab: &Dumbbell, v6: bool) -> [Log; 2] {
    let listener = lab.listener(v6);
    let (mut near, _) = lab.connect(v6, NEAR_PORT, ROUND_TRIP);
    let (mut far, _) = listener.accept().unwrap();
    near.write_all(&vec![1; 20_000]).unwrap();
    near.shutdown(Shutdown::Write).unwrap();
    let mut read = Vec::new();
    far.read_to_end(&mut read).unwrap();
    far.write_all(&vec![2; 50_000]).unwrap();
    drop(far);
    near.read_to_end(&mut read).unwrap();
    assert_eq!(read.len(), 70_000);
    // The last packet of all acknowledges the far end's FIN, after a tick of the counters at most.
    clock::sleep_until(clock::now() + ROUND_TRIP);
    let [up, down] = lab.network.links() else {
        panic!("one link has two directions")
    };
    let is_over = |log: &Log| log.totals.queued.packets == 0 && log.signals.iter().any(Signal::fin);
    [up, down].map(|link| logged(link, is_over))
}

fn all() -> Options {
    Options {
        arrivals: true,
        signals: true,
        capture: Some(KEPT),
        ..Options::default()
    }
}

fn ends(lab: &Dumbbell, v6: bool) -> [SocketAddr; 2] {
    let near = lab.address("left", v6, NEAR_PORT);
    [near, lab.address("right", v6, FAR_PORT)]
}

/// Holds tmix/signals.
#[test]
fn every_connection_is_seen_to_begin_and_end() {
    for v6 in [false, true] {
        let lab = Dumbbell::with(all());
        let logs = exchange(&lab, v6);
        let [near, far] = ends(&lab, v6);
        for (log, (from, to)) in logs.iter().zip([(near, far), (far, near)]) {
            for signal in &log.signals {
                assert_eq!(signal.flow, flow(from, to));
                assert_eq!(signal.connection, connection(near, far));
                assert!(!signal.rst());
            }
            assert!(log.signals.is_sorted_by_key(|signal| signal.at));
        }
        // Segments that a busy machine sends twice are there twice.
        let first = |log: &Log, is: fn(&Signal) -> bool| {
            let found = log.signals.iter().find(|signal| is(signal)).copied();
            found.unwrap_or_else(|| panic!("{:?}", log.signals))
        };
        let [up, down] = &logs;
        let (syn, fin) = (first(up, Signal::syn), first(up, Signal::fin));
        let (syn_back, fin_back) = (first(down, Signal::syn), first(down, Signal::fin));
        assert_eq!(
            (syn.flags() & (SYN | ACK), syn_back.flags() & (SYN | ACK)),
            (SYN, SYN | ACK)
        );
        assert_eq!(fin.flags() & FIN, FIN);
        assert!(syn_back.at.since(syn.at) >= ROUND_TRIP / 2);
        assert!(fin.at.since(syn.at) >= ROUND_TRIP && fin_back.at > fin.at);
    }
}

/// Holds tmix/counters.
#[test]
fn arrivals_at_the_queue_are_the_departures_before_they_waited() {
    let lab = Dumbbell::with(all());
    let packets = |log: &Log| {
        let arrivals = log.arrivals.iter().map(|bin| u64::from(bin.packets));
        let bins = log.bins.iter().map(|bin| u64::from(bin.packets));
        [arrivals.sum::<u64>(), bins.sum()]
    };
    let bytes = |log: &Log| {
        log.arrivals
            .iter()
            .map(|bin| u64::from(bin.bytes))
            .sum::<u64>()
    };
    for log in exchange(&lab, false) {
        // Nothing is lost here, so all that came has left.
        let left = log.totals.left;
        assert_eq!(
            (packets(&log), bytes(&log)),
            ([left.packets; 2], left.bytes)
        );
        assert!(log.arrivals.is_sorted_by_key(|bin| bin.at));
        // Each is the beginning of a bin of 100 us, and hardly all of them that of a millisecond.
        let begins = || {
            let bins = log.arrivals.iter().chain(&log.bins);
            bins.map(|bin| bin.at.as_nanos())
        };
        assert!(begins().all(|at| at % 100_000 == 0) && begins().any(|at| at % 1_000_000 > 0));
        assert!(log.arrivals[0].at <= log.bins[0].at);
        assert_eq!((log.quality.unlogged, log.quality.uncaptured), (0, 0));
    }
}

/// `capture` as a file.
fn file(capture: &Capture) -> Vec<u8> {
    let mut file = pcapng::Writer::new(Vec::new(), &pcapng::Section::default()).unwrap();
    let interface = pcapng::Interface {
        name: "left-right",
        snaplen: KEPT.into(),
        ..pcapng::Interface::default()
    };
    let interface = file.interface(&interface).unwrap();
    for packet in capture.iter() {
        let packet = pcapng::Packet {
            wall_ns: packet.at.as_nanos(),
            octets: packet.octets,
            original_len: packet.length as usize,
            direction: None,
        };
        file.packet(interface, &packet).unwrap();
    }
    file.finish().unwrap()
}

/// The segments of a capture file.
fn segments(file: &[u8]) -> Vec<Segment> {
    let mut reader = read::Reader::new(file).unwrap();
    let mut segments = Vec::new();
    while let Some(packet) = reader.packet().unwrap() {
        assert!(packet.octets.len() <= usize::from(KEPT));
        match dissect(&packet) {
            Dissected::Tcp(segment) => segments.push(segment),
            other => panic!("{other:?}"),
        }
    }
    segments
}

#[test]
fn a_capture_has_every_packet_with_its_time_and_length() {
    for v6 in [false, true] {
        let lab = Dumbbell::with(all());
        let logs = exchange(&lab, v6);
        for (log, octets) in logs.iter().zip([20_000, 50_000]) {
            let segments = segments(&file(&log.capture));
            assert_eq!(segments.len() as u64, log.totals.left.packets);
            let bytes: u64 = segments
                .iter()
                .map(|segment| u64::from(segment.packet_len))
                .sum();
            assert_eq!(bytes, log.totals.left.bytes);
            assert!(segments.is_sorted_by_key(|segment| segment.at_ns));
            // Every octet is there, once or more often.
            let payload: u32 = segments.iter().map(|segment| segment.payload).sum();
            assert!(payload >= octets, "{payload}");
            let first = log.signals[0].at;
            assert_eq!(Instant::from_nanos(segments[0].at_ns), first);
        }
    }
}

#[test]
fn nothing_is_logged_that_nobody_asked_for() {
    let lab = Dumbbell::up();
    let listener = lab.listener(false);
    let (near, _) = lab.connect(false, NEAR_PORT, Duration::ZERO);
    drop((near, listener.accept().unwrap()));
    for link in lab.network.links() {
        let log = logged(link, |log| log.totals.left.packets >= 2);
        assert!(log.signals.is_empty() && log.arrivals.is_empty() && log.capture.is_empty());
        assert!(!log.bins.is_empty());
    }
}
