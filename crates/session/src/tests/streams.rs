//! Data streams: those of the session, and those that are not.

use super::*;
use crate::wire::Preamble;
use crate::{DataKey, DataKeys, Limits};
use std::io::{Read, Write};

/// Whether the server closes `socket` after `octets`.
fn is_closed_after(running: &Running, octets: &[u8]) -> bool {
    let mut socket = running.dial();
    socket.write_all(octets).unwrap();
    // Our writing end stays open, so only the server can end this.
    matches!(socket.read(&mut [0; 1]), Ok(0))
}

fn preamble(client: &Client, nonce: u64) -> Preamble {
    Preamble {
        kind: 4,
        stream: 9,
        session: client.welcome.session,
        nonce,
    }
}

#[test]
fn a_stream_goes_to_the_session_it_names() {
    let running = Running::keyed();
    let (mut one, mut other) = (running.connect().unwrap(), running.connect().unwrap());
    for (client, number) in [(&mut one, 11), (&mut other, 22)] {
        let mut seen = false;
        let opened = client.dialer.open(client.peer, number, 3, LONG, |socket| {
            seen = true;
            socket.set_tcp_nodelay(true)
        });
        let opened = opened.unwrap();
        assert!(seen);
        assert!(opened.started <= opened.established);
        assert!(opened.socket.nodelay().unwrap());
        client.control.send(&"stream").unwrap();
        let said: Value = client.control.recv(LONG).unwrap();
        assert_eq!(said, json!([number, 3]));
    }
}

#[test]
fn a_stream_that_did_not_come_by_tcp_is_admitted_once_and_by_its_own_session() {
    let running = Running::keyed();
    let (one, other) = (running.connect().unwrap(), running.connect().unwrap());
    let sessions = running.server.sessions();
    let session = |client: &Client| sessions.find(client.welcome.session).unwrap();
    let said = one.dialer.preamble(7, 1);
    assert!(session(&other).admit(&said).is_none());
    let (preamble, slot) = session(&one).admit(&said).unwrap();
    assert_eq!((preamble.stream, preamble.kind), (7, 1));
    assert!(session(&one).admit(&said).is_none(), "a second time");
    let mut forged = one.dialer.preamble(8, 1);
    forged[7] ^= 1;
    assert!(session(&one).admit(&forged).is_none());
    slot.add(5, 9);
    assert_eq!(session(&one).meter.octets(), (5, 9));
}

#[test]
fn what_follows_the_preamble_is_the_streams_own() {
    let running = Running::keyed();
    let client = running.connect().unwrap();
    let opened = client.dialer.open(client.peer, 1, 1, LONG, |_| Ok(()));
    let mut near = opened.unwrap().socket;
    near.write_all(b"payload").unwrap();
    let session = running.server.sessions().find(client.welcome.session);
    let mut far = session.unwrap().next_stream(LONG).unwrap();
    let mut octets = [0; 7];
    far.socket.read_exact(&mut octets).unwrap();
    assert_eq!(&octets, b"payload");
    assert_eq!(far.socket.read_timeout().unwrap(), None);
}

#[test]
fn a_wrong_tag_an_unknown_session_and_a_used_nonce_are_closed() {
    let running = Running::keyed();
    let client = running.connect().unwrap();
    let key = &client.dialer.keys().to_server;
    let strange = DataKeys::from(DataKey::new([0; 32]));
    let unknown = Preamble {
        session: client.welcome.session ^ 1,
        ..preamble(&client, 1)
    };
    let good = preamble(&client, 2).emit(key);
    let mut newer = good;
    newer[4] = 2;
    assert!(is_closed_after(
        &running,
        &preamble(&client, 1).emit(&strange.to_server)
    ));
    assert!(is_closed_after(
        &running,
        &preamble(&client, 1).emit(&client.dialer.keys().to_client)
    ));
    assert!(is_closed_after(&running, &unknown.emit(key)));
    assert!(is_closed_after(&running, &newer));
    let mut first = running.dial();
    first.write_all(&good).unwrap();
    let session = running
        .server
        .sessions()
        .find(client.welcome.session)
        .unwrap();
    assert!(session.next_stream(LONG).is_some());
    assert!(is_closed_after(&running, &good), "the same preamble again");
    running.assert_serves();
}

#[test]
fn streams_above_the_limit_are_closed_until_a_place_is_free() {
    let running = Running::start(ServerConfig {
        limits: Limits {
            streams: 2,
            ..Limits::KEYED
        },
        ..config()
    });
    let client = running.connect().unwrap();
    let session = running
        .server
        .sessions()
        .find(client.welcome.session)
        .unwrap();
    let open = |number| {
        client
            .dialer
            .open(client.peer, number, 0, LONG, |_| Ok(()))
            .unwrap()
    };
    let _near = [open(0), open(1)];
    let far = [
        session.next_stream(LONG).unwrap(),
        session.next_stream(LONG).unwrap(),
    ];
    let mut third = open(2).socket;
    assert!(matches!(third.read(&mut [0; 1]), Ok(0)));
    drop(far);
    let _fourth = open(3);
    assert_eq!(session.next_stream(LONG).unwrap().preamble.stream, 3);
}

#[test]
fn streams_of_a_session_that_has_ended_are_closed() {
    let running = Running::keyed();
    let client = running.connect().unwrap();
    let octets = preamble(&client, 0).emit(&client.dialer.keys().to_server);
    drop(client);
    eventually("the session is gone", || running.is_idle());
    assert!(is_closed_after(&running, &octets));
}
