//! Clients that mean well, and some that have the wrong key.

use super::*;
use crate::hello::{Answer, Hello};
use crate::{Code, Family, Fingerprint, Limits, Secret, tls};
use socket2::{Domain, Socket, Type};
use std::net::TcpListener;

#[test]
fn the_right_key_is_welcome() {
    let running = Running::keyed();
    let mut client = running.connect().unwrap();
    assert_eq!(client.welcome.protocol, 1);
    assert_eq!(client.welcome.limits, Limits::KEYED);
    assert_eq!(client.welcome.host, json!({ "kernel": "test" }));
    assert_eq!(client.peer, running.address());
    client.control.send(&json!({ "plan": [1, 2] })).unwrap();
    let answer: Value = client.control.recv(LONG).unwrap();
    assert_eq!(answer, json!({ "plan": [1, 2] }));
    let session = running.server.sessions().find(client.welcome.session);
    assert_eq!(session.unwrap().id, client.welcome.session);
}

#[test]
fn whoever_watches_knows_a_session_before_its_client_does() {
    let running = Running::keyed();
    let told = Arc::new(Mutex::new(vec![vec![7]]));
    let watcher = Arc::clone(&told);
    let sessions = running.server.sessions();
    sessions.watch(move |numbers| watcher.lock().unwrap().push(numbers.to_vec()));
    let client = running.connect().unwrap();
    let number = client.welcome.session;
    assert_eq!(*told.lock().unwrap(), [vec![7], vec![], vec![number]]);
    drop(client);
    eventually("it is told that there is none", || {
        told.lock().unwrap().last().is_some_and(Vec::is_empty)
    });
}

#[test]
fn rows_go_line_by_line_in_their_order_and_are_made_as_they_are_sent() {
    let running = Running::keyed();
    let mut client = running.connect().unwrap();
    let made = std::cell::Cell::new(0);
    let rows = (0..7).inspect(|_| made.set(made.get() + 1));
    let mut made_by_line = Vec::new();
    let mut line = |these: Vec<i32>| {
        made_by_line.push(made.get());
        json!({ "rows": these })
    };
    client.control.send_rows(rows, 3, &mut line).unwrap();
    // The first of the next line may be asked for, to know whether there is one: never more.
    let sent = [3, 6, 7];
    assert_eq!(made_by_line.len(), sent.len());
    for (made, sent) in made_by_line.iter().zip(sent) {
        assert!((sent..=sent + 1).contains(made), "{made_by_line:?}");
    }
    for rows in [json!([0, 1, 2]), json!([3, 4, 5]), json!([6])] {
        let echoed: Value = client.control.recv(LONG).unwrap();
        assert_eq!(echoed, json!({ "rows": rows }));
    }
    let none = std::iter::empty::<i32>();
    client
        .control
        .send_rows(none, 3, |_| json!("a line"))
        .unwrap();
    client.control.send(&json!("after")).unwrap();
    assert_eq!(client.control.recv::<Value>(LONG).unwrap(), json!("after"));
}

#[test]
fn a_wrong_secret_is_refused_with_the_way_out() {
    let running = Running::keyed();
    let key = AccessKey {
        secret: Secret([0; 16]),
        ..running.key
    };
    let error = connect(&running.host(), None, Some(&key), LONG).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "{} refused the key - print the right one with 'isobath serve --show-key' there",
            running.host()
        )
    );
}

#[test]
fn clients_with_a_key_each_are_told_apart() {
    let identity = Identity::generate().unwrap();
    let keys = ["m3", "m4", "m6"].map(|holder| identity.key_for(holder));
    let running = Running::start(ServerConfig {
        secrets: keys[..2].iter().map(|key| key.secret).collect(),
        ..ServerConfig::keyed(identity, 0)
    });
    for (place, key) in keys[..2].iter().enumerate() {
        let client = connect(&running.host(), None, Some(key), LONG).unwrap();
        let session = running.server.sessions().find(client.welcome.session);
        assert_eq!(session.unwrap().proven, Some(place));
    }
    // One that is not on the list, and the identity's own.
    for key in [&keys[2], &running.key] {
        let refused = connect(&running.host(), None, Some(key), LONG).unwrap_err();
        assert!(matches!(refused, Error::RefusedKey { .. }), "{refused}");
    }
}

#[test]
fn another_certificate_than_the_keys_is_noticed_by_the_client() {
    let running = Running::keyed();
    let key = AccessKey {
        fingerprint: Fingerprint([0; 32]),
        ..running.key
    };
    let error = connect(&running.host(), None, Some(&key), LONG).unwrap_err();
    assert!(matches!(error, Error::Certificate { .. }), "{error}");
    eventually("the server is idle", || running.is_idle());
}

#[test]
fn a_client_without_a_key_is_told_that_it_needs_one() {
    let running = Running::keyed();
    let error = connect(&running.host(), None, None, LONG).unwrap_err();
    assert!(matches!(error, Error::WantsKey { .. }), "{error}");
}

#[test]
fn an_open_server_welcomes_strangers_within_tighter_limits() {
    let open = ServerConfig::open(Identity::generate().unwrap(), 0);
    let running = Running::start(open);
    let client = connect(&running.host(), None, None, LONG).unwrap();
    assert_eq!(client.welcome.limits, Limits::OPEN);
    let error = connect(&running.host(), None, None, LONG).unwrap_err();
    assert!(matches!(error, Error::Limit { .. }), "{error}");
    drop(client);
    eventually("the place is free", || running.is_idle());
    connect(&running.host(), None, None, LONG).unwrap();
}

#[test]
fn another_version_is_refused_whatever_its_key() {
    let running = Running::keyed();
    let socket = Arc::new(running.dial());
    let tls = tls::client(None).unwrap();
    let by = sys::clock::now() + LONG;
    let mut control = Control::handshake("server".to_owned(), tls, socket, by).unwrap();
    control
        .send(&Hello {
            protocol: [7, 9],
            ..Hello::new(None)
        })
        .unwrap();
    let Answer::Refused(refusal) = control.recv(LONG).unwrap() else {
        panic!("was welcome");
    };
    assert_eq!(refusal.code, Code::Version);
    assert_eq!(refusal.protocol, crate::PROTOCOL);
}

#[test]
fn a_server_of_another_version_is_named_with_what_to_update() {
    let key = Identity::generate().unwrap();
    for (protocol, advice) in [([2, 3], "here"), ([0, 0], "there")] {
        let host = refuse_once(&key, protocol);
        let error = connect(&host, None, Some(&key.key()), LONG).unwrap_err();
        let ours = crate::VERSION;
        let theirs = if protocol == [2, 3] { "2 to 3" } else { "0" };
        assert_eq!(
            error.to_string(),
            format!(
                "{host} runs isobath 7.7.7 (protocol {theirs}), this is isobath {ours} (protocol 1) \
                 - update isobath {advice}"
            )
        );
    }
}

/// A server that speaks `protocol` and refuses the next client for it; its address.
fn refuse_once(identity: &Identity, protocol: [u16; 2]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = listener.local_addr().unwrap().to_string();
    let config = tls::server_config(identity).unwrap();
    std::thread::spawn(move || {
        let (socket, _) = listener.accept().unwrap();
        let tls = rustls::ServerConnection::new(config).unwrap();
        let tls = rustls::Connection::Server(tls);
        let by = sys::clock::now() + LONG;
        let mut control =
            Control::handshake("client".to_owned(), tls, Arc::new(socket), by).unwrap();
        control.recv::<Hello>(LONG).unwrap();
        let refusal = crate::Refusal {
            protocol,
            version: "7.7.7".to_owned(),
            ..crate::Refusal::new(Code::Version, "")
        };
        control.send(&Answer::Refused(refusal)).unwrap();
    });
    host
}

#[test]
fn sixteen_clients_at_once_are_served_and_the_next_is_told_why_not() {
    let running = Running::keyed();
    let mut clients: Vec<Client> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..16).map(|_| scope.spawn(|| running.connect())).collect();
        let joined = threads.into_iter().map(|thread| thread.join().unwrap());
        joined.collect::<Result<_, _>>().unwrap()
    });
    let error = running.connect().unwrap_err().to_string();
    assert!(error.contains("is busy: 16 sessions at once"), "{error}");
    for (number, client) in clients.iter_mut().enumerate() {
        client.control.send(&number).unwrap();
    }
    for (number, client) in clients.iter_mut().enumerate() {
        assert_eq!(client.control.recv::<usize>(LONG).unwrap(), number);
    }
    clients.pop();
    eventually("a place is free", || running.server.sessions().len() == 15);
    running.assert_serves();
}

#[test]
fn a_client_that_dies_frees_its_session() {
    let running = Running::keyed();
    let client = running.connect().unwrap();
    let session = running.server.sessions().find(client.welcome.session);
    let session = session.unwrap();
    drop(client);
    eventually("the session is gone", || running.is_idle());
    assert!(session.is_closed());
    assert!(session.next_stream(LONG).is_none());
}

#[test]
fn a_service_that_panics_takes_only_its_own_session_along() {
    let running = Running::keyed();
    let mut client = running.connect().unwrap();
    client.control.send(&"panic").unwrap();
    let error = client.control.recv::<Value>(LONG).unwrap_err();
    assert!(matches!(error, Error::Closed { .. }), "{error}");
    eventually("the session is gone", || running.is_idle());
    running.assert_serves();
}

#[test]
fn a_session_ends_when_its_time_is_up() {
    let running = Running::start(ServerConfig {
        limits: Limits {
            duration_s: 0,
            ..Limits::KEYED
        },
        ..config()
    });
    let mut client = running.connect().unwrap();
    let error = client.control.recv::<Value>(LONG).unwrap_err();
    assert!(matches!(error, Error::Closed { .. }), "{error}");
    eventually("the session is gone", || running.is_idle());
}

#[test]
fn a_server_that_stops_ends_its_sessions() {
    let running = Running::keyed();
    let mut client = running.connect().unwrap();
    let sessions = running.server.sessions();
    running.end();
    let error = client.control.recv::<Value>(LONG).unwrap_err();
    assert!(matches!(error, Error::Closed { .. }), "{error}");
    assert!(sessions.is_empty());
}

#[test]
fn a_time_out_loses_no_line_and_no_half_of_one() {
    let running = Running::keyed();
    let mut client = running.connect().unwrap();
    for round in 0..20 {
        let error = client.control.recv::<Value>(Duration::ZERO).unwrap_err();
        assert!(matches!(error, Error::Timeout { .. }), "{error}");
        let long = "x".repeat(50_000 + round);
        client.control.send(&long).unwrap();
        let mut answer = client.control.recv::<String>(Duration::ZERO);
        while matches!(answer, Err(Error::Timeout { .. })) {
            answer = client.control.recv(Duration::ZERO);
        }
        assert_eq!(answer.unwrap(), long);
    }
}

#[test]
fn a_line_that_is_too_long_is_not_sent_and_one_that_is_no_such_value_is_skipped() {
    let running = Running::keyed();
    let mut client = running.connect().unwrap();
    let error = client.control.send(&"x".repeat(70_000)).unwrap_err();
    assert!(matches!(error, Error::LineTooLong { .. }), "{error}");
    client.control.send(&"words").unwrap();
    client.control.send(&7).unwrap();
    let error = client.control.recv::<u32>(LONG).unwrap_err();
    assert!(matches!(error, Error::Malformed { .. }), "{error}");
    assert_eq!(client.control.recv::<u32>(LONG).unwrap(), 7);
}

#[test]
fn the_clock_offset_of_one_host_to_itself_is_within_its_own_error() {
    let running = Running::keyed();
    let mut client = running.connect().unwrap();
    let offset = client.control.measure_clock(8, LONG).unwrap();
    assert!(
        offset.offset_ns.unsigned_abs() <= offset.rtt_ns / 2 + 1,
        "{offset:?}"
    );
    let stamp = client.welcome.stamp();
    assert!(stamp.mono <= sys::clock::now());
    client.control.send(&"after").unwrap();
    assert_eq!(client.control.recv::<String>(LONG).unwrap(), "after");
}

#[test]
fn both_protocols_reach_the_same_port() {
    let running = Running::keyed();
    let port = running.server.local_addr().port();
    let v4 = connect(
        &format!("127.0.0.1:{port}"),
        Some(Family::V4),
        Some(&running.key),
        LONG,
    );
    assert_eq!(Family::of(&v4.unwrap().peer), Family::V4);
    if running.server.local_addr().is_ipv6() {
        let v6 = connect(
            &format!("[::1]:{port}"),
            Some(Family::V6),
            Some(&running.key),
            LONG,
        );
        assert_eq!(Family::of(&v6.unwrap().peer), Family::V6);
    }
}

#[test]
fn a_taken_port_is_said_to_be_taken() {
    let running = Running::keyed();
    let taken = ServerConfig {
        port: running.server.local_addr().port(),
        ..config()
    };
    let error = Server::bind(taken).unwrap_err();
    assert!(matches!(error, Error::Bind { .. }), "{error}");
}

#[test]
fn nobody_there_and_somebody_else_there_are_told_apart() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = listener.local_addr().unwrap().to_string();
    let other = std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        std::io::Write::write_all(&mut socket, b"SSH-2.0-OpenSSH_10.0\r\n").unwrap();
        // Hold the connection until the client leaves.
        let _ = std::io::copy(&mut socket, &mut std::io::sink());
    });
    let error = connect(&host, None, None, LONG).unwrap_err();
    assert!(matches!(error, Error::NotIsobath { .. }), "{error}");
    other.join().unwrap();
    // Bound, so that nobody else gets the port, but not listening.
    let deaf = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    let any_port: SocketAddr = "127.0.0.1:0".parse().unwrap();
    deaf.bind(&any_port.into()).unwrap();
    let host = deaf.local_addr().unwrap().as_socket().unwrap().to_string();
    let error = connect(&host, None, None, LONG).unwrap_err();
    assert!(matches!(error, Error::Unreachable { .. }), "{error}");
}

#[test]
fn a_server_that_says_nothing_is_waited_for_only_so_long() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = listener.local_addr().unwrap().to_string();
    let error = connect(&host, None, None, Duration::from_millis(200)).unwrap_err();
    assert!(matches!(error, Error::Timeout { .. }), "{error}");
}
