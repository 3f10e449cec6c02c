//! How exact this machine's pacing is: datagrams every 100 us over loopback, as the receiver's kernel stamps them.
//!
//! The receiver looks only now and then, so that it does not wake in the middle of the sender's gaps.

use super::percent;
use anyhow::Context;
use stats::Distribution;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use sys::clock;
use sys::pacer::Pacer;
use sys::udp::{BATCH, Outgoing, RecvBatch, UdpSocket};
use units::TrafficClass;

/// The planned gap.
const GAP: Duration = Duration::from_micros(100);
/// How often the receiver empties its socket.
const LOOK: Duration = Duration::from_millis(100);
/// Room for what comes between two looks, many times over.
const BUFFER: usize = 16 << 20;
/// Octets of payload: a voice packet.
const SIZE: usize = 172;
/// The first datagrams are left out: a processor that was asleep takes a while to wake up in full.
const SETTLE: usize = 1_000;

/// |gap - planned gap| in nanoseconds, and the processor time of the pacing thread in percent.
pub(super) fn measure(
    time: Duration,
    abort: &(dyn Fn() -> bool + Sync),
) -> anyhow::Result<(Distribution, f64)> {
    let local = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 0);
    let receiver = UdpSocket::bind(local)?;
    receiver.set_buffers(BUFFER, BUFFER)?;
    let mut sender = UdpSocket::bind(local)?;
    sender.connect(receiver.local_addr()?)?;
    let done = AtomicBool::new(false);
    let (stamps, cpu) = thread::scope(|scope| {
        let receiving = scope.spawn(|| receive(&receiver, &done));
        let cpu = pace(&sender, time, abort);
        done.store(true, Ordering::Release);
        (receiving.join(), cpu)
    });
    let stamps = stamps.map_err(|_| anyhow::anyhow!("the receiver panicked"))??;
    let settled = stamps.get(SETTLE..).unwrap_or_default();
    let errors = settled.windows(2).map(|pair| {
        let gap = Duration::from_nanos(pair[1].abs_diff(pair[0]));
        gap.abs_diff(GAP).as_nanos() as f64
    });
    let errors = Distribution::of(errors).context("no paced datagrams arrived on loopback")?;
    Ok((errors, cpu?))
}

/// Sends a datagram every [`GAP`]; the processor time that took.
fn pace(
    socket: &UdpSocket,
    time: Duration,
    abort: &(dyn Fn() -> bool + Sync),
) -> Result<f64, sys::Error> {
    let payload = [0; SIZE];
    let datagram = Outgoing {
        payload: &payload,
        to: None,
        from: None,
        class: TrafficClass::default(),
    };
    let mut pacer = Pacer::calibrate()?;
    let (cpu, start) = (clock::thread_cpu(), clock::now());
    let mut deadline = start + GAP;
    while deadline < start + time && !abort() {
        pacer.wait_until(deadline);
        socket.send(&[datagram])?;
        deadline += GAP;
    }
    let used = clock::thread_cpu().saturating_sub(cpu);
    Ok(percent(used, clock::now().since(start)))
}

/// The stamps of all that arrives until `done` and a little longer.
fn receive(socket: &UdpSocket, done: &AtomicBool) -> Result<Vec<u64>, sys::Error> {
    let mut batch = RecvBatch::new(BATCH, 16);
    let mut stamps = Vec::new();
    loop {
        let last = done.load(Ordering::Acquire);
        while socket.recv(&mut batch)? > 0 {
            stamps.extend(batch.iter().filter_map(|datagram| datagram.wall_ns));
        }
        if last {
            return Ok(stamps);
        }
        clock::sleep_until(clock::now() + LOOK);
    }
}
