//! Both ends of ndt7 on loopback, and what its server does not do.

use super::client::{Dialer, Event, Load};
use super::server::Server;
use crate::guests::untold;
use crate::websocket::filler;
use crate::{Credentials, Trust};
use far_ends::ndt7::{MessageSize, SUBPROTOCOL, Test};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use sys::clock;

struct Serving {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Serving {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let own = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let (chain, key) = (own.cert.der(), own.signing_key.serialize_der());
        let credentials = Credentials::from_der(chain, &key).unwrap();
        let server = Server::new(listener, &credentials, 7, untold()).unwrap();
        let address = server.local_addr().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let raised = Arc::clone(&stop);
        let thread = Some(std::thread::spawn(move || server.run(&raised).unwrap()));
        Self {
            address,
            stop,
            thread,
        }
    }

    fn dialer(&self) -> Dialer {
        Dialer::new(&self.address.to_string(), &Trust::Anybody).unwrap()
    }

    fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).unwrap()
    }

    /// The answer to a request.
    fn answer(&self, path: &str, headers: &[&str]) -> String {
        let mut curl = std::process::Command::new("curl");
        curl.args(["-ksi", "--http1.1", "--max-time", "5"]);
        for header in headers {
            curl.args(["-H", header]);
        }
        let out = curl.arg(format!("https://{}{path}", self.address)).output();
        String::from_utf8_lossy(&out.unwrap().stdout).into_owned()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let ended = self.thread.take().map(JoinHandle::join);
        assert!(ended.unwrap().is_ok() || std::thread::panicking());
    }
}

/// What is heard of so many connections in so long.
fn carried(server: &Serving, tests: &[Test], time: Duration) -> (Vec<Event>, Vec<String>) {
    let (until, filler) = (clock::now() + time, filler(9, MessageSize::LONGEST));
    let carry = |test| {
        let mut heard = Vec::new();
        let load = Load {
            until,
            abort: &|| false,
            filler: &filler,
        };
        let ended = server
            .dialer()
            .carry(test, server.connect(), load, &mut |event| heard.push(event));
        (heard, ended.err())
    };
    let done: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = tests
            .iter()
            .map(|test| scope.spawn(|| carry(*test)))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    let (heard, failed): (Vec<_>, Vec<_>) = done.into_iter().unzip();
    (
        heard.into_iter().flatten().collect(),
        failed.into_iter().flatten().collect(),
    )
}

#[test]
fn a_server_sends_takes_and_tells_what_it_counts() {
    let server = Serving::start();
    server
        .dialer()
        .try_out(server.connect(), &|| false)
        .unwrap();
    let both = [Test::Download, Test::Upload];
    let (heard, failed) = carried(&server, &both, Duration::from_secs(2));
    assert!(failed.is_empty(), "{failed:?}");
    let begun = heard.iter().filter(|event| matches!(event, Event::Begun));
    assert_eq!(begun.count(), 2);
    let received = heard.iter().map(|event| match event {
        Event::Received(octets) => *octets,
        _ => 0,
    });
    assert!(received.sum::<usize>() > 1 << 20);
    for test in both {
        let mut told = heard.iter().filter_map(|event| match event {
            Event::Told(told) if told.test == Some(test) => Some(told),
            _ => None,
        });
        let last = told.next_back().unwrap();
        assert!(last.app_info.unwrap().num_bytes > 1 << 16, "{last:?}");
        let address = server.address.to_string();
        assert_eq!(last.connection_info.as_ref().unwrap().server, address);
        let tcp = last.tcp_info.unwrap();
        let counted = match test {
            Test::Download => tcp.bytes_sent,
            Test::Upload => tcp.bytes_received,
        };
        assert!(counted > Some(1 << 16), "{last:?}");
    }
}

#[test]
fn so_many_tests_from_one_address_and_no_more() {
    let server = Serving::start();
    let (heard, failed) = carried(&server, &[Test::Upload; 5], Duration::from_secs(1));
    assert_eq!(failed.len(), 1, "{failed:?}");
    assert!(failed[0].contains("503"), "{failed:?}");
    let begun = heard.iter().filter(|event| matches!(event, Event::Begun));
    assert_eq!(begun.count(), 4);
}

#[test]
fn what_is_no_test_is_refused() {
    let server = Serving::start();
    let websocket = [
        "Connection: Upgrade",
        "Upgrade: websocket",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    ];
    let path = Test::Download.path();
    let answer = server.answer("/", &websocket);
    assert!(answer.starts_with("HTTP/1.1 404"), "{answer}");
    let answer = server.answer(path, &[]);
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    let answer = server.answer(&format!("{path}?a=%zz"), &websocket);
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    let older = websocket.map(|header| header.replace("13", "8"));
    let answer = server.answer(path, &older.each_ref().map(|header| &**header));
    assert!(answer.starts_with("HTTP/1.1 426"), "{answer}");
    assert!(
        answer.to_lowercase().contains("sec-websocket-version: 13"),
        "{answer}"
    );
    // Of another protocol, or of none.
    let answer = server.answer(path, &websocket);
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    let other = "Sec-WebSocket-Protocol: chat";
    let answer = server.answer(path, &[&websocket[..], &[other]].concat());
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    // The example of RFC 6455 section 1.3.
    let offered = format!("Sec-WebSocket-Protocol: chat, {SUBPROTOCOL}");
    let answer = server.answer(
        Test::Upload.path(),
        &[&websocket[..], &[&*offered]].concat(),
    );
    assert!(answer.starts_with("HTTP/1.1 101"), "{answer}");
    assert!(answer.contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="), "{answer}");
}

#[test]
fn who_is_no_server_is_told_from_who_is_not_trusted() {
    let server = Serving::start();
    let dialer = Dialer::new(&server.address.to_string(), &Trust::System);
    // A system without authorities trusts nobody.
    let refused = dialer.and_then(|dialer| dialer.try_out(server.connect(), &|| false));
    assert!(refused.unwrap_err().contains("certificate"));
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let stream = TcpStream::connect(silent.local_addr().unwrap()).unwrap();
    drop(silent.accept().unwrap());
    let ended = server.dialer().try_out(stream, &|| false).unwrap_err();
    assert!(ended.contains("is an ndt7 server there?"), "{ended}");
    // Whoever says nothing is not waited for once this program is to stop.
    let stream = TcpStream::connect(silent.local_addr().unwrap()).unwrap();
    let stopped = server.dialer().try_out(stream, &|| true).unwrap_err();
    assert!(stopped.contains("in time"), "{stopped}");
    for host in ["", "a b", "[::1", "h:0"] {
        assert!(Dialer::new(host, &Trust::Anybody).is_err(), "{host}");
    }
}
