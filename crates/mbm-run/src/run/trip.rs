//! How long a round trip is when nothing else is under way.

use super::super::trips::{Idle, TRIP, Trips, idle};
use super::{PAUSE, Run};
use kit::control::Broken;
use kit::{hello, path_mtu};
use session::wire::Probe;
use std::time::Duration;
use sys::clock;
use sys::udp::{RecvBatch, UdpSocket};

impl Run<'_> {
    /// Round trips over the idle path, looked at again while it seems longer than the target's complete path.
    pub(super) fn idle_round_trips(&mut self, socket: &UdpSocket) -> Result<Idle, Broken> {
        let context = self.context;
        idle(&context.plan.target, |again| {
            if again {
                self.pause(PAUSE)?;
            }
            self.trips_of_both(socket)
        })
    }

    /// The short ones first: they do not wait behind long ones.
    fn trips_of_both(&self, socket: &UdpSocket) -> Result<[Duration; 2], Broken> {
        let length = self.context.plan.payload(self.client.peer.is_ipv6());
        let none_came = || Broken::Far(self.why_none_came());
        let short = self.least_trip(socket, Probe::LEN)?;
        let short = short.ok_or_else(none_came)?;
        let full = self.least_trip(socket, length)?.ok_or_else(none_came)?;
        Ok([short, full])
    }

    /// The least of a few round trips of datagrams with `length` octets of payload; none when none came back.
    fn least_trip(&self, socket: &UdpSocket, length: usize) -> Result<Option<Duration>, Broken> {
        let mut batch = RecvBatch::new(16, self.longest_payload());
        let mut trips = Trips::new(clock::now());
        while !trips.is_over(clock::now()) && !self.is_interrupted() {
            if trips.poll(clock::now()) {
                hello::ask(socket, &self.client.dialer, 0, length);
            }
            socket.wait(TRIP / 4)?;
            socket.recv(&mut batch)?;
            self.replies(&batch, length)
                .for_each(|took| trips.handle_reply(took));
        }
        Ok(trips.least())
    }

    /// The round trips of answers of `length` octets.
    fn replies<'a>(
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
