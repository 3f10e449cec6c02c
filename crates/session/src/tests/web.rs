//! Connections for web pages, and those that only look like it.

use super::*;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, RootCertStore};
use std::io::{Read, Write};
use std::net::Shutdown;

/// What a browser sends first when it wants `name` by these protocols.
fn hello(name: &str, protocols: &[&str]) -> Vec<u8> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth();
    config.alpn_protocols = protocols
        .iter()
        .map(|name| name.as_bytes().to_vec())
        .collect();
    let name = ServerName::try_from(name.to_owned()).unwrap();
    let mut connection = ClientConnection::new(Arc::new(config), name).unwrap();
    let mut octets = Vec::new();
    connection.write_tls(&mut octets).unwrap();
    octets
}

fn page(client: &Client) -> String {
    format!("www.{:016x}.isobath.test", client.welcome.session)
}

/// The same message in records of at most `size` octets (RFC 8446 section 5.1 allows it).
fn in_records(hello: &[u8], size: usize) -> Vec<u8> {
    let parts = hello[5..].chunks(size);
    let record = |part: &[u8]| {
        let length = u16::try_from(part.len()).unwrap().to_be_bytes();
        [&[0x16, 3, 1][..], &length, part].concat()
    };
    parts.flat_map(record).collect()
}

/// Whether the server ends `socket` without having handed it over.
#[track_caller]
fn assert_closed(running: &Running, mut socket: TcpStream) {
    let _ = socket.read_to_end(&mut Vec::new());
    assert!(running.web.lock().unwrap().is_empty());
}

/// The connection that was handed over, which must be the only one.
#[track_caller]
fn handed_over(running: &Running) -> Handed {
    eventually("it is handed over", || {
        !running.web.lock().unwrap().is_empty()
    });
    let mut all = running.web.lock().unwrap();
    assert_eq!(all.len(), 1);
    all.pop().unwrap()
}

#[test]
fn a_page_of_a_session_is_handed_over_unread() {
    let running = Running::keyed();
    let client = running.connect().unwrap();
    for protocols in [&["h2", "http/1.1"][..], &["http/1.1"], &["h3", "h2"]] {
        let octets = hello(&page(&client), protocols);
        running.dial().write_all(&octets).unwrap();
        let mut handed = handed_over(&running);
        assert_eq!(handed.session.id, client.welcome.session);
        assert_eq!(handed.socket.read_timeout().unwrap(), None);
        let mut first = vec![0; octets.len()];
        handed.socket.read_exact(&mut first).unwrap();
        assert_eq!(first, octets);
    }
    running.assert_serves();
}

#[test]
fn a_hello_in_many_segments_and_records_is_put_together() {
    let running = Running::keyed();
    let client = running.connect().unwrap();
    let octets = in_records(&hello(&page(&client), &["h2"]), 7);
    let mut socket = running.dial();
    socket.set_nodelay(true).unwrap();
    for part in octets.chunks(11) {
        socket.write_all(part).unwrap();
    }
    let mut handed = handed_over(&running);
    let mut first = vec![0; octets.len()];
    handed.socket.read_exact(&mut first).unwrap();
    assert_eq!(first, octets);
}

#[test]
fn a_handed_over_socket_wakes_its_reader_for_one_octet() {
    let running = Running::keyed();
    let client = running.connect().unwrap();
    let octets = hello(&page(&client), &["h2"]);
    let mut socket = running.dial();
    socket.write_all(&octets).unwrap();
    let mut handed = handed_over(&running);
    handed
        .socket
        .read_exact(&mut vec![0; octets.len()])
        .unwrap();
    socket.write_all(b"x").unwrap();
    handed.socket.set_read_timeout(Some(LONG)).unwrap();
    handed.socket.read_exact(&mut [0; 1]).unwrap();
}

#[test]
fn pages_of_unknown_sessions_are_closed() {
    let running = Running::keyed();
    let client = running.connect().unwrap();
    let unknown = format!("www.{:016x}.isobath.test", client.welcome.session ^ 1);
    for name in [unknown.as_str(), "www.isobath.test", "x.123.isobath.test"] {
        let mut socket = running.dial();
        socket.write_all(&hello(name, &["h2"])).unwrap();
        let mut answer = Vec::new();
        let _ = socket.read_to_end(&mut answer);
        assert_eq!(answer, b"", "{name}");
        assert_closed(&running, socket);
    }
    let gone = hello(&page(&client), &["h2"]);
    drop(client);
    eventually("the session is gone", || running.is_idle());
    let mut socket = running.dial();
    socket.write_all(&gone).unwrap();
    assert_closed(&running, socket);
    running.assert_serves();
}

#[test]
fn without_protocols_of_the_web_or_a_name_of_ours_it_is_a_control_connection() {
    let running = Running::start(hasty());
    let client = running.connect().unwrap();
    let page = page(&client);
    let named = [
        (page.as_str(), &[][..]),
        ("example.com", &["h2"]),
        (&page, &["smtp"]),
    ];
    for (name, protocols) in named {
        let mut socket = running.dial();
        socket.write_all(&hello(name, protocols)).unwrap();
        let mut first = [0; 1];
        socket.read_exact(&mut first).unwrap();
        // The server's own hello.
        assert_eq!(first, [0x16], "{name} {protocols:?}");
        assert_closed(&running, socket);
    }
}

#[test]
fn half_a_hello_and_16_kb_of_junk_are_closed() {
    let running = Running::start(hasty());
    let client = running.connect().unwrap();
    let whole = hello(&page(&client), &["h2"]);
    let mut junk = vec![0xff; 5 + (1 << 14)];
    junk[..5].copy_from_slice(&[0x16, 3, 1, 0x40, 0]);
    let long = in_records(&vec![1; 30_000], 1);
    for octets in [&whole[..whole.len() / 2], &whole[..3], &junk, &long] {
        let mut silent = running.dial();
        let _ = silent.write_all(octets);
        assert_closed(&running, silent);
        let mut gone = running.dial();
        let _ = gone.write_all(octets);
        let _ = gone.shutdown(Shutdown::Write);
        assert_closed(&running, gone);
    }
    eventually("nobody is pending", || running.server.pending() == 0);
    running.assert_serves();
}

#[test]
fn octets_that_come_one_by_one_do_not_outlast_the_deadline() {
    let running = Running::start(hasty());
    let client = running.connect().unwrap();
    let octets = hello(&page(&client), &["h2"]);
    let mut socket = running.dial();
    socket
        .set_read_timeout(Some(Duration::from_millis(20)))
        .unwrap();
    let mut left = octets.iter().cycle();
    eventually("the server closes", || {
        let is_cut = socket.write_all(&[*left.next().unwrap()]).is_err();
        is_cut
            || !matches!(socket.read(&mut [0]), Err(error) if error.kind() == std::io::ErrorKind::WouldBlock)
    });
    assert!(running.web.lock().unwrap().is_empty());
}

#[test]
fn a_session_has_256_connections_for_pages_and_no_more() {
    let running = Running::keyed();
    let client = running.connect().unwrap();
    let octets = hello(&page(&client), &["h2"]);
    let dial = || {
        let mut socket = running.dial();
        socket.write_all(&octets).unwrap();
        socket
    };
    let count = || running.web.lock().unwrap().len();
    let mut near = Vec::new();
    while near.len() < 256 {
        near.push(dial());
        eventually("it is handed over", || count() == near.len());
    }
    let mut refused = dial();
    let _ = refused.read_to_end(&mut Vec::new());
    assert_eq!(count(), 256);
    running.web.lock().unwrap().pop();
    near.push(dial());
    eventually("the place is free again", || count() == 256);
}
