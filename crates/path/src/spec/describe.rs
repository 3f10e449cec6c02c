//! What can be said of a path before the first packet.

use super::{CrossSpec, QueueSpec, Spec, StageSpec};
use crate::{Distribution, DscpTable, EcnChange, Pace, Probability};
use std::time::Duration;
use units::{Bytes, Rate};

impl Spec {
    /// The time a packet takes one way when nothing else is on the path, transmission times apart:
    /// fixed delays and the means of the others.
    pub fn base_delay(&self) -> Duration {
        self.0.iter().map(StageSpec::mean_delay).sum()
    }

    /// The least rate of a link; `None` without a link that names a rate. A trace has its rate in
    /// its text ([`Trace::mean_rate`](crate::Trace::mean_rate)).
    pub fn rate(&self) -> Option<Rate> {
        let rates = self.0.iter().filter_map(|stage| Some(stage.link()?.0));
        rates.min()
    }

    /// How long the slowest link's full queue takes to drain: the most that it adds to the delay.
    /// A limit in packets counts packets of 1,500 octets. `None` without a limit or a link.
    pub fn drain_time(&self) -> Option<Duration> {
        let links = self.0.iter().filter_map(StageSpec::link);
        let (rate, queue) = links.min_by_key(|(rate, _)| *rate)?;
        Some(rate.time_for(queue.capacity()?.get()))
    }

    /// The path in words, on one line.
    pub fn describe(&self) -> String {
        if self.0.is_empty() {
            return "wire".to_owned();
        }
        let stages: Vec<String> = self.0.iter().map(StageSpec::describe).collect();
        stages.join("; ")
    }
}

impl StageSpec {
    /// Rate and queue of a link that names its rate.
    const fn link(&self) -> Option<(Rate, &QueueSpec)> {
        match self {
            Self::Rate { rate, queue, .. } | Self::TokenBucket { rate, queue, .. } => {
                Some((*rate, queue))
            }
            _ => None,
        }
    }

    fn mean_delay(&self) -> Duration {
        match *self {
            Self::Jitter {
                delay,
                jitter,
                distribution: Distribution::Pareto,
                ..
            } => delay.0.saturating_add(jitter.0),
            Self::Delay { delay } | Self::Jitter { delay, .. } => delay.0,
            Self::FlowDelay { min, max } => min.0 + max.0.saturating_sub(min.0) / 2,
            Self::Reorder { probability, delay } => delay.0.mul_f64(probability.get()),
            _ => Duration::ZERO,
        }
    }

    /// What others send through it, if it is a link.
    pub const fn cross(&self) -> Option<&CrossSpec> {
        match self {
            Self::Rate { cross, .. }
            | Self::Trace { cross, .. }
            | Self::TokenBucket { cross, .. } => cross.as_ref(),
            _ => None,
        }
    }

    fn describe(&self) -> String {
        let cross = self.cross().map(CrossSpec::describe);
        self.describe_own() + &cross.unwrap_or_default()
    }

    fn describe_own(&self) -> String {
        match self {
            Self::Rate { rate, queue, .. } => {
                format!("{}, {}", bits(*rate), queue.describe(Some(*rate)))
            }
            Self::Trace { trace, queue, .. } => format!("trace {trace}, {}", queue.describe(None)),
            Self::TokenBucket {
                rate,
                burst,
                peak,
                queue,
                ..
            } => {
                let peak = peak.map(|peak| format!(" at {}", bits(peak)));
                let burst = octets(*burst) + &peak.unwrap_or_default();
                let words = bits(*rate);
                format!(
                    "{words} with bursts of {burst}, {}",
                    queue.describe(Some(*rate))
                )
            }
            Self::Delay { delay } => format!("delay {}", time(delay.0)),
            Self::Jitter {
                delay,
                jitter,
                distribution,
                reorder,
            } => {
                let order = if *reorder { ", reordering" } else { "" };
                let (delay, jitter) = (time(delay.0), time(jitter.0));
                format!("delay {delay} with {distribution} jitter {jitter}{order}")
            }
            Self::FlowDelay { min, max } => {
                format!("delay {} to {} by flow", time(min.0), time(max.0))
            }
            Self::ConnectionDelay {} => "delay of each connection".to_owned(),
            Self::Loss { probability } => format!("loss {probability}"),
            Self::GilbertElliott {
                p,
                r,
                loss_good,
                loss_bad,
            } => {
                format!("loss {loss_good} (good) and {loss_bad} (bad), to bad {p}, to good {r}")
            }
            Self::Drop { packets } => numbered(packets),
            Self::Blackhole { family } => format!("all {family} lost"),
            Self::Reorder { probability, delay } => {
                format!("{probability} held back for {}", time(delay.0))
            }
            Self::Duplicate { probability } => format!("{probability} sent twice"),
            Self::Remark {
                dscp,
                ecn,
                probability,
            } => remarks(dscp, *ecn, *probability),
        }
    }
}

impl CrossSpec {
    /// ", shared with 1 Mbit/s, 3 Mbit/s (45 s each), even, sizes of web-page".
    fn describe(&self) -> String {
        let rates: Vec<String> = self.rates.iter().copied().map(bits).collect();
        let each = self.each.map(|each| format!(" ({} each)", time(each.0)));
        let rates = rates.join(", ") + &each.unwrap_or_default();
        let rates = if self.rates.is_empty() {
            "others".to_owned()
        } else {
            rates
        };
        let recording = self.recording.as_deref();
        let packets = match (self.pace, recording) {
            (Pace::Recorded, name) => format!(" as recorded in {}", name.unwrap_or_default()),
            (pace, Some(name)) => format!(", {}, sizes of {name}", pace.name()),
            (pace, None) => format!(", {}", pace.name()),
        };
        format!(", shared with {rates}{packets}")
    }
}

impl QueueSpec {
    /// "fifo 200 kB (100 ms)": kind, limit, and the time that a full queue takes at `rate`.
    fn describe(&self, rate: Option<Rate>) -> String {
        let limit = self.limit();
        let packets = limit.packets.map(|count| format!(" {count} packets"));
        let bytes = limit.bytes.map(|bytes| format!(" {}", octets(bytes)));
        let drain = rate.and_then(|rate| Some(rate.time_for(self.capacity()?.get())));
        let drain = drain.map(|drain| format!(" ({})", time(drain)));
        let parts: String = [packets, bytes, drain].into_iter().flatten().collect();
        let unlimited = if parts.is_empty() {
            " without limit"
        } else {
            ""
        };
        let ecn = if self.ecn() { " with ECN" } else { "" };
        format!("{}{parts}{unlimited}{ecn}", self.kind())
    }
}

/// "packets 3, 7 lost"; many are counted.
fn numbered(packets: &[u64]) -> String {
    let numbers: Vec<String> = packets.iter().map(u64::to_string).collect();
    match numbers.as_slice() {
        [number] => format!("packet {number} lost"),
        numbers if numbers.len() <= 8 => format!("packets {} lost", numbers.join(", ")),
        numbers => format!("{} listed packets lost", numbers.len()),
    }
}

/// "50 % remarked: EF to CS0, ECN bleached".
fn remarks(dscp: &DscpTable, ecn: Option<EcnChange>, probability: Probability) -> String {
    let share = (probability < Probability::ONE).then(|| format!("{probability} "));
    let table = (!dscp.is_empty()).then(|| format!("DSCP {dscp}"));
    let ecn = ecn.map(|change| match change {
        EcnChange::Bleach => "ECN bleached".to_owned(),
        EcnChange::Ce => "ECT to CE".to_owned(),
    });
    let parts: Vec<String> = table.into_iter().chain(ecn).collect();
    format!(
        "{}remarked: {}",
        share.unwrap_or_default(),
        parts.join(", ")
    )
}

/// A rate in the largest unit of which it is at least one.
fn bits(rate: Rate) -> String {
    let units = [
        (1e9, "Gbit/s"),
        (1e6, "Mbit/s"),
        (1e3, "kbit/s"),
        (1.0, "bit/s"),
    ];
    in_units(rate.as_bps() as f64, &units)
}

fn octets(bytes: Bytes) -> String {
    in_units(
        bytes.get() as f64,
        &[(1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")],
    )
}

fn time(span: Duration) -> String {
    in_units(
        span.as_nanos() as f64,
        &[(1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns")],
    )
}

/// `value` to three decimals in the largest unit of which it is at least one.
fn in_units(value: f64, units: &[(f64, &str)]) -> String {
    let fit = units.iter().find(|(scale, _)| value >= *scale);
    let (scale, name) = fit.or_else(|| units.last()).unwrap_or(&(1.0, ""));
    format!("{} {name}", (value / scale * 1e3).round() / 1e3)
}
