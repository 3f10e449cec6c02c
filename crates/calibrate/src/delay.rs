//! How punctual the emulator is: the delay of single datagrams over a link of a known delay.
//!
//! Both ends of a sample are the kernel's stamps on this machine's one wall clock: of the datagram as it went into the
//! emulator, and as it came out. So no program's wake-up is in it but the emulator's own.

use super::far;
use anyhow::Context;
use lab::Network;
use stats::Distribution;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;
use sys::clock;
use sys::udp::{Event, Outgoing, RecvBatch, UdpSocket};
use units::{Instant, TrafficClass};

/// The delay of the link.
pub(super) const DELAY: Duration = Duration::from_millis(5);
/// Between datagrams: so far apart that each meets an emulator at rest. No divisor of the delay, so that arrivals
/// and departures do not coincide.
const GAP: Duration = Duration::from_micros(1_700);
/// The first datagrams are left out: the kernel switches its stamps on a little after the first socket asks.
const SETTLE: Duration = Duration::from_millis(200);
/// Octets of payload; the first eight are a number.
const SIZE: usize = 172;

/// One-way delay less [`DELAY`], in microseconds.
pub(super) fn measure(
    network: &Network,
    time: Duration,
    abort: &(dyn Fn() -> bool + Sync),
) -> anyhow::Result<Distribution> {
    let mut probe = Probe::open(network)?;
    let start = clock::now();
    let end = start + time;
    let mut next = start;
    while next < end && !abort() {
        clock::sleep_until(next);
        probe.send()?;
        probe.collect()?;
        next += GAP;
    }
    clock::sleep_until(clock::now() + 2 * DELAY);
    probe.collect()?;
    let settled = probe.sent_since(start + SETTLE);
    Distribution::of(probe.errors_us(settled))
        .context("no datagram came through the lab with the kernel's stamps")
}

/// A pair of sockets, and what is known of each datagram between them.
struct Probe {
    sender: UdpSocket,
    receiver: UdpSocket,
    batch: RecvBatch,
    samples: Vec<Sample>,
}

/// One datagram. The kernel's stamps are nanoseconds on the wall clock.
#[derive(Clone, Copy, Debug, Default)]
struct Sample {
    sent: Instant,
    left_ns: Option<u64>,
    arrived_ns: Option<u64>,
}

impl Probe {
    fn open(network: &Network) -> anyhow::Result<Self> {
        let topology = network.topology();
        let to = far(network)?;
        let receiver = network
            .node(&topology.server)?
            .run(|| UdpSocket::bind(to))?;
        let sender = network.node(&topology.client)?.run(|| {
            let mut socket = UdpSocket::bind(SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), 0))?;
            socket.connect(to)?;
            socket.enable_tx_stamps()?;
            Ok::<_, sys::Error>(socket)
        })?;
        Ok(Self {
            sender,
            receiver,
            batch: RecvBatch::new(16, SIZE),
            samples: Vec::new(),
        })
    }

    /// Sends the next datagram, which is numbered as the kernel numbers it.
    fn send(&mut self) -> Result<(), sys::Error> {
        let mut payload = [0; SIZE];
        payload[..8].copy_from_slice(&(self.samples.len() as u64).to_be_bytes());
        let sent = clock::now();
        self.sender.send(&[Outgoing {
            payload: &payload,
            to: None,
            from: None,
            class: TrafficClass::default(),
        }])?;
        self.samples.push(Sample {
            sent,
            ..Sample::default()
        });
        Ok(())
    }

    /// Enters the stamps that have come.
    fn collect(&mut self) -> Result<(), sys::Error> {
        while let Some(event) = self.sender.poll_event()? {
            if let Event::Sent { id, wall_ns } = event
                && let Some(sample) = self.samples.get_mut(id as usize)
            {
                sample.left_ns = Some(wall_ns);
            }
        }
        while self.receiver.recv(&mut self.batch)? > 0 {
            for datagram in self.batch.iter() {
                let number = datagram
                    .payload
                    .first_chunk()
                    .copied()
                    .map(u64::from_be_bytes);
                let index = number.and_then(|number| usize::try_from(number).ok());
                if let Some(sample) = index.and_then(|index| self.samples.get_mut(index)) {
                    sample.arrived_ns = datagram.wall_ns;
                }
            }
        }
        Ok(())
    }

    fn sent_since(&self, from: Instant) -> usize {
        self.samples.partition_point(|sample| sample.sent < from)
    }

    /// The errors of the samples from number `first` on.
    fn errors_us(&self, first: usize) -> impl Iterator<Item = f64> {
        let delay_ns = DELAY.as_nanos() as f64;
        self.samples[first..].iter().filter_map(move |sample| {
            let (left, arrived) = sample.left_ns.zip(sample.arrived_ns)?;
            Some((arrived.cast_signed().wrapping_sub(left.cast_signed()) as f64 - delay_ns) / 1e3)
        })
    }
}
