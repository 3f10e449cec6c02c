//! The figures, from the tables alone.

use record::Distribution;
use schema::udpst::tables::{UdpstInterval, UdpstTrial};
use schema::udpst::{Summary, Way};

/// A sub-interval within this share of the capacity has reached it.
const REACHED: f64 = 0.95;

/// The summary of a run.
pub fn summarise(trials: &[UdpstTrial], intervals: &[UdpstInterval]) -> Summary {
    let mut summary = Summary {
        sentence: String::new(),
        down: way("down", trials, intervals),
        up: way("up", trials, intervals),
    };
    summary.sentence = sentence(&summary);
    summary
}

fn sentence(summary: &Summary) -> String {
    let ways = [("down", &summary.down), ("up", &summary.up)];
    let told = ways.into_iter().filter_map(|(name, way)| {
        let mbps = way.as_ref()?.capacity_mbps?;
        Some(format!("{mbps:.1} Mbit/s {name}"))
    });
    let told: Vec<String> = told.collect();
    if told.is_empty() {
        return "No IP-layer capacity was measured.".to_owned();
    }
    format!(
        "The maximum IP-layer capacity of this path is {}.",
        told.join(", ")
    )
}

fn way(load: &str, trials: &[UdpstTrial], intervals: &[UdpstInterval]) -> Option<Way> {
    let trials: Vec<_> = trials.iter().filter(|row| row.load == *load).collect();
    let intervals: Vec<_> = intervals.iter().filter(|row| row.load == *load).collect();
    let first = trials.first()?;
    let largest = intervals
        .iter()
        .max_by(|a, b| a.ip_bps.total_cmp(&b.ip_bps));
    let begun_ns = first.t_ns.saturating_sub(first.lasted_ns);
    let reached = intervals
        .iter()
        .find(|row| largest.is_some_and(|largest| row.ip_bps >= REACHED * largest.ip_bps));
    // As they are told, and so in numbers that have room for anything.
    let bytes: f64 = intervals.iter().map(|row| row.ip_bytes as f64).sum();
    let lasted: f64 = intervals.iter().map(|row| row.lasted_ns as f64).sum();
    let sum = |of: fn(&UdpstTrial) -> u32| trials.iter().map(|row| u64::from(of(row))).sum();
    let (lost, arrived): (u64, u64) = (sum(|row| row.lost), sum(|row| row.datagrams));
    let ms = |ns: u64| ns as f64 / 1e6;
    let variation = |of: fn(&UdpstTrial) -> Option<u64>| {
        Distribution::of(trials.iter().filter_map(|row| of(row)).map(ms))
    };
    Some(Way {
        capacity_mbps: largest.map(|row| row.ip_bps / 1e6),
        mean_mbps: (lasted > 0.0).then(|| bytes * 8e3 / lasted),
        reached_s: reached.map(|row| row.t_ns.saturating_sub(begun_ns) as f64 / 1e9),
        intervals: u32::try_from(intervals.len()).unwrap_or(u32::MAX),
        loss_pct: share(lost, arrived),
        reordered: sum(|row| row.reordered),
        duplicates: sum(|row| row.duplicates),
        capacity_loss_pct: largest.and_then(|row| share(row.lost.into(), row.datagrams.into())),
        least_rtt_ms: trials
            .iter()
            .filter_map(|row| row.least_rtt_ns)
            .min()
            .map(ms),
        rtt_variation_ms: variation(|row| row.rtt_variation_ns),
        owd_variation_ms: variation(|row| row.owd_variation_ns),
    })
}

/// What was lost of all that was sent, per cent.
fn share(lost: u64, arrived: u64) -> Option<f64> {
    let sent = lost + arrived;
    (sent > 0).then(|| 100.0 * lost as f64 / sent as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(number: u32, mbps: f64, lost: u32) -> UdpstInterval {
        UdpstInterval {
            t_ns: (u64::from(number) + 2) * 1_000_000_000,
            load: "down".into(),
            interval: number,
            lasted_ns: 1_000_000_000,
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "made up, and small"
            )]
            ip_bytes: (mbps * 125_000.0) as u64,
            ip_bps: mbps * 1e6,
            datagrams: 100,
            lost,
            ..UdpstInterval::default()
        }
    }

    #[test]
    fn the_capacity_is_that_of_the_best_sub_interval() {
        let trial = UdpstTrial {
            t_ns: 1_050_000_000,
            load: "down".into(),
            lasted_ns: 50_000_000,
            datagrams: 90,
            lost: 10,
            rtt_variation_ns: Some(30_000_000),
            least_rtt_ns: Some(20_000_000),
            ..UdpstTrial::default()
        };
        let intervals = [
            interval(0, 50.0, 0),
            interval(1, 97.0, 0),
            interval(2, 100.0, 25),
            interval(3, 99.0, 0),
        ];
        let summary = summarise(&[trial], &intervals);
        assert!(summary.up.is_none());
        let way = summary.down.unwrap();
        assert_eq!((way.capacity_mbps, way.intervals), (Some(100.0), 4));
        assert_eq!(way.reached_s, Some(2.0));
        assert_eq!(
            (way.loss_pct, way.capacity_loss_pct),
            (Some(10.0), Some(20.0))
        );
        assert!((way.mean_mbps.unwrap() - 86.5).abs() < 1e-9);
        assert_eq!(way.rtt_variation_ms.map(|all| all.p50), Some(30.0));
        assert_eq!(way.least_rtt_ms, Some(20.0));
        assert!(
            summary.sentence.contains("100.0 Mbit/s down"),
            "{}",
            summary.sentence
        );
    }

    #[test]
    fn without_a_trial_there_is_nothing() {
        let summary = summarise(&[], &[]);
        assert!(summary.down.is_none());
        assert_eq!(summary.sentence, "No IP-layer capacity was measured.");
    }
}
