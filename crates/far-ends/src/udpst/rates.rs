//! Sending rates: what two transmitters send in turn, and the table of them that a server searches (TR-471 annex B, RFC 9946 section 7).

use super::load::HEAD;
use std::time::Duration;
use units::Instant;

/// In a payload's length: each datagram has another, this at most.
const RANDOM: u32 = 1 << 31;
/// Datagrams of one burst at most.
pub(super) const LONGEST_BURST: u32 = 100;
/// Octets of UDP's and IPv4's headers.
const IPV4_HEADERS: u32 = 28;
/// What IPv6's header has more of.
const IPV6_MORE: u32 = 20;
/// Octets of a datagram with its headers, of IPv4.
const DATAGRAM: u32 = 1_250;
/// The longest payload that is sent, whatever the other end asks for.
pub const LONGEST_PAYLOAD: u32 = 9_000 - IPV4_HEADERS;
/// The shortest, by IPv4.
const SHORTEST_PAYLOAD: u32 = HEAD as u32 + IPV6_MORE;
/// Transmitters send no more often than this, microseconds.
const LEAST_INTERVAL_US: u32 = 100;
/// The row of 1 Gbit/s: up to it, a row's number is its rate in Mbit/s.
pub(super) const GIGABIT: u16 = 1_000;
/// The last row: 10 Gbit/s.
pub(super) const LAST: u16 = GIGABIT + 90;
/// A burst that was due so long ago is not made up for.
const LATEST: Duration = Duration::from_millis(5);

/// What is sent: bursts of datagrams by two transmitters. All zero is silence.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct SendingRate {
    /// From one burst to the next, microseconds.
    pub interval1_us: u32,
    /// Octets of a payload, as it is by IPv4: by IPv6 it is 20 less.
    pub payload1: u32,
    /// Datagrams of a burst.
    pub burst1: u32,
    /// From one burst of the second transmitter to the next, microseconds.
    pub interval2_us: u32,
    /// Octets of a payload of its.
    pub payload2: u32,
    /// Datagrams of a burst of its.
    pub burst2: u32,
    /// One more datagram in each of the second's bursts.
    pub addon2: u32,
}

impl SendingRate {
    /// A row of the table, or its last. Row 0 is a datagram of some length each 50 ms; then come hundreds, tens and units of Mbit/s.
    pub fn row(number: u16) -> Self {
        let number = u32::from(number.min(LAST));
        let payload = DATAGRAM - IPV4_HEADERS;
        let gigabit = u32::from(GIGABIT);
        if number == 0 {
            return Self {
                interval2_us: 50_000,
                addon2: payload | RANDOM,
                ..Self::default()
            };
        }
        let (hundreds, tens, units) = if number > gigabit {
            (10 + number - gigabit, 0, 0)
        } else {
            (number / 100, number / 10 % 10, number % 10)
        };
        let mut rate = Self::default();
        if hundreds > 0 {
            (rate.interval1_us, rate.payload1, rate.burst1) =
                (LEAST_INTERVAL_US, payload, hundreds);
        }
        if tens > 0 {
            (rate.payload2, rate.burst2) = (payload, tens);
        }
        if tens > 0 || units > 0 {
            rate.interval2_us = 1_000;
        }
        if units > 0 {
            rate.addon2 = units * 1_000 / 8 - IPV4_HEADERS;
        }
        rate
    }

    /// Bits of IP packets in a second, headers included.
    pub fn bps(&self) -> f64 {
        let octets = |payload: u32| {
            let length = payload & !RANDOM;
            let mean = if payload & RANDOM == 0 {
                length
            } else {
                length.midpoint(SHORTEST_PAYLOAD)
            };
            f64::from(if length == 0 { 0 } else { mean + IPV4_HEADERS })
        };
        let of = |interval_us: u32, octets: f64| {
            let bits = 8.0 * 1e6 * octets;
            if interval_us == 0 {
                0.0
            } else {
                bits / f64::from(interval_us)
            }
        };
        of(
            self.interval1_us,
            f64::from(self.burst1) * octets(self.payload1),
        ) + of(
            self.interval2_us,
            f64::from(self.burst2) * octets(self.payload2) + octets(self.addon2),
        )
    }
}

/// Datagrams that are due.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Burst {
    /// How many.
    pub datagrams: u32,
    /// Octets of each one's payload.
    pub payload: u16,
    /// One more with so many octets; 0 for none.
    pub addon: u16,
}

impl Burst {
    /// One datagram, as short as one can be.
    pub const ONE: Self = Self {
        datagrams: 1,
        payload: HEAD,
        addon: 0,
    };
}

/// Two transmitters, and when each has its next burst.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transmitters {
    rate: SendingRate,
    is_v6: bool,
    due: [Option<Instant>; 2],
    /// Draws lengths of payloads.
    state: u64,
}

impl Transmitters {
    /// Of `rate`, the first bursts at `start`. Lengths that are random depend on `seed`.
    pub(super) fn new(rate: SendingRate, is_v6: bool, start: Instant, seed: u64) -> Self {
        let mut new = Self {
            rate: SendingRate::default(),
            is_v6,
            due: [None; 2],
            state: seed | 1,
        };
        new.change(rate, start);
        new
    }

    /// Sends by `rate` from now on.
    pub(super) fn change(&mut self, rate: SendingRate, now: Instant) {
        self.rate = rate;
        for (which, due) in self.due.iter_mut().enumerate() {
            match interval(&rate, which) {
                None => *due = None,
                // One that has been silent begins with its interval over, as one that sends goes on.
                Some(_) => *due = due.or(Some(now)),
            }
        }
    }

    /// When the next burst is due; none while nothing is sent.
    pub(super) fn next(&self) -> Option<Instant> {
        self.due.into_iter().flatten().min()
    }

    /// A burst that is due at `now`: call again until there is none.
    pub(super) fn take(&mut self, now: Instant) -> Option<Burst> {
        let which = (0..2).filter(|which| self.due[*which].is_some_and(|due| due <= now));
        let which = which.min_by_key(|which| self.due[*which])?;
        let due = self.due[which]?;
        let interval = interval(&self.rate, which)?;
        let next = due + interval;
        // A host that was kept from sending does not send all of it at once.
        self.due[which] = Some(if next + LATEST < now { now } else { next });
        let [payload, burst, addon] = if which == 0 {
            [self.rate.payload1, self.rate.burst1, 0]
        } else {
            [self.rate.payload2, self.rate.burst2, self.rate.addon2]
        };
        let payload = self.length(payload);
        Some(Burst {
            datagrams: if payload == 0 {
                0
            } else {
                burst.min(LONGEST_BURST)
            },
            payload,
            addon: self.length(addon),
        })
    }

    /// Octets of a payload for which the rate has `told`.
    fn length(&mut self, told: u32) -> u16 {
        let most = told & !RANDOM;
        if most == 0 {
            return 0;
        }
        let most = most.clamp(SHORTEST_PAYLOAD, LONGEST_PAYLOAD);
        let length = if told & RANDOM == 0 {
            most
        } else {
            SHORTEST_PAYLOAD + self.random() % (most - SHORTEST_PAYLOAD + 1)
        };
        let less = if self.is_v6 { IPV6_MORE } else { 0 };
        u16::try_from(length - less).unwrap_or(u16::MAX)
    }

    /// xorshift64 (Marsaglia 2003).
    fn random(&mut self) -> u32 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 32) as u32
    }
}

/// From one burst of a transmitter to the next; none where it sends nothing.
fn interval(rate: &SendingRate, which: usize) -> Option<Duration> {
    let us = if which == 0 {
        rate.interval1_us
    } else {
        rate.interval2_us
    };
    (us > 0).then(|| Duration::from_micros(us.max(LEAST_INTERVAL_US).into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_so_many_megabits() {
        for number in [1, 9, 10, 11, 99, 100, 101, 137, 999, 1_000] {
            let mbps = SendingRate::row(number).bps() / 1e6;
            assert!((mbps - f64::from(number)).abs() < 1e-9, "{number}: {mbps}");
        }
        assert!((SendingRate::row(GIGABIT + 1).bps() - 1.1e9).abs() < 1.0);
        assert!((SendingRate::row(u16::MAX).bps() - 10e9).abs() < 1.0);
        // About 651 octets each 50 ms.
        assert!((100e3..120e3).contains(&SendingRate::row(0).bps()));
    }

    /// Octets of IP packets that leave in a second.
    fn sent(transmitters: &mut Transmitters, start: Instant, headers: u64) -> u64 {
        let mut octets = 0;
        for tick in 0..20_000 {
            let now = start + Duration::from_micros(50) * tick;
            while let Some(burst) = transmitters.take(now) {
                octets += u64::from(burst.datagrams) * (u64::from(burst.payload) + headers);
                if burst.addon > 0 {
                    octets += u64::from(burst.addon) + headers;
                }
            }
        }
        octets
    }

    #[test]
    fn transmitters_send_what_the_row_says_by_either_version_of_ip() {
        let start = Instant::from_nanos(1_000_000);
        for (is_v6, headers) in [(false, 28), (true, 48)] {
            let mut transmitters = Transmitters::new(SendingRate::row(137), is_v6, start, 7);
            let octets = sent(&mut transmitters, start, headers);
            assert_eq!(octets, 137_000_000 / 8, "{is_v6}");
        }
    }

    #[test]
    fn a_change_of_rate_takes_effect_at_once_and_silence_is_silence() {
        let start = Instant::from_nanos(0);
        let mut transmitters = Transmitters::new(SendingRate::row(5), false, start, 7);
        assert!(transmitters.take(start).is_some());
        let later = start + Duration::from_millis(3);
        transmitters.change(SendingRate::row(300), later);
        assert_eq!(transmitters.next(), Some(later));
        transmitters.change(SendingRate::default(), later);
        assert_eq!(
            (transmitters.next(), transmitters.take(later)),
            (None, None)
        );
    }

    #[test]
    fn what_was_missed_is_not_sent_at_once() {
        let start = Instant::from_nanos(0);
        let mut transmitters = Transmitters::new(SendingRate::row(100), false, start, 7);
        let later = start + Duration::from_secs(1);
        let bursts = std::iter::from_fn(|| transmitters.take(later)).count();
        assert!(bursts <= 2, "{bursts}");
    }

    #[test]
    fn an_absurd_rate_is_bounded() {
        let absurd = SendingRate {
            interval1_us: 1,
            payload1: u32::MAX,
            burst1: u32::MAX,
            interval2_us: 1,
            payload2: 1,
            burst2: 3,
            addon2: RANDOM,
        };
        let start = Instant::from_nanos(0);
        let mut transmitters = Transmitters::new(absurd, true, start, 7);
        let first = transmitters.take(start).unwrap();
        assert!(first.datagrams <= LONGEST_BURST && u32::from(first.payload) <= LONGEST_PAYLOAD);
        let second = transmitters.take(start).unwrap();
        assert_eq!((second.datagrams, second.payload, second.addon), (3, 32, 0));
        assert!(
            transmitters
                .take(start + Duration::from_micros(99))
                .is_none()
        );
        assert!(absurd.bps().is_finite());
    }
}
