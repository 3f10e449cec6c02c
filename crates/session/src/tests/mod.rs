//! Two hosts on the loopback interface. What is asserted is what happened, never how long it took:
//! waits have generous ends that only a failure reaches.

mod clients;
mod hostile;
mod streams;
mod web;

use crate::{
    AccessKey, Admission, Client, Control, Error, Identity, Server, ServerConfig, Service, Session,
    Slot, connect,
};
use serde_json::{Value, json};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// Longer than anything takes here.
const LONG: Duration = Duration::from_secs(20);

/// Echoes every line; ends with the client. Keeps connections for web pages.
#[derive(Default)]
struct Echo {
    web: Arc<Mutex<Vec<Handed>>>,
}

/// A connection for a web page.
struct Handed {
    socket: TcpStream,
    session: Arc<Session>,
    _slot: Slot,
}

impl Service for Echo {
    fn serve(&self, mut control: Control, session: Arc<Session>) {
        while let Ok(line) = control.recv::<Value>(LONG) {
            let answer = match line.as_str() {
                Some("panic") => panic!("asked to"),
                Some("stream") => next_stream(&session),
                _ => line,
            };
            if control.send(&answer).is_err() {
                break;
            }
        }
    }

    fn web(&self, socket: TcpStream, session: Arc<Session>, slot: Slot) {
        self.web.lock().unwrap().push(Handed {
            socket,
            session,
            _slot: slot,
        });
    }

    fn host_facts(&self) -> Value {
        json!({ "kernel": "test" })
    }
}

/// What the next data stream said of itself.
fn next_stream(session: &Session) -> Value {
    let Some(stream) = session.next_stream(LONG) else {
        return Value::Null;
    };
    json!([stream.preamble.stream, stream.preamble.kind])
}

/// A server that runs until it is dropped, on a port of the system's choice.
struct Running {
    server: Arc<Server>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    key: AccessKey,
    web: Arc<Mutex<Vec<Handed>>>,
}

impl Running {
    fn start(config: ServerConfig) -> Self {
        let key = config.identity.key();
        let server = Arc::new(Server::bind(config).unwrap());
        let stop = Arc::new(AtomicBool::new(false));
        let echo = Arc::new(Echo::default());
        let web = Arc::clone(&echo.web);
        let thread = {
            let (server, stop) = (Arc::clone(&server), Arc::clone(&stop));
            std::thread::spawn(move || server.run(&echo, &stop))
        };
        Self {
            server,
            stop,
            thread: Some(thread),
            key,
            web,
        }
    }

    fn keyed() -> Self {
        Self::start(config())
    }

    fn host(&self) -> String {
        format!("127.0.0.1:{}", self.server.local_addr().port())
    }

    fn address(&self) -> SocketAddr {
        self.host().parse().unwrap()
    }

    fn connect(&self) -> Result<Client, Error> {
        connect(&self.host(), None, Some(&self.key), LONG)
    }

    /// A bare TCP connection.
    fn dial(&self) -> TcpStream {
        let socket = TcpStream::connect(self.address()).unwrap();
        socket.set_read_timeout(Some(LONG)).unwrap();
        socket
    }

    fn is_idle(&self) -> bool {
        self.server.pending() == 0 && self.server.sessions().is_empty()
    }

    /// That a client is served as if nothing had happened.
    #[track_caller]
    fn assert_serves(&self) {
        let mut client = self.connect().unwrap();
        client.control.send(&"still there?").unwrap();
        let answer: String = client.control.recv(LONG).unwrap();
        assert_eq!(answer, "still there?");
    }

    /// Stops the server, and fails if its accept loop panicked.
    fn end(mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn config() -> ServerConfig {
    ServerConfig::keyed(Identity::generate().unwrap(), 0)
}

/// A server that gives up on a handshake soon.
fn hasty() -> ServerConfig {
    ServerConfig {
        admission: Admission {
            handshake: Duration::from_millis(300),
            ..Admission::KEYED
        },
        ..config()
    }
}

#[track_caller]
fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let end = sys::clock::now() + LONG;
    while !holds() {
        assert!(sys::clock::now() < end, "never happened: {what}");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}
