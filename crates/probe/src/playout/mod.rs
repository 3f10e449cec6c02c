//! What a listener behind an adaptive jitter buffer hears of a call.
//!
//! # The idea
//!
//! A receiver plays each datagram a fixed time after it was sent: the *playout delay*. Too short, and datagrams come too late; too
//! long, and people talk over each other. Telephones therefore adapt it to the path, between two talkspurts, where a pause
//! that is a little longer or shorter is not heard. This one is the algorithm of Moon, Kurose and Towsley ("Packet audio
//! playout delay adjustment: performance bounds and algorithms", Multimedia Systems 6, 1998) without its detection of
//! spikes: a talkspurt is played with the [`QUANTILE`] of the delays of the datagrams of the last [`WINDOW`]. It rises within
//! some tens of milliseconds of talk, and falls when the long delays have left the window.
//!
//! Before there is any history it waits as long as the RRUL specification allows: 30 ms beyond the first delay.
//!
//! Only datagrams that have arrived when a talkspurt's first one arrives count, so the buffer knows nothing of the future.

use crate::call::{Datagram, JITTER_BUFFER_MS, Runs};
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::time::Duration;

/// How long a talkspurt is: ITU-T P.59 has a mean of 1.004 s.
pub const TALKSPURT: Duration = Duration::from_secs(1);
/// The share of the datagrams in the window that would have come in time.
pub const QUANTILE: f64 = 0.99;
/// How far back the buffer looks.
pub const WINDOW: Duration = Duration::from_secs(10);

/// The playout delays of one stream.
#[derive(Clone, Debug)]
pub struct Playout {
    /// When the first datagram was sent, and the playout delay in nanoseconds by number of talkspurt since then.
    first_ns: u64,
    delays_ns: BTreeMap<u64, i64>,
    /// One datagram of each number, in the order of sending.
    stream: Vec<Datagram>,
}

/// What was heard of a part of the stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Heard {
    /// The mean playout delay, in nanoseconds: from when a datagram was sent until it was played. `None` when nothing arrived.
    pub playout_ns: Option<f64>,
    /// Datagrams that came after their time, per cent of those sent.
    pub late_pct: f64,
    /// Lost or late, per cent: the E-model's Ppl.
    pub missed_pct: f64,
    /// How much burstier these are than independent losses ([`Runs::burst_ratio`]); `None` without any.
    pub burst_ratio: Option<f64>,
}

impl Playout {
    /// Plays a whole stream, one datagram a number.
    pub fn of(stream: &[Datagram]) -> Self {
        let mut arrivals: Vec<(i128, i64, u64)> = stream.iter().filter_map(arrival).collect();
        arrivals.sort_unstable();
        let first_ns = stream.iter().map(|d| d.sent_ns).min().unwrap_or_default();
        let mut playout = Self {
            first_ns,
            delays_ns: BTreeMap::new(),
            stream: stream.to_vec(),
        };
        playout.stream.sort_by_key(|d| (d.sent_ns, d.seq));
        let mut window: VecDeque<(i128, i64)> = VecDeque::new();
        for (arrived, delay, sent_ns) in arrivals {
            let oldest = arrived - i128::try_from(WINDOW.as_nanos()).unwrap_or(i128::MAX);
            while window.front().is_some_and(|(at, _)| *at < oldest) {
                window.pop_front();
            }
            let talkspurt = playout.talkspurt(sent_ns);
            playout
                .delays_ns
                .entry(talkspurt)
                .or_insert_with(|| playout_delay(&window, delay));
            window.push_back((arrived, delay));
        }
        playout
    }

    fn talkspurt(&self, sent_ns: u64) -> u64 {
        let since = sent_ns.saturating_sub(self.first_ns);
        since / u64::try_from(TALKSPURT.as_nanos()).unwrap_or(u64::MAX)
    }

    /// What was heard of the datagrams sent within `when`; `None` where none were.
    pub fn heard(&self, when: &Range<u64>) -> Option<Heard> {
        let within = self.stream.iter().filter(|d| when.contains(&d.sent_ns));
        let played: Vec<(Option<i64>, Option<i64>)> = within
            .map(|d| {
                let playout = self.delays_ns.get(&self.talkspurt(d.sent_ns));
                (d.delay_ns, playout.copied())
            })
            .collect();
        let is_late = |(delay, playout): &(Option<i64>, Option<i64>)| {
            delay.zip(*playout).is_some_and(|(delay, at)| delay > at)
        };
        let is_lost = |(delay, _): &(Option<i64>, Option<i64>)| delay.is_none();
        let late = played.iter().filter(|played| is_late(played)).count();
        let lost = played.iter().filter(|played| is_lost(played)).count();
        let runs = Runs::of(
            played
                .iter()
                .map(|played| is_lost(played) || is_late(played)),
        );
        let delays: Vec<f64> = played
            .iter()
            .filter_map(|(_, playout)| playout.map(|ns| ns as f64))
            .collect();
        let pct = |part: usize| 100.0 * part as f64 / played.len() as f64;
        (!played.is_empty()).then(|| Heard {
            playout_ns: (!delays.is_empty())
                .then(|| delays.iter().sum::<f64>() / delays.len() as f64),
            late_pct: pct(late),
            missed_pct: pct(late + lost),
            burst_ratio: runs.burst_ratio,
        })
    }
}

/// When a datagram arrived, its delay, and when it was sent.
fn arrival(datagram: &Datagram) -> Option<(i128, i64, u64)> {
    let delay = datagram.delay_ns?;
    let arrived = i128::from(datagram.sent_ns) + i128::from(delay);
    Some((arrived, delay, datagram.sent_ns))
}

/// The playout delay of a talkspurt whose first datagram took `delay` and found `window` before it.
fn playout_delay(window: &VecDeque<(i128, i64)>, delay: i64) -> i64 {
    let mut sorted: Vec<f64> = window.iter().map(|(_, delay)| *delay as f64).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let known = stats::quantile(&sorted, QUANTILE);
    #[expect(
        clippy::cast_possible_truncation,
        reason = "nanoseconds of a delay; a cast saturates"
    )]
    let (known, unknown) = (
        known.map(|ns| ns.ceil() as i64),
        delay.saturating_add((JITTER_BUFFER_MS * 1e6) as i64),
    );
    known.unwrap_or(unknown)
}

#[cfg(test)]
mod tests;
