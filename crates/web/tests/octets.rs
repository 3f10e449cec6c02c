//! What a load takes on its connections, counted between client and server, and what `octets` says.
#![expect(clippy::unwrap_used, reason = "test helpers are tests too")]

mod stand;

use isobath_web::octets::{self, PIECE};
use isobath_web::{PageLoad, Target, load};
use stand::{LONG, Stand};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use units::HttpVersion;

/// A relay in front of a server, which counts what passes.
struct Relay {
    address: SocketAddr,
    up: Arc<AtomicU64>,
    down: Arc<AtomicU64>,
    /// What passes octets on; each ends with its connection.
    passing: Arc<Mutex<Vec<JoinHandle<()>>>>,
}

impl Relay {
    fn new(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let relay = Self {
            address: listener.local_addr().unwrap(),
            up: Arc::default(),
            down: Arc::default(),
            passing: Arc::default(),
        };
        let (up, down) = (Arc::clone(&relay.up), Arc::clone(&relay.down));
        let passing = Arc::clone(&relay.passing);
        thread::spawn(move || {
            for near in listener.incoming() {
                let (near, far) = (near.unwrap(), TcpStream::connect(server).unwrap());
                let [towards, back] = [near.try_clone().unwrap(), far.try_clone().unwrap()];
                passing.lock().unwrap().extend([
                    pass(towards, far, Arc::clone(&up)),
                    pass(back, near, Arc::clone(&down)),
                ]);
            }
        });
        relay
    }

    /// Octets up and down since the last call, once all connections have ended.
    fn take(&self) -> [u64; 2] {
        while let Some(passing) = { self.passing.lock().unwrap().pop() } {
            passing.join().unwrap();
        }
        [&self.up, &self.down].map(|count| count.swap(0, Ordering::Relaxed))
    }
}

/// Passes on what comes from one side to the other, and counts it.
fn pass(mut from: TcpStream, mut to: TcpStream, count: Arc<AtomicU64>) -> JoinHandle<()> {
    thread::spawn(move || {
        let mut buffer = vec![0; 1 << 16];
        while let Ok(octets @ 1..) = from.read(&mut buffer) {
            count.fetch_add(octets as u64, Ordering::Relaxed);
            if to.write_all(&buffer[..octets]).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Both);
    })
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
    let relay = Relay::new(stand.target.peer);
    let target = Target {
        peer: relay.address,
        ..stand.target
    };
    for page in ["rrul2013", "today"] {
        let (model, published) = stand.publish(page);
        for protocol in [HttpVersion::Http1, HttpVersion::H2] {
            let load = load(&model, &target, protocol, LONG, &AtomicBool::new(false));
            assert_eq!(load.error, None);
            let [up, down] = relay.take();
            let expected = expected(&load, relay.address.port());
            println!("{page} {protocol}: {up} up, {down} down beside {expected:?}");
            let [least, most, all] = expected;
            // With HTTP/1.1 a few connections are opened and then not needed.
            let fits = (least * 98 / 100..=most * 110 / 100).contains(&up);
            assert!(fits, "{page} {protocol}: {up} up, not {expected:?}");
            let fits = (all * 995 / 1000..=all * 101 / 100).contains(&down);
            assert!(fits, "{page} {protocol}: {down} down, not {expected:?}");
        }
        drop(published);
    }
}
