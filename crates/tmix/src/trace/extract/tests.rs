//! One capture, found by any number of workers.

use super::*;
use capture::pcapng;
use capture::read::Reader;
use std::io::Cursor;
use vectors::Transport;

/// An address and a port.
pub(super) type End = ([u8; 4], u16);

/// An IPv4 packet from one end to another, headers alone.
fn packet(protocol: u8, ends: [End; 2], payload: u16, more: &[u8]) -> Vec<u8> {
    let header = if protocol == 17 { 28 } else { 40 };
    let mut octets = vec![0x45, 0];
    octets.extend((header + payload).to_be_bytes());
    octets.extend([0, 0, 0x40, 0, 64, protocol, 0, 0]);
    for (address, _) in ends {
        octets.extend(address);
    }
    for (_, port) in ends {
        octets.extend(port.to_be_bytes());
    }
    octets.extend(more);
    octets
}

/// A segment with these numbers, flags and payload.
pub(super) fn segment(ends: [End; 2], numbers: [u32; 2], flags: u8, payload: u16) -> Vec<u8> {
    let mut more: Vec<u8> = numbers
        .iter()
        .flat_map(|number| number.to_be_bytes())
        .collect();
    more.extend([0x50, flags, 0xfa, 0xf0, 0, 0, 0, 0]);
    packet(6, ends, payload, &more)
}

/// 2,000 connections of a request and a response, every third of which is not closed, and as many questions and answers by
/// UDP; 7 ms apart, each over 300 ms, so that about 40 are open at once.
fn capture() -> Vec<u8> {
    let server = ([10, 2, 0, 1], 443);
    let mut all = Vec::new();
    for number in 0..2_000_u16 {
        let client = ([10, 0, (number % 7).to_be_bytes()[1], 1], 20_000 + number);
        let (up, down) = ([client, server], [server, client]);
        let at = u64::from(number) * 7;
        let size = 100 + number % 900;
        let next = 1 + u32::from(size);
        all.push((at, segment(up, [0, 0], 2, 0)));
        all.push((at + 20, segment(down, [0, 1], 18, 0)));
        all.push((at + 30, segment(up, [1, 1], 16, size)));
        all.push((at + 90, segment(down, [1, next], 16, 1_000)));
        if number % 3 > 0 {
            all.push((at + 200, segment(up, [next, 1_001], 17, 0)));
            all.push((at + 220, segment(down, [1_001, next + 1], 17, 0)));
            all.push((at + 300, segment(up, [next + 1, 1_002], 16, 0)));
        }
        let question = [(client.0, 10_000 + number), ([10, 2, 0, 2], 53)];
        let answer = [question[1], question[0]];
        all.push((at + 3, packet(17, question, 40, &[0, 48, 0, 0])));
        all.push((at + 25, packet(17, answer, 90, &[0, 98, 0, 0])));
    }
    all.sort_by_key(|(at_ms, _)| *at_ms);
    capture_of(&all)
}

/// Packets, each with its time in ms, in a file.
pub(super) fn capture_of(packets: &[(u64, Vec<u8>)]) -> Vec<u8> {
    let mut file = pcapng::Writer::new(Vec::new(), &pcapng::Section::default()).unwrap();
    let interface = file.interface(&pcapng::Interface::default()).unwrap();
    for (at_ms, octets) in packets {
        let length = usize::from(u16::from_be_bytes([octets[2], octets[3]]));
        let packet = pcapng::Packet {
            wall_ns: 1_700_000_000_000_000_000 + at_ms * 1_000_000,
            octets,
            original_len: length,
            direction: None,
        };
        file.packet(interface, &packet).unwrap();
    }
    file.finish().unwrap()
}

pub(super) fn extract(octets: &[u8], workers: usize, options: Options) -> (Vec<Extracted>, Found) {
    let input: Box<dyn std::io::Read + Send> = Box::new(Cursor::new(octets.to_vec()));
    let captures = Captures {
        captures: vec![("capture".to_owned(), Reader::new(input).unwrap())],
        dissector: Dissector::default(),
    };
    let mut all = Vec::new();
    let sink = |extracted| {
        all.push(extracted);
        Ok(())
    };
    let found = captures.extract_with(workers, options, sink).unwrap();
    (all, found)
}

#[test]
fn the_number_of_workers_changes_nothing() {
    let octets = capture();
    for most_open in [Options::default().most_open, 32] {
        let options = Options {
            most_open,
            ..Options::default()
        };
        let (one, found) = extract(&octets, 1, options);
        for workers in [2, 3, 7, SHARES] {
            let (other, again) = extract(&octets, workers, options);
            assert!(one == other, "{workers} workers");
            assert_eq!(found.counters, again.counters);
            assert_eq!(found.most_open, again.most_open);
        }
        let counters = &found.counters;
        assert_eq!(
            counters.all.packets + counters.udp.all.packets,
            found.packets
        );
        if most_open > 32 {
            assert_eq!(counters.sequential.connections, 2_000);
            assert_eq!(counters.udp.exchange.connections, 2_000);
        } else {
            assert!(counters.refused.packets > 0);
        }
    }
}

#[test]
fn what_closed_comes_in_the_order_of_closing() {
    let (all, _) = extract(&capture(), 2, Options::default());
    let closed = all.iter().filter(|one| one.seen.complete);
    let ends: Vec<_> = closed.map(last_packet).collect();
    assert_eq!(ends.len(), 1_333);
    assert!(ends.is_sorted());
    let udp = all
        .iter()
        .filter(|one| one.vector.transport == Transport::Udp);
    assert_eq!(udp.count(), 2_000);
}

#[test]
fn a_sink_that_fails_ends_everything() {
    let octets = capture();
    let input: Box<dyn std::io::Read + Send> = Box::new(Cursor::new(octets));
    let captures = Captures {
        captures: vec![("capture".to_owned(), Reader::new(input).unwrap())],
        dissector: Dissector::default(),
    };
    let sink = |_| anyhow::bail!("no room");
    let error = captures.extract_with(3, Options::default(), sink);
    assert_eq!(error.unwrap_err().to_string(), "no room");
}
