//! What a load takes on its connections, counted between client and server, and what `octets` says.
#![expect(clippy::unwrap_used, reason = "test helpers are tests too")]

mod stand;

use isobath_web::octets::{self, PIECE};
use isobath_web::{PageLoad, Target, load};
use stand::{LONG, Stand};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;
use units::HttpVersion;

/// Passes on what comes from one side to the other, and counts it.
fn pass(mut from: TcpStream, mut to: TcpStream, count: Arc<AtomicU64>) {
    thread::spawn(move || {
        let mut buffer = vec![0; 1 << 16];
        while let Ok(octets @ 1..) = from.read(&mut buffer) {
            count.fetch_add(octets as u64, Ordering::Relaxed);
            if to.write_all(&buffer[..octets]).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Write);
    });
}

/// A relay in front of the server; it counts what passes.
fn relay(server: std::net::SocketAddr) -> (std::net::SocketAddr, [Arc<AtomicU64>; 2]) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let counts = [Arc::<AtomicU64>::default(), Arc::<AtomicU64>::default()];
    let [up, down] = counts.clone();
    thread::spawn(move || {
        for near in listener.incoming() {
            let (near, far) = (near.unwrap(), TcpStream::connect(server).unwrap());
            pass(
                near.try_clone().unwrap(),
                far.try_clone().unwrap(),
                Arc::clone(&up),
            );
            pass(far, near, Arc::clone(&down));
        }
    });
    (address, counts)
}

/// What the load should have taken; up, from all requests of a connection in one record to a record for each.
fn expected(load: &PageLoad, port: u16) -> [u64; 3] {
    let protocol = load.protocol;
    let mut by_connection: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for object in &load.objects {
        by_connection
            .entry(object.connection)
            .or_default()
            .push(object);
    }
    let [mut least, mut most, mut down] = [0; 3];
    for objects in by_connection.values() {
        let host = &objects[0].host;
        let opening = octets::hello(host, protocol) + octets::FINISHED;
        let words = octets::preface(protocol) + octets::settings_ack(protocol);
        down += octets::flight(protocol) + octets::settings(protocol);
        let mut asked = 0;
        for (number, object) in objects.iter().enumerate() {
            let authority = format!("{host}:{port}");
            let text = octets::request(protocol, number == 0, &authority, &object.path);
            asked += text;
            most += octets::record(text);
            let mut before = octets::head(protocol, number == 0);
            let mut left = object.bytes;
            while left > 0 {
                let octets = left.min(PIECE);
                down += octets::piece(protocol, before, octets);
                (before, left) = (0, left - octets);
            }
        }
        least += opening + words + octets::record(asked);
        most += opening + words;
    }
    [least, most, down]
}

#[test]
fn a_load_takes_as_many_octets_as_said() {
    let stand = Stand::new();
    let (address, counts) = relay(stand.target.peer);
    let target = Target {
        peer: address,
        ..stand.target
    };
    for page in ["rrul2013", "today"] {
        let (model, published) = stand.publish(page);
        for protocol in [HttpVersion::Http1, HttpVersion::H2] {
            let load = load(&model, &target, protocol, LONG, &AtomicBool::new(false));
            assert_eq!(load.error, None);
            // For what connections that were opened and not used still say.
            thread::sleep(Duration::from_millis(200));
            let [up, down] = counts
                .each_ref()
                .map(|count| count.swap(0, Ordering::Relaxed));
            let expected = expected(&load, address.port());
            println!("{page} {protocol}: {up} up, {down} down beside {expected:?}");
            let [least, most, all] = expected;
            // With HTTP/1.1 a few connections are opened and then not needed.
            let fits = (least * 98 / 100..=most * 106 / 100).contains(&up);
            assert!(fits, "{page} {protocol}: {up} up, not {expected:?}");
            let fits = (all..=all * 101 / 100).contains(&down);
            assert!(fits, "{page} {protocol}: {down} down, not {expected:?}");
        }
        drop(published);
    }
}
