//! How many packets the emulator moves: small datagrams through the lab.
//!
//! A sender that only pushes would spend the machine on packets that are dropped before the emulator sees them, and starve
//! it. This one keeps a bounded number of datagrams on the way: the receiver tells by a counter in memory how far it has
//! come, so no packet flows back.

use super::far;
use anyhow::Context;
use lab::Network;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;
use sys::clock;
use sys::udp::{BATCH, Outgoing, RecvBatch, UdpSocket};
use units::{Instant, TrafficClass};

/// Octets of payload: a voice packet's order of size, with a number in front.
const SIZE: usize = 64;
/// Most datagrams on the way: some 4 ms at a million a second, below what the interfaces and sockets hold.
const WINDOW: u64 = 4_096;
/// Room for all of them in the receiving socket, with the kernel's overhead of about 1 KiB each.
const BUFFER: usize = 16 << 20;
/// A sender whose window is full looks again after this.
const PAUSE: Duration = Duration::from_micros(100);
/// A window that has not moved for so long has lost its last datagrams.
const LOST: Duration = Duration::from_millis(20);

/// Datagrams per second that arrived, and the share that did not, in percent.
pub(super) fn measure(
    network: &Network,
    time: Duration,
    abort: &(dyn Fn() -> bool + Sync),
) -> anyhow::Result<(f64, f64)> {
    let topology = network.topology();
    let to = far(network)?;
    let receiver = network
        .node(&topology.server)?
        .run(|| UdpSocket::bind(to))?;
    receiver.set_buffers(BUFFER, BUFFER)?;
    let sender = network.node(&topology.client)?.run(|| {
        let mut socket = UdpSocket::bind(SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), 0))?;
        socket.connect(to)?;
        Ok::<_, sys::Error>(socket)
    })?;
    let seen = AtomicU64::new(0);
    let end = clock::now() + time;
    let (sent, arrivals) = thread::scope(|scope| {
        let receiving = scope.spawn(|| receive(&receiver, &seen, end, abort));
        let sent = send(&sender, &seen, end, abort);
        (sent, receiving.join())
    });
    let arrivals = arrivals.map_err(|_| anyhow::anyhow!("the receiver panicked"))??;
    let sent = sent?;
    let lost = sent.saturating_sub(arrivals.count) as f64 / sent.max(1) as f64;
    Ok((arrivals.rate()?, 100.0 * lost))
}

/// Sends numbered datagrams as the window allows until `end`; how many.
fn send(
    socket: &UdpSocket,
    seen: &AtomicU64,
    end: Instant,
    abort: &(dyn Fn() -> bool + Sync),
) -> Result<u64, sys::Error> {
    let mut octets = [[0; SIZE]; BATCH];
    let (mut next, mut known, mut moved) = (0_u64, 0, clock::now());
    loop {
        let now = clock::now();
        if now >= end || abort() {
            return Ok(next);
        }
        let reached = seen.load(Ordering::Relaxed);
        if reached > known {
            (known, moved) = (reached, now);
        } else if now.since(moved) >= LOST {
            (known, moved) = (next, now);
        }
        if next - known.min(next) > WINDOW - BATCH as u64 {
            clock::sleep_until(now + PAUSE);
            continue;
        }
        for (payload, number) in octets.iter_mut().zip(next..) {
            payload[..8].copy_from_slice(&number.to_be_bytes());
        }
        let batch = octets.each_ref().map(|payload| Outgoing {
            payload,
            to: None,
            from: None,
            class: TrafficClass::default(),
        });
        next += socket.send(&batch)?.count as u64;
    }
}

/// What has arrived.
#[derive(Clone, Copy, Debug, Default)]
struct Arrivals {
    count: u64,
    first: Option<Instant>,
    last: Option<Instant>,
}

impl Arrivals {
    fn rate(&self) -> anyhow::Result<f64> {
        let (first, last) = self
            .first
            .zip(self.last)
            .context("no datagram came through the lab")?;
        Ok(self.count as f64 / last.since(first).as_secs_f64().max(1e-9))
    }
}

/// Counts datagrams until a little after `end`, and publishes how far they have come.
fn receive(
    socket: &UdpSocket,
    seen: &AtomicU64,
    end: Instant,
    abort: &(dyn Fn() -> bool + Sync),
) -> Result<Arrivals, sys::Error> {
    let mut batch = RecvBatch::new(BATCH, SIZE);
    let mut arrivals = Arrivals::default();
    while clock::now() < end + LOST && !abort() {
        socket.wait(LOST)?;
        while socket.recv(&mut batch)? > 0 {
            let now = clock::now();
            arrivals.count += batch.iter().len() as u64;
            arrivals.first.get_or_insert(now);
            arrivals.last = Some(now);
            let last = batch
                .iter()
                .last()
                .and_then(|datagram| datagram.payload.first_chunk());
            if let Some(number) = last {
                seen.store(u64::from_be_bytes(*number) + 1, Ordering::Relaxed);
            }
        }
    }
    Ok(arrivals)
}
