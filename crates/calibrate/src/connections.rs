//! How many TCP connections a second this machine opens and closes through the emulator.

use super::PORT;
use anyhow::Context;
use kit::stream::{PATIENCE, is_timeout};
use lab::Network;
use socket2::SockRef;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;
use sys::{Error, clock};
use units::Instant;

/// Connections in progress at a time. Each takes a round trip of 2 ms, so these could be 16,000 a second.
const CLIENTS: u16 = 32;
/// Ports at the far end, each with a thread: a connection that was closed keeps its pair of ports for a minute.
const SERVERS: u16 = 4;

/// Connections per second that were opened and closed.
pub(super) fn measure(
    network: &Network,
    time: Duration,
    abort: &(dyn Fn() -> bool + Sync),
) -> anyhow::Result<f64> {
    let topology = network.topology();
    let address = network.address(&topology.server, false);
    let address = address.context("the far host has no address")?;
    let listeners = network.node(&topology.server)?.run(|| {
        (0..SERVERS)
            .map(|n| listen(address, n))
            .collect::<Result<Vec<_>, _>>()
    })?;
    let client = network.node(&topology.client)?;
    let start = clock::now();
    let end = start + time;
    let made = AtomicU64::new(0);
    let failure = thread::scope(|scope| {
        for listener in &listeners {
            scope.spawn(move || accept(listener, end, abort));
        }
        let clients: Vec<_> = (0..CLIENTS)
            .map(|n| {
                let to = SocketAddr::new(address, PORT + n % SERVERS);
                let made = &made;
                scope.spawn(move || client.enter().and_then(|()| connect(to, made, end, abort)))
            })
            .collect();
        let mut ended = clients.into_iter().map(thread::ScopedJoinHandle::join);
        ended.find_map(|result| result.ok()?.err())
    });
    let made = made.load(Ordering::Relaxed);
    // One that fails among thousands is the machine's limit, which is what is looked for.
    match failure {
        Some(error) if made == 0 => Err(error.into()),
        _ => Ok(made as f64 / clock::now().min(end).since(start).as_secs_f64().max(1e-9)),
    }
}

fn listen(address: IpAddr, n: u16) -> Result<TcpListener, Error> {
    let local = SocketAddr::new(address, PORT + n);
    let made = TcpListener::bind(local).and_then(|listener| {
        // On a listener this is how long an accept waits.
        SockRef::from(&listener).set_read_timeout(Some(PATIENCE))?;
        Ok(listener)
    });
    made.map_err(|e| Error::io("listen on", local.to_string(), e))
}

/// Opens and closes connections one after the other until `end`.
fn connect(
    to: SocketAddr,
    made: &AtomicU64,
    end: Instant,
    abort: &(dyn Fn() -> bool + Sync),
) -> Result<(), Error> {
    while clock::now() < end && !abort() {
        TcpStream::connect(to).map_err(|e| Error::io("connect to", to.to_string(), e))?;
        made.fetch_add(u64::from(clock::now() < end), Ordering::Relaxed);
    }
    Ok(())
}

/// Accepts connections and closes them at once, until `end` and until nobody waits.
fn accept(listener: &TcpListener, end: Instant, abort: &(dyn Fn() -> bool + Sync)) {
    loop {
        match listener.accept() {
            Ok(_) => {}
            Err(error) if is_timeout(&error) && clock::now() < end && !abort() => {}
            Err(_) => return,
        }
    }
}
