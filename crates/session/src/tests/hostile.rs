//! Whoever finds the port: garbage, half a handshake, and patience.

use super::*;
use crate::wire::MAGIC;
use socket2::{Domain, Socket, Type};
use std::io::{Read, Write};
use std::net::Shutdown;

/// Octets of a real client's first flight.
fn client_hello() -> Vec<u8> {
    let mut octets = Vec::new();
    crate::tls::client(None)
        .unwrap()
        .write_tls(&mut octets)
        .unwrap();
    octets
}

/// Up to 400 octets of no meaning, the same for the same `number`.
fn garbage(number: usize) -> Vec<u8> {
    let mut octets = vec![0; 1 + number * 7 % 400];
    let mut source = blake3::Hasher::new();
    source.update(&number.to_be_bytes());
    source.finalize_xof().fill(&mut octets);
    octets
}

#[test]
fn three_hundred_connections_of_garbage_leave_nothing_behind() {
    let hello = client_hello();
    let running = Running::keyed();
    for number in 0..300_usize {
        let mut octets = garbage(number);
        match number % 4 {
            0 => octets[0] = 0x16,
            1 => octets.splice(..0, MAGIC).for_each(drop),
            2 => octets = hello[..=number % hello.len()].to_vec(),
            _ => {}
        }
        let mut socket = running.dial();
        // The server may close while we are still writing.
        let _ = socket.write_all(&octets);
        let _ = socket.shutdown(Shutdown::Write);
        let _ = socket.read_to_end(&mut Vec::new());
    }
    eventually("the server is idle", || running.is_idle());
    running.assert_serves();
    running.end();
}

#[test]
fn garbage_that_is_not_ours_gets_no_answer() {
    let running = Running::keyed();
    for octets in [
        &b"GET / HTTP/1.1\r\n\r\n"[..],
        b"\x00",
        b"ISOBATH? hello, is anybody there? ......",
    ] {
        let mut socket = running.dial();
        socket.write_all(octets).unwrap();
        let mut answer = Vec::new();
        // Closed with octets unread, the connection may also be reset.
        let _ = socket.read_to_end(&mut answer);
        assert_eq!(answer, b"", "{octets:?}");
    }
}

#[test]
fn dribbling_octets_do_not_hold_a_connection_beyond_the_deadline() {
    let running = Running::start(hasty());
    let tls_of_16_kb = [0x16, 3, 1, 0x3f, 0xff, 1, 0, 0x3f, 0xfb];
    for start in [&tls_of_16_kb[..], &MAGIC[..]] {
        let mut socket = running.dial();
        socket.write_all(start).unwrap();
        socket
            .set_read_timeout(Some(Duration::from_millis(10)))
            .unwrap();
        // 10,000 octets one by one: for a preamble 28 would do, so it stops at 20 and waits.
        let limit = if start == MAGIC { 20 } else { 10_000 };
        let mut sent = 0;
        eventually("the server closes", || {
            if sent < limit {
                sent += 1;
                if socket.write_all(&[0]).is_err() {
                    return true;
                }
            }
            match socket.read(&mut [0; 64]) {
                Ok(0) => true,
                Ok(_) => false,
                Err(error) => !matches!(error.kind(), std::io::ErrorKind::WouldBlock),
            }
        });
        assert!(sent < 10_000, "it was read to the end");
    }
    eventually("the server is idle", || running.is_idle());
    running.assert_serves();
}

#[test]
fn a_connection_that_says_nothing_is_closed() {
    let running = Running::start(hasty());
    let mut socket = running.dial();
    assert!(matches!(socket.read(&mut [0; 1]), Ok(0)));
    eventually("the server is idle", || running.is_idle());
}

#[test]
fn a_client_that_never_says_hello_is_closed() {
    let running = Running::start(hasty());
    let tls = crate::tls::client(Some(running.key.fingerprint)).unwrap();
    let by = sys::clock::now() + LONG;
    let socket = Arc::new(running.dial());
    let mut control = Control::handshake("server".to_owned(), tls, socket, by).unwrap();
    let error = control.recv::<Value>(LONG).unwrap_err();
    assert!(matches!(error, Error::Closed { .. }), "{error}");
    eventually("the server is idle", || running.is_idle());
}

#[test]
fn too_many_pending_connections_are_closed_at_once_and_block_nobody_for_long() {
    let running = Running::start(ServerConfig {
        admission: Admission {
            pending: 8,
            ..hasty().admission
        },
        ..config()
    });
    let mut idle: Vec<TcpStream> = (0..50).map(|_| running.dial()).collect();
    eventually("the gate is full", || running.server.pending() == 8);
    for socket in &mut idle {
        assert!(matches!(socket.read(&mut [0; 1]), Ok(0)));
    }
    eventually("the server is idle", || running.is_idle());
    running.assert_serves();
}

#[test]
fn a_hello_that_is_no_hello_is_closed() {
    let running = Running::keyed();
    for line in [
        json!("hello"),
        json!({ "protocol": [1], "version": "1" }),
        json!({ "protocol": [1, 1], "version": "1", "proof": "short" }),
        json!({ "protocol": [-1, 1e99], "version": "1" }),
    ] {
        let tls = crate::tls::client(None).unwrap();
        let by = sys::clock::now() + LONG;
        let socket = Arc::new(running.dial());
        let mut control = Control::handshake("server".to_owned(), tls, socket, by).unwrap();
        control.send(&line).unwrap();
        let error = control.recv::<Value>(LONG).unwrap_err();
        assert!(matches!(error, Error::Closed { .. }), "{error}");
    }
    eventually("the server is idle", || running.is_idle());
}

/// A connection to the server from this address, which says nothing.
fn stranger(running: &Running, from: &str) -> TcpStream {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    let from: SocketAddr = format!("{from}:0").parse().unwrap();
    socket.bind(&from.into()).unwrap();
    socket.connect(&running.address().into()).unwrap();
    socket.into()
}

#[test]
fn strangers_with_two_addresses_lock_nobody_out() {
    let running = Running::keyed();
    let client = running.connect().unwrap();
    let strangers: Vec<TcpStream> = ["127.0.0.2", "127.0.0.3"]
        .iter()
        .flat_map(|from| (0..80).map(|_| stranger(&running, from)))
        .collect();
    eventually("all places are taken", || running.server.pending() >= 128);
    for _ in 0..6 {
        running.assert_serves();
    }
    let session = running.server.sessions().find(client.welcome.session);
    let session = session.unwrap();
    for number in 0..20 {
        let opened = client.dialer.open(client.peer, number, 3, LONG, |_| Ok(()));
        let _near = opened.unwrap();
        assert_eq!(session.next_stream(LONG).unwrap().preamble.stream, number);
    }
    drop(strangers);
}

#[test]
fn strangers_behind_the_same_translator_lock_nobody_out() {
    let running = Running::keyed();
    let _strangers: Vec<TcpStream> = (0..100).map(|_| running.dial()).collect();
    eventually("all places of the address are taken", || {
        running.server.pending() == Admission::KEYED.pending_per_source
    });
    let client = running.connect().unwrap();
    let session = running.server.sessions().find(client.welcome.session);
    let session = session.unwrap();
    let opened = client.dialer.open(client.peer, 5, 3, LONG, |_| Ok(()));
    let _near = opened.unwrap();
    assert_eq!(session.next_stream(LONG).unwrap().preamble.stream, 5);
}
