//! How long a round trip is when nothing else is under way.

use super::Run;
use kit::control::Broken;
use kit::{hello, path_mtu};
use session::wire::Probe;
use std::time::Duration;
use sys::clock;
use sys::udp::{RecvBatch, UdpSocket};

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
                hello::ask(socket, &self.client.dialer, 0, length);
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
        least.ok_or_else(|| Broken::Far(self.why_none_came()))
    }

    fn why_none_came(&self) -> String {
        let mtu = self.context.plan.target.mtu();
        match path_mtu::find(self.client, &|| self.is_interrupted()) {
            Ok(Some(octets)) if octets < mtu => format!(
                "the path takes packets of {octets} octets and the target's have {mtu} - use --mtu {octets}"
            ),
            _ => "no datagram came back - let UDP through to the same port as TCP".to_owned(),
        }
    }
}
