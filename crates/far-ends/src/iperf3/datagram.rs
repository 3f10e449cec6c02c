//! Datagrams of a test by UDP: a time, a number, and padding.
//!
//! A stream of datagrams is opened by one of four octets that the server answers by another; afterwards only the sender's have a head.

use super::super::field;
use std::time::Duration;

/// What opens a stream.
pub const CONNECT: [u8; 4] = *b"9876";
/// What the server answers.
pub const CONNECTED: [u8; 4] = *b"6789";
/// What opened a stream before version 3.11, in the order of octets of most machines.
const LEGACY: [u8; 4] = 123_456_789_u32.to_le_bytes();

/// Whether a datagram opens a stream.
pub fn is_connect(octets: &[u8]) -> bool {
    [CONNECT, LEGACY].iter().any(|opens| octets == opens)
}

/// The head of a datagram.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Head {
    /// When it left, by the sender's clock.
    pub sent: Duration,
    /// Its number, from 1 on.
    pub number: u64,
}

impl Head {
    /// Octets of a head whose number has 64 bits.
    pub const LENGTH: usize = 16;

    /// Reads the head of a datagram whose number has 64 bits or 32.
    pub fn parse(octets: &[u8], is_long: bool) -> Option<Self> {
        let word = |at| field(octets, at).map(u32::from_be_bytes);
        let number = if is_long {
            u64::from_be_bytes(field(octets, 8)?)
        } else {
            word(8)?.into()
        };
        let (seconds, micros) = (word(0)?, word(4)?);
        let sent = Duration::from_secs(seconds.into()) + Duration::from_micros(micros.into());
        Some(Self { sent, number })
    }

    /// Writes it over the start of `out`, where there is room.
    pub fn emit(&self, out: &mut [u8], is_long: bool) {
        let [.., a, b, c, d] = self.sent.as_secs().to_be_bytes();
        let mut head = [0; Self::LENGTH];
        head[..4].copy_from_slice(&[a, b, c, d]);
        head[4..8].copy_from_slice(&self.sent.subsec_micros().to_be_bytes());
        let number = self.number.to_be_bytes();
        let number = if is_long { &number[..] } else { &number[4..] };
        head[8..8 + number.len()].copy_from_slice(number);
        let length = 8 + number.len();
        if let Some(start) = out.get_mut(..length) {
            start.copy_from_slice(&head[..length]);
        }
    }
}

/// What arrived of a stream of datagrams.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tally {
    /// Octets that arrived.
    pub bytes: u64,
    /// Datagrams that arrived, copies among them.
    pub arrived: u64,
    /// The highest number that arrived.
    pub highest: u64,
    /// Datagrams that were missing when a later one came, and have not come since.
    pub lost: u64,
    /// Those that came after a later one.
    pub late: u64,
    /// Jitter (RFC 3550 section 6.4.1), in seconds.
    pub jitter_s: f64,
    /// How long the last one was under way, by two clocks.
    transit_s: Option<f64>,
}

impl Tally {
    /// A datagram of so many octets arrived at `now`, by this end's clock.
    pub fn take(&mut self, head: Head, bytes: usize, now: Duration) {
        self.bytes += bytes as u64;
        self.arrived += 1;
        if head.number > self.highest {
            self.lost += head.number - 1 - self.highest;
            self.highest = head.number;
        } else {
            self.late += 1;
            self.lost = self.lost.saturating_sub(1);
        }
        let transit = now.as_secs_f64() - head.sent.as_secs_f64();
        if let Some(last) = self.transit_s.replace(transit) {
            self.jitter_s += ((transit - last).abs() - self.jitter_s) / 16.0;
        }
    }
}
