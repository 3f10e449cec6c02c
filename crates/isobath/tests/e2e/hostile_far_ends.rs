//! Far ends that hold their tongue, babble or hang up: whoever measures towards them is told so in good time, and by one line where
//! there is nothing to keep.

use crate::support::{Machine, PATIENCE, Running, folder, isobath, short_plan};
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{JoinHandle, spawn};
use std::time::Duration;
use sys::clock;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Manner {
    /// Takes everything, and says nothing.
    Silent,
    /// Says what nobody understands: noise over connections; to datagrams copies of them, whole, changed and cut.
    Babbling,
    /// Closes every connection at once.
    HangingUp,
}

/// A host with one port, of TCP and UDP.
struct Stranger {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Stranger {
    fn start(manner: Manner) -> Self {
        let pair = || {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
            let socket = UdpSocket::bind(listener.local_addr().unwrap()).ok()?;
            Some((listener, socket))
        };
        let (listener, socket) = std::iter::repeat_with(pair).flatten().next().unwrap();
        let address = listener.local_addr().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let (by_tcp, by_udp) = (Arc::clone(&stop), Arc::clone(&stop));
        let threads = vec![
            spawn(move || connections(manner, &listener, &by_tcp)),
            spawn(move || datagrams(manner, &socket, &by_udp)),
        ];
        Self {
            address,
            stop,
            threads,
        }
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let ended = thread.join();
            assert!(ended.is_ok() || std::thread::panicking());
        }
    }
}

const LOOK: Duration = Duration::from_millis(5);

/// Octets without a meaning, the same in every run.
fn noise(length: usize) -> Vec<u8> {
    let next = |state: &u32| Some(state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
    let states = std::iter::successors(Some(0x150_ba74), next);
    states
        .map(|state| state.to_be_bytes()[0])
        .take(length)
        .collect()
}

fn connections(manner: Manner, listener: &TcpListener, stop: &AtomicBool) {
    listener.set_nonblocking(true).unwrap();
    let (mut open, noise) = (Vec::<TcpStream>::new(), noise(500));
    let mut heard = [0; 4_096];
    while !stop.load(Ordering::Relaxed) {
        while let Ok((stream, _)) = listener.accept() {
            if manner != Manner::HangingUp {
                stream.set_nonblocking(true).unwrap();
                open.push(stream);
            }
        }
        for stream in &mut open {
            // Who has gone is not missed.
            let _ = stream.read(&mut heard);
            if manner == Manner::Babbling {
                let _ = stream.write(&noise);
            }
        }
        clock::sleep_until(clock::now() + LOOK);
    }
}

fn datagrams(manner: Manner, socket: &UdpSocket, stop: &AtomicBool) {
    socket.set_read_timeout(Some(LOOK)).unwrap();
    let mut buffer = [0; 4_096];
    let (noise, mut turn) = (noise(4_096), 0);
    while !stop.load(Ordering::Relaxed) {
        let Ok((length, from)) = socket.recv_from(&mut buffer) else {
            continue;
        };
        if manner != Manner::Babbling {
            continue;
        }
        turn += 1;
        let mut said = buffer[..length].to_vec();
        let _ = socket.send_to(&said, from);
        // Another octet of it each time.
        said[turn * 7 % length] ^= noise[turn % noise.len()];
        let _ = socket.send_to(&said, from);
        let _ = socket.send_to(&said[..turn % length], from);
        let _ = socket.send_to(&noise[..length], from);
    }
}

/// What is said in the end by a run that is asked for by `words`, and its exit status.
fn told(words: &str) -> (i32, String) {
    let place = folder(&[("plan.toml", &short_plan(2))]);
    let words: Vec<&str> = words.split(' ').collect();
    let begun = clock::now();
    let ran = Running::start(isobath(place.path(), &[&words[..], &["-q"]].concat())).finish();
    let took = clock::now().since(begun);
    assert!(took < PATIENCE / 2, "{words:?} took {took:?}");
    let all = format!("{}{}", ran.stdout, ran.stderr);
    assert!(!all.contains("panicked"), "{words:?}: {all}");
    (ran.code().unwrap(), all)
}

/// All at once, since they wait more than they work.
fn all_told(address: SocketAddr, each: &[&str], check: impl Fn(&str, i32, &str) + Sync) {
    std::thread::scope(|scope| {
        for words in each {
            let (words, check) = (words.replace("HOST", &address.to_string()), &check);
            scope.spawn(move || {
                let (code, said) = told(&words);
                check(&words, code, &said);
            });
        }
    });
}

#[test]
fn servers_of_load_that_are_none_are_refused_in_one_line() {
    let _machine = Machine::without_networks();
    for manner in [Manner::Silent, Manner::Babbling, Manner::HangingUp] {
        let stranger = Stranger::start(manner);
        let each = [
            "rrul iperf3://HOST --plan plan.toml",
            "rrul ndt7://HOST --plan plan.toml --insecure",
            "rrul HOST --plan plan.toml",
            "rpm https://HOST --insecure",
            "rpm https://HOST --insecure --http h3",
            "udpst HOST --udpst-key secret",
        ];
        all_told(stranger.address, &each, |words, code, said| {
            assert_eq!(code, 3, "{words}: {said}");
            assert_eq!(said.lines().count(), 1, "{words}: {said}");
        });
    }
}

#[test]
fn servers_of_echoes_that_are_none_give_no_estimate_and_are_not_waited_for() {
    let _machine = Machine::without_networks();
    for manner in [Manner::Silent, Manner::Babbling, Manner::HangingUp] {
        let stranger = Stranger::start(manner);
        let each = [
            "estimate rtt stamp://HOST -d 1s",
            "estimate owd twamp://HOST -d 1s",
            "estimate rtt irtt://HOST -d 1s",
            "estimate rtt ntp://HOST -d 1s",
            "estimate rtt dns://HOST -d 1s",
            "estimate rtt h3://HOST -d 1s",
            "estimate rtt dot://HOST -d 1s --insecure",
            "estimate rtt doh://HOST -d 1s --insecure",
        ];
        all_told(stranger.address, &each, |words, code, said| {
            // Copies of requests may pass for replies: something was measured. Else there is no estimate (5), or a machine was too busy (4).
            let is_measured = manner == Manner::Babbling && code == 0;
            let is_told = is_measured || matches!(code, 3..=5);
            assert!(is_told, "{words}: {code}, {said}");
            // Of some of what is babbled an estimate may be tried in vain.
            let is_silent = code == 5 && manner != Manner::Babbling;
            assert!(
                !is_silent || said.contains("nobody answers"),
                "{words}: {said}"
            );
            assert!(
                code != 3 || said.contains("the server was lost"),
                "{words}: {said}"
            );
        });
    }
}
