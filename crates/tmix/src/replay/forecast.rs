//! What a replay will ask of this machine, before it does.
//!
//! Nobody knows how long a connection will take on a network that it has not met. Without queues it takes its waits, a round trip
//! for the handshake and one for each time that the word goes to the other end, and slow start and a receive window's worth a round
//! trip for what is large. That is taken here; a bottleneck that is too small makes more connections live at once than that.
//!
//! A replay that ends before its connections carries less than they hold: a turn that begins after the end is not counted, and
//! of one that is under way then only the share of its time.

use super::totals::Totals;
use super::workload::{Part, Workload};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;
use vectors::play::datagrams::{PATIENCE, datagrams};
use vectors::{Side, Turn};

/// Octets of data in a segment over Ethernet, with time stamps.
const SEGMENT: u64 = 1_448;
/// Octets of headers of a segment.
const HEADERS: u64 = 52;
/// Octets of headers of a datagram, over IPv4.
const UDP_HEADERS: u64 = packet::UDP_HEADERS[0] as u64;
/// Octets of the initial window (RFC 6928).
const INITIAL_WINDOW: u64 = 10 * SEGMENT;
/// Segments of a connection that carry nothing: three of the handshake, four of the end.
const BARE: u64 = 7;
/// How long a pair of ports rests after its connection (TIME-WAIT is 60 s in Linux), with some reserve.
const REST: Duration = Duration::from_secs(65);

/// What a workload asks for.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Forecast {
    /// Connections in all.
    pub connections: u64,
    /// The most that are open at once.
    pub open: u64,
    /// Flows of UDP in all.
    #[serde(default)]
    pub flows: u64,
    /// The most that are under way at once.
    #[serde(default)]
    pub open_flows: u64,
    /// The most of both that start in one second.
    pub starts_per_s: u64,
    /// Packets a second, both directions, on average over the time in which connections start.
    pub packets_per_s: f64,
    /// Load of both directions on average over that time.
    pub mbps: f64,
    /// The most pairs of ports that are in use or at rest at once, of those the client opens and those the server opens.
    pub tuples: [u64; 2],
}

impl Forecast {
    /// Of `workload`, if it is played for `duration` at most.
    pub fn of(workload: &Workload, duration: Option<Duration>) -> Self {
        let mut forecaster = Forecaster::new(duration);
        workload
            .parts
            .iter()
            .for_each(|part| forecaster.enter(part));
        forecaster.finish().1
    }
}

/// A forecast in the making, part by part.
#[derive(Default)]
pub struct Forecaster {
    duration: Option<Duration>,
    totals: Totals,
    open: Level,
    flows: Level,
    tuples: [Level; 2],
    /// Starts in this second.
    starts: (u64, u64),
    busiest: u64,
    packets: u64,
    octets: u64,
    last_end: Duration,
}

impl Forecaster {
    /// Of what is played for `duration` at most.
    pub fn new(duration: Option<Duration>) -> Self {
        Self {
            duration,
            ..Self::default()
        }
    }

    /// Adds `part`, which does not start before those added already.
    pub fn enter(&mut self, part: &Part) {
        let end = self.duration.unwrap_or(Duration::MAX);
        let start = part.vector.start;
        self.totals.enter(part);
        if start.as_secs() != self.starts.0 {
            self.starts = (start.as_secs(), 0);
        }
        self.starts.1 += 1;
        self.busiest = self.busiest.max(self.starts.1);
        let over = start.saturating_add(length(part)).min(end);
        self.last_end = self.last_end.max(over);
        let (packets, octets) = if part.is_udp() {
            // Who has said everything waits for what may be lost.
            self.flows.enter(start, over.saturating_add(PATIENCE));
            load_of_flow(part)
        } else {
            self.open.enter(start, over);
            self.tuples[part.initiator as usize].enter(start, over.saturating_add(REST));
            load(part, end.saturating_sub(start))
        };
        self.packets = self.packets.saturating_add(packets);
        self.octets = self.octets.saturating_add(octets);
    }

    /// Packets of both directions, and when the last connection is over.
    pub const fn work(&self) -> (u64, Duration) {
        (self.packets, self.last_end)
    }

    /// What was added in all, and what it asks for.
    pub fn finish(self) -> (Totals, Forecast) {
        let totals = self.totals;
        let span = totals.last_start.max(Duration::from_secs(1));
        let span = self.duration.unwrap_or(span).max(span).as_secs_f64();
        let forecast = Forecast {
            connections: totals.connections(),
            open: self.open.most,
            flows: totals.flows(),
            open_flows: self.flows.most,
            starts_per_s: self.busiest,
            packets_per_s: self.packets as f64 / span,
            mbps: self.octets as f64 * 8e-6 / span,
            tuples: self.tuples.map(|level| level.most),
        };
        (totals, forecast)
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
    let ends = times(part).into_iter().map(|[_, end]| end);
    // Its last octet is acknowledged.
    ends.max().unwrap_or(rtt).saturating_add(rtt)
}

/// When each turn of `part` begins and ends, after its start. The word is given after a round trip for the handshake, and another
/// whenever it has gone to the other end and come back; ends that do not take turns have it both.
fn times(part: &Part) -> Vec<[Duration; 2]> {
    let rtt = part.vector.min_rtt.unwrap_or_default();
    let sequential = part.vector.body.is_sequential();
    let (mut words, mut speaker) = (0_u32, None);
    let mut clocks = [Clock::default(); 2];
    let turns = part.vector.body.turns().iter().map(|turn| {
        words += u32::from(sequential && speaker.is_some_and(|side| side != turn.side));
        speaker = Some(turn.side);
        let clock = &mut clocks[if sequential { 0 } else { turn.side.index() }];
        let window = part.vector.windows[turn.side.other().index()];
        let trips = clock.pass(turn, window);
        let waited = clock.waited;
        trips.map(|trips| {
            let trips = words.div_ceil(2).saturating_add(1).saturating_add(trips);
            waited.saturating_add(rtt.saturating_mul(trips))
        })
    });
    turns.collect()
}

/// What has passed at an end, or at both when they take turns.
#[derive(Clone, Copy, Default)]
struct Clock {
    waited: Duration,
    /// Round trips of what takes more than one flight.
    trips: u32,
    /// Doublings of the congestion window, which stays as it is.
    doublings: u32,
}

impl Clock {
    /// Passes `turn`; the round trips before it and after it.
    fn pass(&mut self, turn: &Turn, window: u32) -> [u32; 2] {
        self.waited = self.waited.saturating_add(turn.wait);
        let before = self.trips;
        let doublings = doublings(turn.bytes);
        let more = doublings.saturating_sub(self.doublings);
        self.doublings = self.doublings.max(doublings);
        self.trips = before.saturating_add(more.max(windows(turn.bytes, window)));
        [before, self.trips]
    }
}

/// Round trips of slow start in which so many octets leave, beyond the first.
fn doublings(octets: u64) -> u32 {
    (octets / INITIAL_WINDOW)
        .checked_ilog2()
        .map_or(0, |log| log + 1)
}

/// Round trips in which so many octets leave through a receive window, beyond the first.
fn windows(octets: u64, window: u32) -> u32 {
    let windows = octets / u64::from(window).max(SEGMENT);
    u32::try_from(windows).unwrap_or(u32::MAX)
}

/// Packets of both directions before `end`, counted from the start of `part`, and their octets: data, an acknowledgement for every
/// second segment, beginning and end.
fn load(part: &Part, end: Duration) -> (u64, u64) {
    let turns = part.vector.body.turns().iter().zip(times(part));
    let sent = turns.map(|(turn, time)| share(turn.bytes, time, end));
    let (mut data, mut octets) = (0_u64, 0_u64);
    for bytes in sent {
        data = data.saturating_add(bytes.div_ceil(SEGMENT));
        octets = octets.saturating_add(bytes);
    }
    let packets = data.saturating_add(data / 2).saturating_add(BARE);
    (
        packets,
        octets.saturating_add(packets.saturating_mul(HEADERS)),
    )
}

/// What of `bytes` that leave evenly between two moments has left at `end`; what leaves in one flight does so at once.
fn share(bytes: u64, [from, to]: [Duration; 2], end: Duration) -> u64 {
    if end >= to {
        return if end > from { bytes } else { 0 };
    }
    let all = to.saturating_sub(from).as_nanos().max(1);
    let part = u128::from(bytes) * end.saturating_sub(from).as_nanos() / all;
    u64::try_from(part).unwrap_or(bytes)
}

/// The same of a flow of UDP: its datagrams, and nothing else.
fn load_of_flow(part: &Part) -> (u64, u64) {
    let packets = Side::BOTH.map(|side| datagrams(&part.vector, side));
    let octets = Side::BOTH.map(|side| part.vector.body.bytes(side));
    let [packets, octets] = [packets, octets].map(|[one, other]| one.saturating_add(other));
    (
        packets,
        octets.saturating_add(packets.saturating_mul(UDP_HEADERS)),
    )
}

#[cfg(test)]
mod tests {
    use super::super::workload::Host;
    use super::*;
    use vectors::{Body, Loss, Side, Vector};

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
        let forecast = Forecast::of(&Workload { parts, udp: 0 }, None);
        assert_eq!((forecast.connections, forecast.open), (4, 2));
        assert_eq!(forecast.starts_per_s, 1);
        // A pair of ports rests for a minute.
        assert_eq!(forecast.tuples, [2, 1]);
        // Two segments with data, one acknowledgement and seven bare ones each.
        assert!((forecast.packets_per_s - 0.4).abs() < 1e-9);
    }

    #[test]
    fn a_flow_is_its_datagrams_and_has_one_socket() {
        let mut flow = part(0, 10, Host::Client);
        flow.vector.transport = vectors::Transport::Udp;
        flow.vector.mss = Some([400, 1_000]);
        let parts = vec![flow.clone(), flow, part(1, 0, Host::Client)];
        let forecast = Forecast::of(&Workload { parts, udp: 0 }, None);
        assert_eq!((forecast.connections, forecast.open), (1, 1));
        assert_eq!((forecast.flows, forecast.open_flows), (2, 2));
        assert_eq!((forecast.starts_per_s, forecast.tuples), (2, [1, 0]));
        // Four datagrams each, and ten packets of the connection.
        assert!((forecast.packets_per_s - 18.0).abs() < 1e-9);
        let octets = 2 * (2_000 + 4 * 28) + 2_000 + 10 * 52;
        assert!((forecast.mbps - f64::from(octets) * 8e-6).abs() < 1e-9);
    }

    #[test]
    fn nothing_is_open_after_the_end() {
        let parts = vec![part(0, 1_000, Host::Client), part(40, 0, Host::Client)];
        let forecast = Forecast::of(&Workload { parts, udp: 0 }, Some(Duration::from_secs(30)));
        assert_eq!(forecast.open, 1);
    }

    /// One of `turns`, each with its octets and the seconds before it, over 100 ms with windows of 64 KiB.
    fn saying(turns: &[(Side, u64, u64)]) -> Part {
        let turn = |&(side, bytes, wait_s)| Turn {
            side,
            bytes,
            wait: Duration::from_secs(wait_s),
        };
        let mut part = part(0, 0, Host::Client);
        part.vector.body = Body::Sequential {
            turns: turns.iter().map(turn).collect(),
            tail: None,
        };
        part
    }

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn a_turn_takes_a_round_trip_for_each_doubling_or_window() {
        let trips = |octets, window| {
            let turn = saying(&[(Side::Initiator, octets, 0)]).vector.body.turns()[0];
            let mut clock = Clock::default();
            [0; 2].map(|_| clock.pass(&turn, window)[1])
        };
        let wide = u32::MAX;
        assert_eq!(trips(1_000, wide), [0, 0]);
        assert_eq!(trips(INITIAL_WINDOW, wide), [1, 1], "it opens once");
        assert_eq!(trips(4 * INITIAL_WINDOW, wide), [3, 3]);
        assert_eq!(trips(1_000_000, 10_000), [100, 200]);
        assert_eq!(trips(1_000_000, 0)[0], 690, "a segment at the least");
    }

    #[test]
    fn turns_begin_after_handshake_waits_and_what_was_said_before() {
        let part = saying(&[
            (Side::Initiator, 1_000, 0),
            (Side::Acceptor, 1_000, 2),
            (Side::Initiator, 1_000, 5),
            (Side::Acceptor, 655_350, 0),
        ]);
        let begins = times(&part).into_iter().map(|[begin, _]| begin);
        let begins: Vec<Duration> = begins.collect();
        assert_eq!(begins, [ms(100), ms(2_200), ms(7_200), ms(7_300)]);
        // Ten windows of 65,535 octets, and the acknowledgement of the last.
        assert_eq!(length(&part), ms(7_300 + 1_000 + 100));
    }

    #[test]
    fn of_a_run_that_is_cut_only_what_is_before_the_end_counts() {
        let bytes = |part: &Part, end| {
            let (packets, octets) = load(part, end);
            octets - packets * HEADERS
        };
        let waiting = saying(&[(Side::Initiator, 1_000, 0), (Side::Acceptor, 9_000, 60)]);
        assert_eq!(bytes(&waiting, ms(30_000)), 1_000);
        assert_eq!(bytes(&waiting, Duration::MAX), 10_000);
        // It begins at 100 ms and takes ten round trips.
        let long = saying(&[(Side::Initiator, 655_350, 0)]);
        assert_eq!(bytes(&long, ms(100)), 0);
        assert_eq!(bytes(&long, ms(350)), 655_350 / 4);
        assert_eq!(bytes(&long, ms(1_100)), 655_350);
    }

    #[test]
    fn ends_that_do_not_take_turns_wait_each_for_itself() {
        let mut part = saying(&[
            (Side::Initiator, 1_000, 3),
            (Side::Acceptor, 1_000, 1),
            (Side::Initiator, 1_000, 3),
            (Side::Acceptor, 1_000, 1),
        ]);
        if let Body::Sequential { turns, .. } = part.vector.body {
            part.vector.body = Body::Concurrent {
                turns,
                tails: [None; 2],
            };
        }
        assert_eq!(length(&part), ms(6_000 + 200));
        let seen = load(&part, ms(3_500)).1 - load(&part, ms(0)).1;
        // One of the initiator's and both of the acceptor's, and two acknowledgements at the most.
        assert!((3_000..3_300).contains(&seen), "{seen}");
    }
}
