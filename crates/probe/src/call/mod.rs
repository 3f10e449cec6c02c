//! What a call suffered: loss, lateness and delay variation of one isochronous stream.
//!
//! A telephone sends a datagram every 10 or 20 ms. The receiver plays each at a fixed time after it was sent; the spare
//! time is the jitter buffer. So a datagram can fail in two ways: it never arrives (*lost*), or it arrives after its time
//! (*late*). The RRUL specification counts jitter in excess of 30 ms as loss, which is a jitter buffer of
//! [`JITTER_BUFFER_MS`] above the least delay of the stream.
//!
//! | figure | definition |
//! |---|---|
//! | delay variation (PDV) | delay less the least delay: RFC 5481 section 4.2 |
//! | inter-packet variation (IPDV) | delay less that of the datagram sent before: RFC 3393, RFC 5481 section 4.1 |
//! | runs of loss | losses that follow each other in the order of sending: loss periods, RFC 3357 |
//! | burst ratio | mean length of a run / mean length if losses were independent, 1 / (1 - p): ITU-T G.107 clause 7.5 |
//! | reordered | arrived after one with a higher number: RFC 4737 section 3 |
//! | duplicate | the same number arrived before: RFC 5560 |
//!
//! The least delay cancels the offset between two clocks, but not their skew: correct that first ([`crate::clock`]).

use core::time::Duration;
use std::collections::HashSet;

/// Delay variation beyond which a datagram is of no use, in milliseconds (RRUL: "jitter in excess of 30 ms").
pub const JITTER_BUFFER_MS: f64 = 30.0;

/// One datagram of the stream.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Datagram {
    /// Its number in the stream.
    pub seq: u64,
    /// When it was sent, in nanoseconds since any moment.
    pub sent_ns: u64,
    /// Its one-way delay in nanoseconds, free of skew; negative when the clocks' offset is left in. `None`: lost.
    pub delay_ns: Option<i64>,
}

/// What counts as late.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Terms {
    /// Between two datagrams of the stream.
    pub interval: Duration,
    /// The jitter buffer: what comes later than this after the least delay is late.
    pub late_after: Duration,
    /// The least delay of the path where it is known from elsewhere, such as from the idle part of the same stream, in
    /// nanoseconds. The lesser of it and of the least that is seen here counts.
    pub least_ns: Option<i64>,
}

/// Losses that follow each other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Runs {
    /// Length of each run, in datagrams, in the order of sending.
    pub lengths: Vec<u64>,
    /// Length of the longest; 0 without any loss.
    pub longest: u64,
    /// How much longer the mean run is than if each datagram were lost independently, with the same share of loss: 1 for
    /// random loss, above for bursts, below for losses spread evenly. `None` without any loss and when all is lost.
    pub burst_ratio: Option<f64>,
}

/// What a call suffered.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Datagrams sent, duplicates not counted.
    pub sent: u64,
    /// Those that never arrived.
    pub lost: u64,
    /// Those that arrived too late.
    pub late: u64,
    /// `lost` of `sent`, per cent.
    pub loss_pct: f64,
    /// `late` of `sent`, per cent.
    pub late_pct: f64,
    /// Lost or late, of `sent`, per cent: what the ear misses, and the E-model's Ppl.
    pub effective_loss_pct: f64,
    /// Runs of datagrams that never arrived.
    pub lost_runs: Runs,
    /// Runs of datagrams that were lost or late: what the ear misses, and the E-model's `BurstR`.
    pub effective_runs: Runs,
    /// The longest that nothing could be played, in nanoseconds: the longest effective run.
    pub longest_gap_ns: u64,
    /// The least delay that lateness and variation count from, in nanoseconds; `None` when nothing arrived.
    pub least_ns: Option<i64>,
    /// Delay variation (PDV) of each datagram that arrived, in nanoseconds, in the order of sending.
    pub pdv_ns: Vec<u64>,
    /// Mean of the absolute variation between neighbours (IPDV) that both arrived, in nanoseconds.
    pub mean_ipdv_ns: Option<f64>,
    /// Datagrams that arrived after one with a higher number.
    pub reordered: u64,
    /// Further arrivals of a number that had arrived.
    pub duplicates: u64,
}

impl Call {
    /// What the stream suffered; `datagrams` in the order of sending. Of several with one number the first to arrive
    /// counts. `None` when there are none.
    pub fn of(datagrams: &[Datagram], terms: &Terms) -> Option<Self> {
        let (stream, duplicates) = without_duplicates(datagrams);
        let sent = stream.len() as u64;
        if sent == 0 {
            return None;
        }
        let seen = stream.iter().filter_map(|d| d.delay_ns).min();
        let least = seen.map(|seen| terms.least_ns.map_or(seen, |known| known.min(seen)));
        let buffer = u64::try_from(terms.late_after.as_nanos()).unwrap_or(u64::MAX);
        let variation: Vec<Option<u64>> = stream
            .iter()
            .map(|d| Some(d.delay_ns?.abs_diff(least?)))
            .collect();
        let lost_runs = Runs::of(variation.iter().map(Option::is_none));
        let effective_runs = Runs::of(variation.iter().map(|v| v.is_none_or(|v| v > buffer)));
        let lost: u64 = lost_runs.lengths.iter().sum();
        let missed: u64 = effective_runs.lengths.iter().sum();
        let pct = |part: u64| 100.0 * part as f64 / sent as f64;
        let interval = u64::try_from(terms.interval.as_nanos()).unwrap_or(u64::MAX);
        Some(Self {
            sent,
            lost,
            late: missed - lost,
            loss_pct: pct(lost),
            late_pct: pct(missed - lost),
            effective_loss_pct: pct(missed),
            longest_gap_ns: effective_runs.longest.saturating_mul(interval),
            lost_runs,
            effective_runs,
            least_ns: least,
            pdv_ns: variation.iter().copied().flatten().collect(),
            mean_ipdv_ns: mean_ipdv(&stream),
            reordered: reordered(&stream),
            duplicates,
        })
    }

    /// The `q` quantile (0 to 1) of the delay variation in nanoseconds; the usual jitter figure is that of 0.99.
    pub fn pdv_quantile(&self, q: f64) -> Option<f64> {
        let mut sorted: Vec<f64> = self.pdv_ns.iter().map(|&ns| ns as f64).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        stats::quantile(&sorted, q)
    }
}

impl Runs {
    /// The runs of `true` among `losses`.
    pub fn of(losses: impl IntoIterator<Item = bool>) -> Self {
        let (mut lengths, mut sent, mut inside) = (Vec::new(), 0_u64, false);
        for lost in losses {
            match (lost, inside, lengths.last_mut()) {
                (true, true, Some(length)) => *length += 1,
                (true, ..) => lengths.push(1_u64),
                (false, ..) => {}
            }
            inside = lost;
            sent += 1;
        }
        let lost: u64 = lengths.iter().sum();
        let mean = lost as f64 / lengths.len() as f64;
        let arrived_share = (sent - lost) as f64 / sent as f64;
        Self {
            longest: lengths.iter().copied().max().unwrap_or(0),
            burst_ratio: (lost > 0 && lost < sent).then_some(mean * arrived_share),
            lengths,
        }
    }
}

/// One datagram for each number, with the arrival that came first, and how many further arrivals there were.
fn without_duplicates(datagrams: &[Datagram]) -> (Vec<Datagram>, u64) {
    let mut arrived = HashSet::with_capacity(datagrams.len());
    let mut first: Vec<Datagram> = datagrams.to_vec();
    first.sort_by_key(|d| (d.delay_ns.is_none(), arrival(d)));
    let mut duplicates = 0;
    first.retain(|d| {
        let new = arrived.insert(d.seq);
        duplicates += u64::from(!new && d.delay_ns.is_some());
        new
    });
    first.sort_by_key(|d| (d.sent_ns, d.seq));
    (first, duplicates)
}

fn arrival(datagram: &Datagram) -> i128 {
    i128::from(datagram.sent_ns) + i128::from(datagram.delay_ns.unwrap_or(0))
}

/// Datagrams that arrived after one with a higher number.
fn reordered(stream: &[Datagram]) -> u64 {
    let mut arrivals: Vec<_> = stream.iter().filter(|d| d.delay_ns.is_some()).collect();
    arrivals.sort_by_key(|d| arrival(d));
    let mut next = 0;
    arrivals
        .iter()
        .map(|d| {
            let behind = d.seq < next;
            next = next.max(d.seq);
            u64::from(behind)
        })
        .sum()
}

/// Mean absolute difference between the delays of datagrams sent one after the other.
fn mean_ipdv(stream: &[Datagram]) -> Option<f64> {
    let (sum, count) = stream
        .windows(2)
        .filter_map(|pair| Some(pair[1].delay_ns?.abs_diff(pair[0].delay_ns?)))
        .fold((0_u128, 0_u64), |(sum, count), ns| {
            (sum + u128::from(ns), count + 1)
        });
    (count > 0).then(|| sum as f64 / count as f64)
}

#[cfg(test)]
mod tests;
