//! The server as browsers and others ask it.

use super::*;
use crate::plan::Carrier;
use futures_util::{SinkExt, StreamExt};
use schema::rrul::Plan;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::atomic::Ordering;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{WebSocketStream, client_async};

/// A server that ends with the test.
struct Serving {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
}

impl Serving {
    fn start(records: &Path) -> Self {
        Self::with(records, short)
    }

    fn with(records: &Path, plans: fn(Carrier) -> Plan) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let page = Box::new(TestPage {
            listener,
            acceptor: None,
            datagrams: None,
            desk: Arc::new(Desk::new(records.to_owned(), plans, guests::untold())),
        });
        let stop = Arc::new(AtomicBool::new(false));
        let raised = Arc::clone(&stop);
        std::thread::spawn(move || page.run(&raised).unwrap());
        Self { address, stop }
    }

    /// The answer to a request, head and body.
    fn ask(&self, path: &str, more: &str) -> String {
        let mut stream = TcpStream::connect(self.address).unwrap();
        let host = self.address;
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{more}\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        // A WebSocket goes on for ever: its head is enough.
        let mut octets = [0; 4_096];
        while let Ok(count @ 1..) = stream.read(&mut octets) {
            answer.extend(&octets[..count]);
            if answer.starts_with(b"HTTP/1.1 101") {
                break;
            }
        }
        String::from_utf8_lossy(&answer).into_owned()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// The plan of the page, in a fraction of a second.
fn short(carrier: Carrier) -> Plan {
    let span = |ms| units::Span(Duration::from_millis(ms));
    let mut plan = plan::plan(carrier);
    plan.web.as_mut().unwrap().before = span(0);
    Plan {
        idle_before: span(100),
        duration: span(500),
        settle: span(100),
        idle_after: span(100),
        ..plan
    }
}

/// One that no machine is too slow for.
fn long(carrier: Carrier) -> Plan {
    Plan {
        duration: units::Span(Duration::from_secs(60)),
        ..short(carrier)
    }
}

const SOCKET: &str = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

#[test]
fn the_page_is_there_and_what_is_not_has_a_line() {
    let place = tempfile::tempdir().unwrap();
    let server = Serving::start(place.path());
    let page = server.ask("/", "");
    assert!(page.starts_with("HTTP/1.1 200"), "{page}");
    assert!(page.contains("content-security-policy: default-src 'none'"));
    for script in [
        "/page.js",
        "/probe.js",
        "/load.js",
        "/visit.js",
        "/style.css",
    ] {
        assert!(page.contains(&script[1..]) || server.ask("/page.js", "").contains(&script[1..]));
        assert!(server.ask(script, "").starts_with("HTTP/1.1 200"));
    }
    for path in [
        "/other",
        "/v1/load/no-run/0",
        "/v1/load/x",
        "/v1/reports/x",
        "/v1/records/x",
    ] {
        assert!(
            server.ask(path, SOCKET).starts_with("HTTP/1.1 404"),
            "{path}"
        );
    }
    assert!(server.ask("/v1/test", "").starts_with("HTTP/1.1 400"));
}

#[test]
fn another_sites_page_cannot_measure_here() {
    let place = tempfile::tempdir().unwrap();
    let server = Serving::start(place.path());
    let foreign = format!("{SOCKET}Origin: http://other.example\r\n");
    assert!(server.ask("/v1/test", &foreign).starts_with("HTTP/1.1 403"));
    let own = format!("{SOCKET}Origin: http://{}\r\n", server.address);
    let accepted = server.ask("/v1/test", &own);
    assert!(accepted.starts_with("HTTP/1.1 101"), "{accepted}");
    // The key of RFC 6455 section 1.3, and its answer there.
    assert!(
        accepted.contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="),
        "{accepted}"
    );
}

/// A conversation with `server` up to its beginning: the socket, and the run's name.
async fn begun(address: SocketAddr) -> (WebSocketStream<tokio::net::TcpStream>, String) {
    let stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let url = format!("ws://{address}/v1/test");
    let (mut socket, _) = client_async(url, stream).await.unwrap();
    let plan = told(&mut socket).await;
    socket.send(Message::text("begin")).await.unwrap();
    assert!(told(&mut socket).await["begun"]["clock_ns"].is_string());
    let run = plan["plan"]["run"].as_str().unwrap().to_owned();
    (socket, run)
}

async fn told(socket: &mut WebSocketStream<tokio::net::TcpStream>) -> serde_json::Value {
    let message = socket.next().await.unwrap().unwrap();
    serde_json::from_str(message.to_text().unwrap()).unwrap()
}

#[tokio::test]
async fn a_run_is_a_conversation_that_ends_with_a_record_and_its_report() {
    let place = tempfile::tempdir().unwrap();
    let server = Serving::start(place.path());
    let (mut socket, run) = begun(server.address).await;
    let probe = Message::binary(vec![7; 16]);
    socket.send(probe).await.unwrap();
    let reply = socket.next().await.unwrap().unwrap().into_data();
    assert!(reply.len() == 24 && reply[..16] == [7; 16]);
    tokio::time::sleep(short(Carrier::WebSocket).total()).await;
    let findings = r#"{"agent": "test", "samples": [[1, 20, 11], [50, 21, 61], [400, 40, 421]],
            "down": [{"stream": 0, "opened": 100, "bins": [0, 9, 9, 9, 9, 9]}], "up": []}"#;
    socket.send(Message::text(findings)).await.unwrap();
    let result = told(&mut socket).await["result"].clone();
    let sentence = result["sentence"].as_str().unwrap();
    assert!(
        sentence.contains("20.5 ms idle, 40.0 ms loaded"),
        "{sentence}"
    );
    // There was no load up: the figures are of a part of the plan, and say so.
    assert_eq!(result["status"], "incomplete");
    let folder = Path::new(result["record"].as_str().unwrap());
    assert_eq!(Record::open(folder).unwrap().run().test, "rrul");
    assert_eq!(result["report"], format!("/v1/reports/{run}"));
    let report = server.ask(&format!("/v1/reports/{run}"), "");
    assert!(report.starts_with("HTTP/1.1 200") && report.contains("ws_rr"));
    let kept = server.ask(&format!("/v1/records/{run}"), "");
    let name = folder.file_name().unwrap().to_str().unwrap();
    assert!(kept.contains(&format!("filename=\"{name}.tar\"")), "{kept}");
    assert!(kept.contains("/run.json"), "{kept}");
}

#[tokio::test]
async fn findings_of_something_else_or_too_early_are_refused_and_keep_nothing() {
    let place = tempfile::tempdir().unwrap();
    let server = Serving::start(place.path());
    let going_on = Serving::with(place.path(), long);
    let right = r#"{"agent": "", "samples": [], "down": [], "up": []}"#;
    for (words, server, waits) in [
        ("nonsense", &server, true),
        ("{}", &server, true),
        ("begin", &server, true),
        (right, &going_on, false),
    ] {
        let (mut socket, _) = begun(server.address).await;
        if waits {
            tokio::time::sleep(short(Carrier::WebSocket).total()).await;
        }
        socket.send(Message::text(words)).await.unwrap();
        let answer = socket.next().await;
        if let Some(Ok(Message::Text(text))) = answer {
            assert!(text.contains("refused"), "{text}");
        }
    }
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn a_stream_of_load_carries_octets_while_its_run_goes_on() {
    let place = tempfile::tempdir().unwrap();
    let server = Serving::with(place.path(), long);
    let (socket, run) = begun(server.address).await;
    let stream = tokio::net::TcpStream::connect(server.address)
        .await
        .unwrap();
    let url = format!("ws://{}/v1/load/{run}/0", server.address);
    let (mut load, _) = client_async(url.as_str(), stream).await.unwrap();
    let mut octets = 0;
    while octets < 1 << 20 {
        octets += load.next().await.unwrap().unwrap().len();
    }
    // Whoever leaves ends the run, and its load.
    drop(socket);
    while let Some(Ok(_)) = load.next().await {}
    assert!(
        server
            .ask(&format!("/v1/load/{run}/2"), SOCKET)
            .starts_with("HTTP/1.1 404")
    );
}

/// The answer to a request on a connection that stays open: its head, and how many octets follow.
async fn asked(stream: &mut tokio::net::TcpStream, path: &str) -> (String, usize) {
    let request = format!("GET {path} HTTP/1.1\r\nHost: server\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    let head = String::from_utf8(head).unwrap();
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "));
    let length: usize = length.unwrap().parse().unwrap();
    stream.read_exact(&mut vec![0; length]).await.unwrap();
    (head, length)
}

#[tokio::test]
async fn a_page_has_connections_of_its_own_until_its_load_is_over() {
    let place = tempfile::tempdir().unwrap();
    let server = Serving::with(place.path(), long);
    let (mut socket, run) = begun(server.address).await;
    let mut stream = tokio::net::TcpStream::connect(server.address)
        .await
        .unwrap();
    let model = web::PageModel::find("small").unwrap();
    for (number, object) in (0..).zip(model.objects()) {
        let path = format!("/v1/pages/{run}/0{}", model.path(number));
        let (head, length) = asked(&mut stream, &path).await;
        assert!(
            head.starts_with("HTTP/1.1 200") && head.contains("no-store"),
            "{head}"
        );
        assert_eq!(length as u64, object.size.get(), "{path}");
    }
    for path in ["0/99.css", "0/1.js", "x/1.css", "0", ""] {
        let (head, _) = asked(&mut stream, &format!("/v1/pages/{run}/{path}")).await;
        assert!(head.starts_with("HTTP/1.1 404"), "{path}: {head}");
        stream = tokio::net::TcpStream::connect(server.address)
            .await
            .unwrap();
    }
    // What is over is an earlier load, and then this one.
    asked(&mut stream, &format!("/v1/pages/{run}/1/")).await;
    socket.send(Message::text("page over 0")).await.unwrap();
    assert_eq!(told(&mut socket).await["closed"], 0);
    asked(&mut stream, &format!("/v1/pages/{run}/1/1.css")).await;
    socket.send(Message::text("page over 1")).await.unwrap();
    assert_eq!(told(&mut socket).await["closed"], 1);
    assert_eq!(stream.read(&mut [0]).await.unwrap(), 0);
    let (head, _) = asked(
        &mut tokio::net::TcpStream::connect(server.address)
            .await
            .unwrap(),
        "/v1/pages/no-run/0/",
    )
    .await;
    assert!(head.starts_with("HTTP/1.1 404"), "{head}");
}

#[tokio::test]
async fn a_websocket_is_a_connection_like_any_other() {
    let place = tempfile::tempdir().unwrap();
    let server = Serving::with(place.path(), long);
    let _run = begun(server.address).await;
    let connect = || TcpStream::connect(server.address).unwrap();
    let _others: Vec<_> = (1..LIMITS.most_from_one).map(|_| connect()).collect();
    let mut one_more = connect();
    let waits = Duration::from_secs(5);
    one_more.set_read_timeout(Some(waits)).unwrap();
    assert_eq!(one_more.read(&mut [0]).unwrap(), 0);
}
