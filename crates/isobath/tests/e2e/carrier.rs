//! Somebody on the path between two hosts who carries all, or not all, or more.

use crate::support::{Running, isobath};
use crate::two_hosts::Server;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Somebody on the path between a client and a server: carries all, and may do more.
pub(crate) struct Carrier {
    pub(crate) host: String,
    /// Datagrams longer than this do not pass.
    pub(crate) longest: Arc<AtomicU64>,
    /// Whether garbage, tampered copies and copies are added to what passes.
    pub(crate) mischief: Arc<AtomicBool>,
}

impl Carrier {
    /// A path to the server at `host`.
    pub(crate) fn to(server: &str) -> Self {
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = tcp.local_addr().unwrap();
        let udp = Arc::new(UdpSocket::bind(address).unwrap());
        let (longest, mischief) = (Arc::new(AtomicU64::new(u64::MAX)), Arc::default());
        let path = Self {
            host: address.to_string(),
            longest: Arc::clone(&longest),
            mischief: Arc::clone(&mischief),
        };
        let to = server.to_owned();
        std::thread::spawn(move || {
            for near in tcp.incoming().map_while(Result::ok) {
                let Ok(far) = TcpStream::connect(&to) else {
                    return;
                };
                let (mut near_in, mut far_in) =
                    (near.try_clone().unwrap(), far.try_clone().unwrap());
                let (mut near, mut far) = (near, far);
                std::thread::spawn(move || std::io::copy(&mut near_in, &mut far));
                std::thread::spawn(move || {
                    let _ = std::io::copy(&mut far_in, &mut near);
                    let _ = near.shutdown(std::net::Shutdown::Both);
                });
            }
        });
        let server = server.to_owned();
        std::thread::spawn(move || carry(&udp, &server, &longest, &mischief));
        path
    }
}

/// Carries datagrams of one client after the other; each has a socket towards the server.
fn carry(near: &Arc<UdpSocket>, server: &str, longest: &Arc<AtomicU64>, mischief: &AtomicBool) {
    let mut client = None;
    let mut far: Option<Arc<UdpSocket>> = None;
    let mut buffer = [0; 2_048];
    while let Ok((length, from)) = near.recv_from(&mut buffer) {
        if client != Some(from) {
            client = Some(from);
            let socket = Arc::new(UdpSocket::bind("127.0.0.1:0").unwrap());
            socket.connect(server).unwrap();
            far = Some(Arc::clone(&socket));
            let near = Arc::clone(near);
            std::thread::spawn(move || {
                let mut buffer = [0; 2_048];
                while let Ok(length) = socket.recv(&mut buffer) {
                    let _ = near.send_to(&buffer[..length], from);
                }
            });
        }
        let Some(far) = &far else { continue };
        if length as u64 > longest.load(Ordering::Relaxed) {
            continue;
        }
        let _ = far.send(&buffer[..length]);
        if mischief.load(Ordering::Relaxed) {
            let _ = far.send(&buffer[..length]);
            let _ = far.send(b"ISOB\x01\x04 and nothing that makes sense");
            buffer[15] ^= 1;
            let _ = far.send(&buffer[..length]);
            let stranger = UdpSocket::bind("127.0.0.1:0").unwrap();
            buffer[15] ^= 1;
            let _ = stranger.send_to(&buffer[..length], server);
        }
    }
}

/// Runs `isobath btc` through `path` with `more`; the record is in `r`.
pub(crate) fn through(path: &Carrier, server: &Server, place: &Path, more: &[&str]) -> Running {
    let common = [
        "btc",
        &path.host,
        "--key",
        &server.key,
        "-q",
        "--json",
        "-o",
        "r",
    ];
    Running::start(isobath(place, &[&common, more].concat()))
}
