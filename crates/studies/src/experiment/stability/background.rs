//! Other people's traffic: the kernel's TCP, on and off.

use lab::Network;
use serde::{Deserialize, Serialize};
use stats::random::SplitMix64;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Scope;
use std::time::Duration;
use sys::{clock, tcp};
use units::Span;

/// Where the first listens; the others on the ports behind it.
const PORT: u16 = 5_001;
/// How often a stop is looked for.
const LOOK: Duration = Duration::from_millis(100);
/// How long a connection may take to come about.
const PATIENCE: Duration = Duration::from_secs(5);
/// Octets in a call.
const CHUNK: usize = 16 * 1_024;

/// One source of traffic.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Background {
    /// Who sends.
    pub(super) from: String,
    /// Who receives.
    pub(super) to: String,
    /// Mean of the exponential time that it sends as fast as TCP lets it.
    on: Span,
    /// Mean of the exponential time that it is silent.
    off: Span,
}

/// Starts all of `sources` in threads that end when `stop` is raised.
///
/// # Errors
///
/// When a host is missing or its port is taken.
pub(super) fn start<'scope>(
    scope: &'scope Scope<'scope, '_>,
    network: &'scope Network,
    sources: &'scope [Background],
    seed: u64,
    stop: &'scope AtomicBool,
) -> anyhow::Result<()> {
    for (index, source) in (0_u16..).zip(sources) {
        let port = PORT.saturating_add(index);
        let (from, to) = (network.node(&source.from)?, network.node(&source.to)?);
        let listener = to.run(|| listen(port))?;
        let address = network
            .address(&source.to, false)
            .map(|ip| SocketAddr::new(ip, port));
        scope.spawn(move || drain(&listener, stop));
        let mut chance = SplitMix64::new(seed.wrapping_add(1_000 + u64::from(index)));
        if let Some(address) = address {
            scope.spawn(move || {
                if from.enter().is_ok() {
                    source.send(address, &mut chance, stop);
                }
            });
        }
    }
    Ok(())
}

fn listen(port: u16) -> Result<TcpListener, sys::Error> {
    let bind = || -> std::io::Result<TcpListener> {
        let listener = tcp::listen((Ipv4Addr::UNSPECIFIED, port).into())?;
        listener.set_nonblocking(true)?;
        Ok(listener)
    };
    bind().map_err(|error| sys::Error::io("listen on", format!("port {port}"), error))
}

/// Takes one connection after the other and reads it to its end.
fn drain(listener: &TcpListener, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        match listener.accept() {
            Ok((stream, _)) => read(stream, stop),
            Err(_) => clock::sleep_until(clock::now() + LOOK),
        }
    }
}

fn read(mut stream: TcpStream, stop: &AtomicBool) {
    let mut buffer = vec![0; 4 * CHUNK];
    let is_set = stream
        .set_nonblocking(false)
        .and_then(|()| stream.set_read_timeout(Some(LOOK)));
    while is_set.is_ok() && !stop.load(Ordering::Relaxed) {
        match stream.read(&mut buffer) {
            Ok(0) => return,
            Err(error) if !is_patience(error.kind()) => return,
            _ => {}
        }
    }
}

fn is_patience(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
    )
}

impl Background {
    fn send(&self, address: SocketAddr, chance: &mut SplitMix64, stop: &AtomicBool) {
        let mut draw =
            |mean: Span| Duration::from_secs_f64(chance.exponential(mean.0.as_secs_f64()));
        while !stop.load(Ordering::Relaxed) {
            let silent = clock::now() + draw(self.off);
            while clock::now() < silent && !stop.load(Ordering::Relaxed) {
                clock::sleep_until(silent.min(clock::now() + LOOK));
            }
            // A connection that does not come about is traffic that is not there.
            if let Ok(stream) = tcp::connect(address, PATIENCE) {
                fill(stream, draw(self.on), stop);
            }
        }
    }
}

/// Writes as fast as the kernel takes it.
fn fill(mut stream: TcpStream, time: Duration, stop: &AtomicBool) {
    let buffer = [0; CHUNK];
    let end = clock::now() + time;
    let is_set = stream.set_write_timeout(Some(LOOK));
    while is_set.is_ok() && clock::now() < end && !stop.load(Ordering::Relaxed) {
        match stream.write(&buffer) {
            Err(error) if !is_patience(error.kind()) => return,
            _ => {}
        }
    }
}
