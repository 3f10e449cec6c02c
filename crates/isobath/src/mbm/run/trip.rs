//! Asking the far end by UDP: where a stream comes from, and how long a round trip is when nothing else is under way.

use super::{Broken, Run};
use session::wire::{Flags, Kind, Probe};
use std::time::Duration;
use sys::clock;
use sys::udp::{Outgoing, RecvBatch, UdpSocket};
use units::{Instant, TrafficClass};

/// Round trips by which the idle path is known, and how far apart they begin.
const TRIPS: u32 = 10;
const TRIP: Duration = Duration::from_millis(20);
/// A round trip that takes longer is none.
const LONGEST_TRIP: Duration = Duration::from_secs(3);
impl Run<'_> {
    /// The least of a few round trips over the path, which is idle, of packets as long as the target's: what a link takes to send one
    /// belongs to the round trip of a window.
    pub(super) fn idle_round_trip(&mut self, socket: &UdpSocket) -> Result<Duration, Broken> {
        let key = self.client.dialer.keys().to_client;
        let length = self.context.plan.payload(self.client.peer.is_ipv6());
        let mut batch = RecvBatch::new(16, length);
        let mut least = None;
        let began = clock::now();
        let mut sent = 0;
        while clock::now().since(began) < LONGEST_TRIP && !self.is_interrupted() {
            let now = clock::now();
            if sent < TRIPS && now >= began + TRIP * sent {
                sent += 1;
                self.ask(socket, 0, length, now);
            }
            socket.wait(TRIP / 4)?;
            socket.recv(&mut batch)?;
            let stamp = clock::stamp();
            for datagram in batch.iter() {
                let reply = Probe::parse(datagram.payload)
                    .ok()
                    .filter(|_| Probe::verify(datagram.payload, &key).is_ok());
                let at = datagram
                    .wall_ns
                    .map_or_else(clock::now, |wall| stamp.mono_at(wall));
                let trip = reply.map(|reply| {
                    let there = reply.replied.since(reply.received);
                    at.since(reply.sent).saturating_sub(there)
                });
                least = trip.into_iter().chain(least).min();
            }
            let Some(least) = least.filter(|_| sent == TRIPS) else {
                continue;
            };
            if clock::now() >= began + TRIP * TRIPS + least {
                break;
            }
        }
        least.ok_or_else(|| {
            Broken::Far(
                "no datagram came back - let UDP through to the same port as TCP".to_owned(),
            )
        })
    }

    /// Asks the far end by UDP with `length` octets; it so learns where a stream's datagrams come from.
    pub(super) fn ask(&self, socket: &UdpSocket, stream: u16, length: usize, now: Instant) {
        let dialer = &self.client.dialer;
        let request = Probe {
            kind: Kind::Request,
            class: TrafficClass::default(),
            arrived: TrafficClass::default(),
            stream,
            flags: Flags::default(),
            sequence: 0,
            session: dialer.session(),
            sent: now,
            received: Instant::ZERO,
            replied: Instant::ZERO,
        };
        let mut octets = vec![0; length.max(Probe::LEN)];
        // One that cannot be sent is one that did not arrive: there will be another.
        if request.emit(&mut octets, &dialer.keys().to_server).is_ok() {
            let _ = socket.send(&[Outgoing {
                payload: &octets,
                to: None,
                from: None,
                class: TrafficClass::default(),
            }]);
        }
    }
}
