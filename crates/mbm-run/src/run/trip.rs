//! How long a round trip is when nothing else is under way.

use super::{PAUSE, Run};
use kit::control::Broken;
use kit::{hello, path_mtu};
use mbm::verdict::judge_reach;
use session::wire::Probe;
use std::time::Duration;
use sys::clock;
use sys::udp::{RecvBatch, UdpSocket};

/// Round trips by which the idle path is known, and how far apart they begin.
const TRIPS: u32 = 10;
const TRIP: Duration = Duration::from_millis(20);
/// A round trip that takes longer is none.
const LONGEST_TRIP: Duration = Duration::from_secs(3);

/// Times that a path is looked at which seems longer than the target's: a queue that stood there may be gone.
const LOOKS: u32 = 3;

/// Least round trips over the idle path.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Idle {
    /// Of packets as long as the target's, both ways: what a link takes to send one belongs to the round trip of a window.
    pub(super) full: Duration,
    /// Of packets of any length: the path itself, and hardly what its links take to send a packet.
    pub(super) least: Duration,
}

impl Run<'_> {
    /// Round trips over the idle path, looked at again while it seems longer than the target's complete path.
    pub(super) fn idle_round_trips(&mut self, socket: &UdpSocket) -> Result<Idle, Broken> {
        let mut idle = self.trips_of_both(socket)?;
        for _ in 1..LOOKS {
            if judge_reach(&self.context.plan.target, idle.least).is_none() {
                break;
            }
            self.pause(PAUSE)?;
            let again = self.trips_of_both(socket)?;
            idle.full = idle.full.min(again.full);
            idle.least = idle.least.min(again.least);
        }
        Ok(idle)
    }

    /// The short ones first: they do not wait behind long ones.
    fn trips_of_both(&self, socket: &UdpSocket) -> Result<Idle, Broken> {
        let length = self.context.plan.payload(self.client.peer.is_ipv6());
        let none_came = || Broken::Far(self.why_none_came());
        let short = self.least_trip(socket, Probe::LEN)?;
        let short = short.ok_or_else(none_came)?;
        let full = self.least_trip(socket, length)?.ok_or_else(none_came)?;
        let least = short.min(full);
        Ok(Idle { full, least })
    }

    /// The least of a few round trips of datagrams with `length` octets of payload; none when none came back.
    fn least_trip(&self, socket: &UdpSocket, length: usize) -> Result<Option<Duration>, Broken> {
        let mut batch = RecvBatch::new(16, self.longest_payload());
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
            least = self.trips(&batch, length).chain(least).min();
            let Some(least) = least.filter(|_| sent == TRIPS) else {
                continue;
            };
            if clock::now() >= began + TRIP * TRIPS + least {
                break;
            }
        }
        Ok(least)
    }

    /// The round trips of answers of `length` octets.
    fn trips<'a>(
        &self,
        batch: &'a RecvBatch,
        length: usize,
    ) -> impl Iterator<Item = Duration> + use<'a> {
        let key = self.client.dialer.keys().to_client;
        let stamp = clock::stamp();
        batch.iter().filter_map(move |datagram| {
            let is_ours = datagram.payload.len() == length;
            let reply = Probe::parse(datagram.payload).ok();
            let reply =
                reply.filter(|_| is_ours && Probe::verify(datagram.payload, &key).is_ok())?;
            let at = datagram
                .wall_ns
                .map_or_else(clock::now, |wall| stamp.mono_at(wall));
            let there = reply.replied.since(reply.received);
            Some(at.since(reply.sent).saturating_sub(there))
        })
    }

    fn longest_payload(&self) -> usize {
        let length = self.context.plan.payload(self.client.peer.is_ipv6());
        length.max(Probe::LEN)
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
