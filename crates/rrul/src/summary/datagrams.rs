//! What the run's own probes and calls take of the path.
//!
//! They are there to be delayed, not to delay. On a slow line they may well: with three calls each way and the probes of RRUL some
//! 0.5 Mbit/s go each way before any load has begun.

use super::view::View;
use schema::rrul::{DatagramRates, Datagrams};
use schema::tables::{Sample, Stream};
use std::ops::Range;

/// Octets of the headers of IP and UDP.
const fn headers(family: u8) -> u32 {
    if family == 6 { 40 + 8 } else { 20 + 8 }
}

impl View<'_> {
    /// Rates of the datagrams of probes and calls, IP header included: as the client sent them, and as they reached it.
    pub(super) fn datagrams(&self) -> Datagrams {
        let rates = |counts: fn(&Stream, &Sample) -> bool| DatagramRates {
            idle: self.datagram_rate(&self.idle, counts),
            loaded: self.datagram_rate(&self.loaded, counts),
        };
        Datagrams {
            down: rates(|stream, sample| stream.direction != "up" && !sample.lost),
            up: rates(|stream, _| stream.direction != "down"),
        }
    }

    /// Mbit/s of the datagrams within `when` that count; none of none, or where their size is not known.
    fn datagram_rate(
        &self,
        when: &Range<u64>,
        counts: fn(&Stream, &Sample) -> bool,
    ) -> Option<f64> {
        let is_datagrams =
            |stream: &Stream| matches!(&*stream.kind, "udp_rr" | "udp_paced" | "voip");
        let within = self
            .samples(&is_datagrams)
            .filter(|sample| when.contains(&sample.t_ns));
        let octets = within.filter_map(|sample| {
            let stream = self.streams.get(&sample.stream)?;
            let octets = stream.message_bytes? + headers(stream.family);
            counts(stream, sample).then_some(u64::from(octets))
        });
        let octets: u64 = octets.sum();
        let seconds = when.end.saturating_sub(when.start) as f64 / 1e9;
        (octets > 0 && seconds > 0.0).then(|| octets as f64 * 8e-6 / seconds)
    }
}
