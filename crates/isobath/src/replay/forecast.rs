//! What a replay will ask of this machine, before it does.
//!
//! Nobody knows how long a connection will take on a network that it has not met. Without queues it takes its waits, a round trip
//! for the handshake and one for each time that the word goes to the other end, and slow start for what is large. That is
//! taken here; a bottleneck that is too small makes more connections live at once than that.

use super::cast::{Cast, Part};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;
use vectors::Side;

/// Octets of data in a segment over Ethernet, with time stamps.
const SEGMENT: u64 = 1_448;
/// Octets of headers of a segment.
const HEADERS: u64 = 52;
/// Octets of the initial window (RFC 6928).
const INITIAL_WINDOW: u64 = 10 * SEGMENT;
/// Segments of a connection that carry nothing: three of the handshake, four of the end.
const BARE: u64 = 7;
/// How long a pair of ports rests after its connection (TIME-WAIT is 60 s in Linux), with some reserve.
const REST: Duration = Duration::from_secs(65);

/// What a cast asks for.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(crate) struct Forecast {
    /// Connections in all.
    pub(crate) connections: u64,
    /// The most that are open at once.
    pub(crate) open: u64,
    /// The most that start in one second.
    pub(crate) starts_per_s: u64,
    /// Packets a second, both directions, on average over the time in which connections start.
    pub(crate) packets_per_s: f64,
    /// Load of both directions on average over that time.
    pub(crate) mbps: f64,
    /// The most pairs of ports that are in use or at rest at once, of those the client opens and those the server opens.
    pub(crate) tuples: [u64; 2],
}

impl Forecast {
    /// Of `cast`, if it is played for `duration` at most.
    pub(crate) fn of(cast: &Cast, duration: Option<Duration>) -> Self {
        let end = duration.unwrap_or(Duration::MAX);
        let mut open = Level::default();
        let mut tuples = [Level::default(), Level::default()];
        let (mut second, mut starts, mut busiest) = (0, 0, 0);
        let (mut packets, mut octets) = (0_u64, 0_u64);
        for part in &cast.parts {
            let start = part.vector.start;
            if start.as_secs() != second {
                (second, starts) = (start.as_secs(), 0);
            }
            starts += 1;
            busiest = busiest.max(starts);
            let over = start.saturating_add(length(part)).min(end);
            open.enter(start, over);
            tuples[part.initiator as usize].enter(start, over.saturating_add(REST));
            let (of_packets, of_octets) = load(part);
            packets = packets.saturating_add(of_packets);
            octets = octets.saturating_add(of_octets);
        }
        let span = cast.last_start().max(Duration::from_secs(1));
        let span = duration.unwrap_or(span).max(span).as_secs_f64();
        Self {
            connections: cast.parts.len() as u64,
            open: open.most,
            starts_per_s: busiest,
            packets_per_s: packets as f64 / span,
            mbps: octets as f64 * 8e-6 / span,
            tuples: tuples.map(|level| level.most),
        }
    }
}

/// How many of those that come and go are there.
#[derive(Default)]
struct Level {
    ends: BinaryHeap<Reverse<Duration>>,
    most: u64,
}

impl Level {
    /// One comes at `start`, not before those entered already, and goes at `end`.
    fn enter(&mut self, start: Duration, end: Duration) {
        while self.ends.peek().is_some_and(|Reverse(end)| *end <= start) {
            self.ends.pop();
        }
        self.ends.push(Reverse(end));
        self.most = self.most.max(self.ends.len() as u64);
    }
}

/// How long `part` takes on a path without queues.
fn length(part: &Part) -> Duration {
    let rtt = part.vector.min_rtt.unwrap_or_default();
    let turns = part.vector.body.turns();
    let waits = turns.iter().map(|turn| turn.wait);
    let words = turns.chunk_by(|one, next| one.side == next.side).count();
    let flights = turns
        .iter()
        .map(|turn| flights(turn.bytes))
        .max()
        .unwrap_or(0);
    let trips = 2 + u32::try_from(words / 2)
        .unwrap_or(u32::MAX)
        .saturating_add(flights);
    let waits = if part.vector.body.is_sequential() {
        waits.fold(Duration::ZERO, Duration::saturating_add)
    } else {
        Side::BOTH
            .map(|side| {
                let own = turns.iter().filter(|turn| turn.side == side);
                own.fold(Duration::ZERO, |sum, turn| sum.saturating_add(turn.wait))
            })
            .into_iter()
            .max()
            .unwrap_or_default()
    };
    waits.saturating_add(rtt.saturating_mul(trips))
}

/// Round trips of slow start in which so many octets leave, beyond the first.
fn flights(octets: u64) -> u32 {
    (octets / INITIAL_WINDOW)
        .checked_ilog2()
        .map_or(0, |log| log + 1)
}

/// Packets of both directions, and their octets: data, an acknowledgement for every second segment, beginning and end.
fn load(part: &Part) -> (u64, u64) {
    let turns = part.vector.body.turns();
    let data = turns.iter().map(|turn| turn.bytes.div_ceil(SEGMENT));
    let data = data.fold(0, u64::saturating_add);
    let octets = turns
        .iter()
        .fold(0, |sum: u64, turn| sum.saturating_add(turn.bytes));
    let packets = data.saturating_add(data / 2).saturating_add(BARE);
    (
        packets,
        octets.saturating_add(packets.saturating_mul(HEADERS)),
    )
}

#[cfg(test)]
mod tests {
    use super::super::cast::Host;
    use super::*;
    use vectors::{Body, Loss, Turn, Vector};

    fn part(start_s: u64, wait_s: u64, initiator: Host) -> Part {
        let turn = |side, wait_s| Turn {
            side,
            bytes: 1_000,
            wait: Duration::from_secs(wait_s),
        };
        Part {
            vector: Vector {
                transport: vectors::Transport::Tcp,
                start: Duration::from_secs(start_s),
                ids: [0; 2],
                windows: [65_535; 2],
                min_rtt: Some(Duration::from_millis(100)),
                loss: [Loss::NONE; 2],
                mss: None,
                body: Body::Sequential {
                    turns: vec![turn(Side::Initiator, 0), turn(Side::Acceptor, wait_s)],
                    tail: None,
                },
            },
            initiator,
            was_sequential: true,
        }
    }

    #[test]
    fn the_most_at_once_is_found() {
        // Open from 0 to 10.3, 5 to 5.3, 6 to 8.3 and, long after, 100 to 100.3.
        let parts = vec![
            part(0, 10, Host::Client),
            part(5, 0, Host::Client),
            part(6, 2, Host::Server),
            part(100, 0, Host::Client),
        ];
        let forecast = Forecast::of(&Cast { parts, udp: 0 }, None);
        assert_eq!((forecast.connections, forecast.open), (4, 2));
        assert_eq!(forecast.starts_per_s, 1);
        // A pair of ports rests for a minute.
        assert_eq!(forecast.tuples, [2, 1]);
        // Two segments with data, one acknowledgement and seven bare ones each.
        assert!((forecast.packets_per_s - 0.4).abs() < 1e-9);
    }

    #[test]
    fn nothing_is_open_after_the_end() {
        let parts = vec![part(0, 1_000, Host::Client), part(40, 0, Host::Client)];
        let forecast = Forecast::of(&Cast { parts, udp: 0 }, Some(Duration::from_secs(30)));
        assert_eq!(forecast.open, 1);
    }

    #[test]
    fn slow_start_takes_a_round_trip_for_each_doubling() {
        assert_eq!(flights(1_000), 0);
        assert_eq!(flights(INITIAL_WINDOW), 1);
        assert_eq!(flights(4 * INITIAL_WINDOW), 3);
    }
}
