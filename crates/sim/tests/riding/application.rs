//! An application that sends as a TCP connection does whose window is full: a burst in each round trip.

use std::time::Duration;
use units::Instant;

/// From burst to burst, give or take a tenth.
const ROUND_TRIP: f64 = 0.040;
/// Octets of a packet: those of the manager's interface.
pub(crate) const PACKET: u16 = 1_420;

/// How fast the packets of a burst follow each other.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Pace {
    /// As fast as a network card of 1 Gbit/s takes them.
    Line,
    /// As acknowledgements clock them: at the rate of the narrow link.
    Clocked,
}

/// See the [module](self).
pub(crate) struct Application {
    /// Octets in a second.
    rate: f64,
    /// Between packets of a burst.
    gap: Duration,
    next: Instant,
    /// Packets that the burst still has, and octets that are owed to the next.
    left: u32,
    owed: f64,
    chance: u64,
    pub(crate) packets: u64,
}

impl Application {
    /// Of `bps`, over a narrow link of `capacity_bps`.
    pub(crate) fn new(bps: f64, capacity_bps: f64, pace: Pace, seed: u64) -> Self {
        let rate = match pace {
            Pace::Line => 1e9,
            Pace::Clocked => capacity_bps,
        };
        Self {
            rate: bps / 8.0,
            gap: Duration::from_secs_f64(f64::from(PACKET + 60) * 8.0 / rate),
            next: Instant::ZERO,
            left: 0,
            owed: 0.0,
            chance: seed,
            packets: 0,
        }
    }

    pub(crate) fn next_timeout(&self) -> Instant {
        self.next
    }

    /// The packet that is due, which is one of IPv4 with a number.
    pub(crate) fn poll(&mut self, now: Instant) -> Option<Vec<u8>> {
        if self.next > now {
            return None;
        }
        if self.left == 0 {
            self.begin(now);
            return None;
        }
        self.left -= 1;
        self.next = now + self.gap;
        self.packets += 1;
        let mut packet = vec![0; usize::from(PACKET)];
        packet[0] = 0x45;
        packet[2..4].copy_from_slice(&PACKET.to_be_bytes());
        packet[12..20].copy_from_slice(&self.packets.to_be_bytes());
        Some(packet)
    }

    /// Sends no more.
    pub(crate) fn stop(&mut self) {
        self.next = Instant::FAR_FUTURE;
    }

    /// A pause, and a burst of what is owed by then.
    fn begin(&mut self, now: Instant) {
        self.chance = self
            .chance
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let unit = (self.chance >> 40) as f64 / f64::from(1_u32 << 24);
        let trip = ROUND_TRIP * (0.9 + 0.2 * unit);
        let octets = f64::from(PACKET) + 60.0;
        self.owed += self.rate * trip;
        while self.owed >= octets {
            self.owed -= octets;
            self.left += 1;
        }
        // The burst takes a part of the round trip.
        let burst = self.gap * self.left;
        self.next = now + Duration::from_secs_f64(trip).saturating_sub(burst);
    }
}
