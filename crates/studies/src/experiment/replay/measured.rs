//! What a run found, and the runs of a cell put together.

use super::curve::Curve;
use super::hour::{Hour, Runs};
use record::Record;
use schema::replay::Summary;
use schema::replay::plan::Plan;
use schema::replay::tables::{Connection, Epoch};
use schema::tables::Queue;
use serde::Deserialize;
use std::collections::HashSet;
use units::Rate;

/// The queue that D calls long: 1,000 packets at 496 Mbit/s.
pub(super) const LONG_MS: f64 = 16.0;
/// Octets of D's mean packet (485 Mbit/s in 61,000 packets/s).
const MEAN_PACKET: f64 = 994.0;
/// Octets of small and of huge connections (D, section 6.3.1).
const SMALL: u64 = 4_000;
const HUGE: u64 = 1_000_000;

/// Times of connections in milliseconds, each with whether it is that of an end.
type Times = Vec<(f64, bool)>;

/// What a run found.
#[derive(Debug, Default)]
pub(super) struct Measured {
    hour: Hour,
    durations: Times,
    from_connect: Times,
    small: Times,
    huge: Times,
    responses: Vec<f64>,
    rtts: Vec<f64>,
    queue_ms: Vec<f64>,
    queue_packets: Vec<f64>,
    /// Share of the time in which it was above [`LONG_MS`], in per cent.
    long_pct: Option<f64>,
    /// The longest time in which something waited, in seconds.
    busy_s: f64,
    active: Option<f64>,
    mbps: f64,
    /// Octets that arrived in the whole run.
    octets: f64,
    empty_pct: Option<f64>,
    arrivals: Option<(f64, Option<f64>)>,
    hurst: Option<[f64; 2]>,
}

impl Measured {
    /// Of a run that played `hour`.
    pub(super) fn read(record: &Record, hour: Hour) -> anyhow::Result<Self> {
        let run = record.run();
        let summary: Summary = Deserialize::deserialize(&run.summary)?;
        let plan: Plan = Deserialize::deserialize(&run.plan)?;
        let mut measured = Self {
            hour,
            active: summary.active_connections.map(|of| of.of.mean),
            mbps: summary.throughput_mbps.unwrap_or_default().forward,
            octets: summary.bytes.sent as f64,
            empty_pct: summary.queue_empty_pct,
            arrivals: summary.arrivals.map(|of| (of.mean_kpps, of.cov_1s)),
            hurst: summary
                .arrivals
                .and_then(|of| of.hurst)
                .map(|of| [of.low, of.high]),
            ..Self::default()
        };
        let mut connections: Vec<Connection> = record.rows()?;
        // Those of the warm-up are there for the others' sake.
        connections.retain(|row| row.planned_ns as f64 >= summary.window.from_s * 1e9);
        let queue: Vec<Queue> = record.rows()?;
        let queue_end = queue.last().map_or(0, |row| row.t_ns);
        let end_ns = plan.duration.map_or(queue_end, |duration| {
            u64::try_from(duration.0.as_nanos()).unwrap_or(u64::MAX)
        });
        for row in &connections {
            measured.connection(row, end_ns);
        }
        let sequential = connections.iter().filter(|row| row.sequential);
        let sequential: HashSet<u64> = sequential.map(|row| row.connection).collect();
        let epochs: Vec<Epoch> = record.rows()?;
        let sequential = epochs
            .iter()
            .filter(|row| sequential.contains(&row.connection));
        measured
            .responses
            .extend(sequential.map(|row| row.response_ms));
        let forward = summary.forward.name();
        let queue: Vec<&Queue> = queue
            .iter()
            .filter(|row| row.direction.as_ref() == forward)
            .collect();
        let window = [summary.window.from_s, summary.window.to_s].map(|s| s * 1e9);
        let inside = |row: &&&Queue| (window[0]..window[1]).contains(&(row.t_ns as f64));
        measured.queue_packets = queue
            .iter()
            .filter(inside)
            .map(|row| row.packets as f64)
            .collect();
        if let Some(rate) = plan.bottleneck {
            let drain = |row: &&Queue| rate.time_for(row.bytes).as_secs_f64() * 1e3;
            measured.queue_ms = queue.iter().filter(inside).map(drain).collect();
            measured.long_pct = long_share(&measured.queue_ms);
        }
        measured.busy_s = busy(queue.iter().map(|row| (row.t_ns, row.packets)));
        Ok(measured)
    }

    fn connection(&mut self, row: &Connection, end_ns: u64) {
        let ended = match row.end.as_ref() {
            "complete" => true,
            "unfinished" => false,
            _ => return,
        };
        let until = if ended {
            row.last_byte_ns
        } else {
            Some(end_ns)
        };
        let time = |from: Option<u64>| Some((until?.checked_sub(from?)? as f64 / 1e6, ended));
        let duration = time(row.first_byte_ns);
        self.durations.extend(duration);
        self.from_connect.extend(time(row.started_ns));
        self.rtts.push(f64::from(row.rtt_us) / 1e3);
        match row.request_bytes + row.response_bytes {
            ..SMALL => self.small.extend(duration),
            bytes if bytes > HUGE => self.huge.extend(duration),
            _ => {}
        }
    }
}

/// The share of values above [`LONG_MS`], in per cent.
fn long_share(ms: &[f64]) -> Option<f64> {
    let long = ms.iter().filter(|ms| **ms > LONG_MS).count();
    (!ms.is_empty()).then(|| long as f64 * 100.0 / ms.len() as f64)
}

/// The longest time from one empty queue to the next, in seconds, of samples in the order of time.
fn busy(samples: impl Iterator<Item = (u64, u64)>) -> f64 {
    let (mut longest, mut since) = (0, None);
    for (t_ns, packets) in samples {
        if packets == 0 {
            since = None;
        } else {
            let since = *since.get_or_insert(t_ns);
            longest = longest.max(t_ns - since);
        }
    }
    longest as f64 / 1e9
}

/// The runs of a cell in one mode.
#[derive(Clone, Debug, Default)]
pub(super) struct Pooled {
    pub(super) runs: usize,
    /// From the first octet to the last.
    pub(super) durations: Curve,
    /// From the call of connect.
    pub(super) from_connect: Curve,
    /// Of connections below 4 KB, and above 1 MB.
    pub(super) small: Curve,
    pub(super) huge: Curve,
    pub(super) responses: Curve,
    /// Round-trip times that were added.
    pub(super) rtts: Curve,
    /// The queue as the time it takes to drain; nothing over a link that limits nothing.
    pub(super) queue_ms: Curve,
    pub(super) queue_packets: Curve,
    /// Of each run: the share of the time in which it was above [`LONG_MS`], in per cent, and the longest time in which it was
    /// never empty, in seconds.
    pub(super) long_pct: Runs,
    pub(super) busy_s: Runs,
    pub(super) empty_pct: Option<f64>,
    pub(super) active: Option<f64>,
    pub(super) mbps: f64,
    pub(super) octets: f64,
    pub(super) kpps: Option<f64>,
    pub(super) cov_1s: Option<f64>,
    pub(super) hurst: Option<[f64; 2]>,
    /// The largest difference of the durations of two runs, in points; none of a single run.
    pub(super) disagreement: Option<f64>,
}

impl Pooled {
    /// Distributions of all runs together, figures as the means over the runs.
    pub(super) fn of(runs: &[Measured]) -> Self {
        let times = |of: fn(&Measured) -> &Times| Curve::of(runs.iter().flat_map(of).copied());
        let values =
            |of: fn(&Measured) -> &Vec<f64>| Curve::of_all(runs.iter().flat_map(of).copied());
        let each = |of: &dyn Fn(&Measured) -> Option<f64>| {
            let found = runs.iter().filter_map(|run| Some((run.hour, of(run)?)));
            found.collect::<Runs>()
        };
        let mean = |of: &dyn Fn(&Measured) -> Option<f64>| {
            let all: Vec<f64> = runs.iter().filter_map(of).collect();
            (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64)
        };
        let low = mean(&|run| run.hurst.map(|hurst| hurst[0]));
        let high = mean(&|run| run.hurst.map(|hurst| hurst[1]));
        Self {
            runs: runs.len(),
            durations: times(|run| &run.durations),
            from_connect: times(|run| &run.from_connect),
            small: times(|run| &run.small),
            huge: times(|run| &run.huge),
            responses: values(|run| &run.responses),
            rtts: values(|run| &run.rtts),
            queue_ms: values(|run| &run.queue_ms),
            queue_packets: values(|run| &run.queue_packets),
            long_pct: each(&|run| run.long_pct),
            busy_s: each(&|run| Some(run.busy_s)),
            empty_pct: mean(&|run| run.empty_pct),
            active: mean(&|run| run.active),
            mbps: mean(&|run| Some(run.mbps)).unwrap_or_default(),
            octets: mean(&|run| Some(run.octets)).unwrap_or_default(),
            kpps: mean(&|run| Some(run.arrivals?.0)),
            cov_1s: mean(&|run| run.arrivals?.1),
            hurst: low.zip(high).map(|(low, high)| [low, high]),
            disagreement: disagreement(runs),
        }
    }
}

fn disagreement(runs: &[Measured]) -> Option<f64> {
    let curves = runs
        .iter()
        .map(|run| Curve::of(run.durations.iter().copied()));
    let curves: Vec<Curve> = curves.collect();
    let pairs = curves.iter().enumerate();
    let gaps = pairs.flat_map(|(place, one)| {
        let others = curves.iter().skip(place + 1);
        others.map(|other| one.gap(other, 0.0, f64::MAX))
    });
    gaps.reduce(f64::max)
}

/// [`LONG_MS`] in D's packets over a link of this rate.
pub(super) fn long_packets(rate: Rate) -> f64 {
    (rate.as_mbps() * 1e3 / 8.0 * LONG_MS / MEAN_PACKET).round()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connection(end: &'static str, first: u64, last: Option<u64>, bytes: u64) -> Connection {
        let ns = |ms: u64| ms * 1_000_000;
        Connection {
            connection: 0,
            planned_ns: 0,
            started_ns: Some(ns(first - 20)),
            established_ns: Some(ns(first)),
            first_byte_ns: Some(ns(first)),
            last_byte_ns: last.map(ns),
            closed_ns: None,
            initiator: "client".into(),
            source_port: None,
            destination_port: None,
            sequential: true,
            rtt_us: 20_000,
            min_rtt_us: None,
            request_bytes: bytes,
            response_bytes: 0,
            received_by_acceptor: 0,
            received_by_initiator: 0,
            epochs: 1,
            end: end.into(),
            retransmits: None,
        }
    }

    #[test]
    fn cut_connections_count_until_the_end_and_refused_ones_not() {
        let mut run = Measured::default();
        for row in [
            connection("complete", 100, Some(150), 100),
            connection("unfinished", 400, Some(450), 2_000_000),
            connection("refused", 400, None, 100),
        ] {
            run.connection(&row, 1_000_000_000);
        }
        assert_eq!(run.durations, [(50.0, true), (600.0, false)]);
        assert_eq!(run.from_connect, [(70.0, true), (620.0, false)]);
        assert_eq!((run.small.len(), run.huge.len(), run.rtts.len()), (1, 1, 2));
    }

    #[test]
    fn a_queue_is_busy_from_one_empty_moment_to_the_next() {
        let second = 1_000_000_000;
        let samples = [0, 3, 1, 0, 2, 2, 2].into_iter().enumerate();
        let found = busy(samples.map(|(at, packets)| (at as u64 * second, packets)));
        assert!((found - 2.0).abs() < 1e-9, "{found}");
    }

    #[test]
    fn a_queue_is_long_for_a_share_of_the_time() {
        assert_eq!(long_share(&[0.0, 16.0, 17.0, 40.0]), Some(50.0));
        assert_eq!(long_share(&[]), None);
    }

    #[test]
    fn repeats_are_put_together_and_their_disagreement_is_known() {
        let run = |ms: f64, active| Measured {
            durations: vec![(10.0, true), (ms, true)],
            active: Some(active),
            ..Measured::default()
        };
        let pooled = Pooled::of(&[run(20.0, 4.0), run(30.0, 6.0)]);
        assert_eq!(
            (pooled.runs, pooled.durations.ended, pooled.active),
            (2, 4, Some(5.0))
        );
        assert_eq!(pooled.disagreement, Some(50.0));
        assert_eq!(Pooled::of(&[run(20.0, 4.0)]).disagreement, None);
    }

    #[test]
    fn the_long_queue_is_a_thousand_packets_at_the_rate_of_d() {
        let packets = long_packets("496Mbit".parse().unwrap());
        assert!((packets - 1_000.0).abs() < 5.0, "{packets}");
        assert!((long_packets("16Mbit".parse().unwrap()) - 32.0).abs() < 0.5);
    }
}
