//! A server of pages on the loopback interface, as the far end runs one: a listener, a resolver, and
//! one published page.
#![allow(dead_code, reason = "each test uses a part of it")]

use isobath_web::{PageModel, Published, Site, Target, dns, fingerprint};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use units::Dscp;

pub(crate) const TOKEN: u64 = 0x0123_4567_89ab_cdef;
/// Longer than anything takes here.
pub(crate) const LONG: Duration = Duration::from_secs(20);
const TICK: Duration = Duration::from_millis(20);

pub(crate) struct Stand {
    pub(crate) site: Arc<Site>,
    pub(crate) target: Target,
    /// Connections that were accepted.
    pub(crate) accepted: Arc<AtomicUsize>,
    /// Questions that were answered.
    pub(crate) asked: Arc<AtomicUsize>,
    /// Questions that go unanswered from now on.
    pub(crate) deaf: Arc<AtomicUsize>,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

/// A port that is free for TCP may be taken for UDP: then another is tried.
fn same_port() -> (TcpListener, sys::udp::UdpSocket) {
    let pairs = std::iter::repeat_with(|| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let quic = sys::udp::UdpSocket::bind(listener.local_addr().unwrap());
        quic.map(|quic| (listener, quic))
    });
    let mut free = pairs.take(20).filter_map(Result::ok);
    free.next()
        .expect("some port is free for both, which 20 were not")
}

impl Stand {
    pub(crate) fn new() -> Self {
        let made = rcgen::generate_simple_self_signed(vec!["isobath".to_owned()]).unwrap();
        let certificate = made.cert.der().to_vec();
        let (listener, quic) = same_port();
        let key = made.signing_key.serialize_der();
        let site = Site::start(&certificate, &key, Some(Arc::new(quic))).unwrap();
        let resolver = UdpSocket::bind("127.0.0.1:0").unwrap();
        let mut stand = Self {
            site: Arc::new(site),
            target: Target {
                peer: listener.local_addr().unwrap(),
                resolver: resolver.local_addr().unwrap(),
                token: TOKEN,
                fingerprint: fingerprint(&certificate),
                dscp: Dscp::CS0,
            },
            accepted: Arc::default(),
            asked: Arc::default(),
            deaf: Arc::default(),
            stop: Arc::default(),
            threads: Vec::new(),
        };
        stand.listen(listener);
        stand.resolve(resolver);
        stand
    }

    pub(crate) fn publish(&self, name: &str) -> (PageModel, Published) {
        let model = PageModel::find(name).unwrap();
        let published = self
            .site
            .publish(TOKEN, Ipv4Addr::LOCALHOST.into(), model.clone());
        (model, published)
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.target.peer
    }

    fn listen(&mut self, listener: TcpListener) {
        let (site, stop) = (Arc::clone(&self.site), Arc::clone(&self.stop));
        let accepted = Arc::clone(&self.accepted);
        self.threads.push(std::thread::spawn(move || {
            for socket in listener.incoming() {
                if stop.load(Ordering::Relaxed) {
                    return;
                }
                accepted.fetch_add(1, Ordering::Relaxed);
                site.take(socket.unwrap(), TOKEN, ());
            }
        }));
    }

    fn resolve(&mut self, socket: UdpSocket) {
        let (stop, asked) = (Arc::clone(&self.stop), Arc::clone(&self.asked));
        let deaf = Arc::clone(&self.deaf);
        socket.set_read_timeout(Some(TICK)).unwrap();
        self.threads.push(std::thread::spawn(move || {
            let (mut buffer, mut out) = ([0; 2_048], Vec::new());
            let local = socket.local_addr().unwrap().ip();
            while !stop.load(Ordering::Relaxed) {
                let Ok((count, peer)) = socket.recv_from(&mut buffer) else {
                    continue;
                };
                let less = |left: usize| left.checked_sub(1);
                let is_lost = deaf.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
                if is_lost.is_ok() {
                    continue;
                }
                if dns::answer(&buffer[..count], |token| token == TOKEN, local, &mut out) {
                    asked.fetch_add(1, Ordering::Relaxed);
                    socket.send_to(&out, peer).unwrap();
                }
            }
        }));
    }
}

impl Drop for Stand {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // Wakes the listener.
        let _ = TcpStream::connect(self.target.peer);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}
