//! How fast the emulator is: one kernel TCP connection through the lab.

use super::{far, percent};
use anyhow::Context;
use kit::load;
use kit::stream::wait_until;
use lab::Network;
use serde::{Deserialize, Serialize};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;
use sys::{Error, clock, tcp};
use units::Dscp;

/// The first part of the transfer is left out: slow start.
const SETTLE: Duration = Duration::from_secs(1);
/// The congestion control that is compared between machines.
const CC: &str = "cubic";

/// Processor time of those who carried the load, in percent of one processor.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Cpu {
    /// The sending thread, with what the kernel did on its behalf.
    pub sender: f64,
    /// The emulator, with the kernel's work on arriving packets.
    pub emulator: f64,
    /// The receiving thread.
    pub receiver: f64,
}

/// 10^9 bits per second of payload from near to far, and the processor time that it took.
pub(super) fn measure(
    network: &Network,
    time: Duration,
    abort: &(dyn Fn() -> bool + Sync),
) -> anyhow::Result<(f64, Cpu)> {
    let (sender, receiver) = connect(network)?;
    let done = AtomicBool::new(false);
    let ended = || done.load(Ordering::Relaxed) || abort();
    let start = clock::now();
    let end = start + time;
    thread::scope(|scope| {
        let sending = scope.spawn(|| with_cpu(|| load::send(&sender, end, &ended)));
        let receiving = scope.spawn(|| {
            with_cpu(|| {
                load::receive(&receiver, &AtomicU64::new(0), &ended);
            })
        });
        wait_until(start + SETTLE, abort);
        let (from, before) = (clock::now(), received(&receiver)?);
        let emulator = network.cpu();
        wait_until(end, abort);
        let (to, after) = (clock::now(), received(&receiver)?);
        let emulator = network.cpu().saturating_sub(emulator);
        done.store(true, Ordering::Relaxed);
        let cpu = |thread: thread::ScopedJoinHandle<'_, Duration>| {
            let used = thread.join().unwrap_or_default();
            percent(used, to.since(start))
        };
        let passed = to.since(from);
        let bits = after.saturating_sub(before) as f64 * 8.0;
        anyhow::ensure!(bits > 0.0, "no TCP payload came through the lab");
        let cpu = Cpu {
            sender: cpu(sending),
            emulator: percent(emulator, passed),
            receiver: cpu(receiving),
        };
        Ok((bits / passed.as_secs_f64() / 1e9, cpu))
    })
}

/// A connection through `network`: its near and its far end.
fn connect(network: &Network) -> anyhow::Result<(TcpStream, TcpStream)> {
    let to = far(network)?;
    let io = |e| Error::io("connect", to.to_string(), e);
    let topology = network.topology();
    let listener = network
        .node(&topology.server)?
        .run(|| TcpListener::bind(to).map_err(io))?;
    let sender = network.node(&topology.client)?.run(|| {
        use socket2::{Domain, Protocol, Socket, Type};
        let socket = Socket::new(Domain::for_address(to), Type::STREAM, Some(Protocol::TCP));
        let socket = socket.map_err(io)?;
        kit::stream::prepare(&socket, Dscp::default(), Some(CC)).map_err(io)?;
        socket.connect(&to.into()).map_err(io)?;
        Ok::<_, Error>(TcpStream::from(socket))
    })?;
    let (receiver, _) = listener.accept().map_err(io)?;
    Ok((sender, receiver))
}

/// Octets of payload that have arrived in order.
fn received(socket: &TcpStream) -> anyhow::Result<u64> {
    let octets = tcp::info(socket)?.bytes_received;
    octets.context("this kernel does not count what a connection has received")
}

/// Processor time that `work` takes on this thread.
fn with_cpu(work: impl FnOnce()) -> Duration {
    let before = clock::thread_cpu();
    work();
    clock::thread_cpu().saturating_sub(before)
}
