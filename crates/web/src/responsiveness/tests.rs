//! Our client and our server on loopback, by either version of HTTP.

use super::client::{Dialer, Link};
use super::server::Server;
use crate::{Credentials, Trust};
use far_ends::nq::{Configuration, LONGEST, Origin, WELL_KNOWN};
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::time::timeout;
use units::HttpVersion;

const BOTH: [HttpVersion; 2] = [HttpVersion::H2, HttpVersion::H3];
const PATIENCE: Duration = Duration::from_secs(20);

struct Serving {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Serving {
    fn start() -> Self {
        // A port that is free for both.
        let pair = || {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let socket = UdpSocket::bind(listener.local_addr().unwrap()).ok()?;
            Some((listener, socket))
        };
        let (listener, socket) = std::iter::repeat_with(pair).flatten().next().unwrap();
        let own = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let (chain, key) = (own.cert.der(), own.signing_key.serialize_der());
        let credentials = Credentials::from_der(chain, &key).unwrap();
        let server = Server::new(listener, socket, &credentials).unwrap();
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

    fn dialer(&self, trust: &Trust, http: HttpVersion) -> Result<Dialer, String> {
        let url = format!("https://localhost:{}/", self.address.port());
        let (origin, _) = Origin::of(&url).unwrap();
        Dialer::new(self.address, origin, trust, http)
    }

    async fn link(&self, http: HttpVersion) -> Link {
        let dialer = self.dialer(&Trust::Anybody, http).unwrap();
        let opened = dialer.open().await.unwrap();
        assert_eq!(opened.tcp.is_none(), http == HttpVersion::H3);
        assert!(opened.tls > Duration::ZERO);
        opened.link
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let ended = self.thread.take().map(JoinHandle::join);
        assert!(ended.unwrap().is_ok() || std::thread::panicking());
    }
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    crate::guests::runtime().unwrap().block_on(work)
}

#[test]
fn either_version_has_the_configuration_one_octet_and_refusals() {
    let server = Serving::start();
    for http in BOTH {
        block_on(async {
            let link = server.link(http).await;
            let text = link.fetch(WELL_KNOWN, LONGEST).await.unwrap();
            let configuration = Configuration::read(&text).unwrap();
            assert_eq!(configuration.origin.port, server.address.port());
            assert_eq!(link.fetch(&configuration.small, 9).await.unwrap().len(), 1);
            assert!(link.ask(&configuration.small).await.unwrap() > Duration::ZERO);
            let refused = link.fetch("/nothing", 9).await.unwrap_err();
            assert!(refused.contains("404"), "{refused}");
            let long = link.fetch(WELL_KNOWN, 9).await.unwrap_err();
            assert!(long.contains("more than 9 octets"), "{long}");
        });
    }
}

#[test]
fn either_version_carries_load_both_ways_and_requests_beside_it() {
    let server = Serving::start();
    for http in BOTH {
        block_on(async {
            let link = server.link(http).await;
            for is_down in [true, false] {
                let counter = Arc::new(AtomicU64::new(0));
                let (loading, octets) = (link.clone(), Arc::clone(&counter));
                let load = tokio::spawn(async move {
                    if is_down {
                        loading.download("/large".to_owned(), octets).await
                    } else {
                        loading.upload("/upload".to_owned(), octets).await
                    }
                });
                let enough = async {
                    while counter.load(Ordering::Relaxed) < 4 << 20 {
                        tokio::time::sleep(Duration::from_millis(1)).await;
                    }
                };
                timeout(PATIENCE, enough).await.unwrap();
                let beside = timeout(PATIENCE, link.ask("/small")).await;
                assert!(matches!(beside, Ok(Ok(_))), "{http} {is_down}: {beside:?}");
                assert!(!load.is_finished(), "{http} {is_down}");
                load.abort();
            }
        });
    }
}

#[test]
fn whose_certificate_is_not_believed_is_told_and_what_to_do() {
    let server = Serving::start();
    for http in BOTH {
        let Ok(dialer) = server.dialer(&Trust::System, http) else {
            // A system without authorities believes nobody.
            continue;
        };
        let refused = block_on(dialer.open()).err().unwrap();
        assert!(refused.contains("--insecure"), "{refused}");
        assert!(!refused.contains('\n'), "{refused}");
    }
}

#[test]
fn strangers_from_one_host_take_no_more_than_its_share() {
    let server = Serving::start();
    block_on(async {
        let mut kept = Vec::new();
        for _ in 0..200 {
            let dialer = server.dialer(&Trust::Anybody, HttpVersion::H3).unwrap();
            let Ok(opened) = timeout(PATIENCE, dialer.open()).await.unwrap() else {
                break;
            };
            kept.push(opened);
        }
        // Of one address.
        assert_eq!(kept.len(), 128);
        kept.pop();
        let again = async {
            while server
                .dialer(&Trust::Anybody, HttpVersion::H3)
                .unwrap()
                .open()
                .await
                .is_err()
            {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        timeout(PATIENCE, again).await.unwrap();
    });
}
