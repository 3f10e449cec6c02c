//! Sessions with a client that is not a browser.

use super::*;
use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use units::Dscp;

/// A server that returns datagrams, until the test is over.
struct Echo {
    address: SocketAddr,
    hash: [u8; 32],
    stop: Arc<AtomicBool>,
}

impl Echo {
    fn start() -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let address = socket.local_addr().unwrap();
        let server = Server::new(socket).unwrap();
        let hash = server.certificate_hash().get();
        let stop = Arc::new(AtomicBool::new(false));
        let raised = Arc::clone(&stop);
        std::thread::spawn(move || {
            let limits = Limits {
                most: 8,
                most_from_one: 8,
                longest: Duration::from_secs(60),
            };
            let echo = async |mut session: Session| {
                while let Some(datagram) = session.next().await {
                    let path = session.path.as_bytes();
                    session.sender.send([path, &datagram].concat().into());
                }
            };
            server.run(limits, &raised, echo).unwrap();
        });
        Self {
            address,
            hash,
            stop,
        }
    }

    /// What is answered to a request, and to a datagram when that is a session.
    async fn ask(&self, request: Request<()>) -> (StatusCode, Option<Bytes>) {
        let config = tls::client_config(self.hash, tls::alpn(HttpVersion::H3)).unwrap();
        let open = quic::connect(self.address, "isobath", &config, WINDOWS, Dscp::CS0);
        let open = open.await.unwrap();
        let connection = h3_quinn::Connection::new(open.0.clone());
        let mut builder = h3::client::builder();
        builder.enable_datagram(true).enable_extended_connect(true);
        let (driver, mut requests) = builder.build::<_, _, Bytes>(connection).await.unwrap();
        let mut stream = requests.send_request(request).await.unwrap();
        let status = stream.recv_response().await.unwrap().status();
        if status != StatusCode::OK {
            return (status, None);
        }
        let mut reader = driver.get_datagram_reader();
        let mut sender = driver.get_datagram_sender(stream.id());
        sender.send_datagram(Bytes::from_static(b"ping")).unwrap();
        let mut reply = reader.read_datagram().await.unwrap().into_payload();
        (status, Some(reply.copy_to_bytes(reply.remaining())))
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// A CONNECT as a browser on a page of `origin` has it.
fn connect(address: SocketAddr, origin: &str) -> Request<()> {
    let uri: Uri = format!("https://{address}/v1/x").parse().unwrap();
    let request = Request::connect(uri).header(ORIGIN, origin);
    request.extension(Protocol::WEB_TRANSPORT).body(()).unwrap()
}

#[tokio::test]
async fn a_session_of_the_own_page_carries_datagrams_both_ways() {
    let server = Echo::start();
    let origin = format!("https://{}", server.address);
    let (status, reply) = server.ask(connect(server.address, &origin)).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(&reply.unwrap()[..], b"/v1/xping");
}

#[tokio::test]
async fn other_pages_and_other_requests_get_no_session() {
    let server = Echo::start();
    let foreign = connect(server.address, "https://other.example");
    assert_eq!(server.ask(foreign).await, (StatusCode::FORBIDDEN, None));
    let get = Request::get(format!("https://{}/", server.address));
    let get = get.body(()).unwrap();
    assert_eq!(server.ask(get).await, (StatusCode::BAD_REQUEST, None));
}
