//! How sure the figures are that people ask for first.
//!
//! The samples of one run follow each other through the same queue, so each says little that its neighbours do not. The seconds of a
//! phase are less alike, and where they still are, [`stats::interval::mean_in_time`] counts fewer of them:
//!
//! - of a median, the half width is that of the mean of the medians of each second;
//! - of a rate, that of the mean of the rates of each second;
//! - a share of requests that were lost has Wilson's interval, as if each were lost or not by itself. Losses in bursts make it too
//!   narrow.

use super::view::{View, is_latency, is_paced};
use schema::rrul::Bounds;
use schema::tables::Stream;
use stats::interval::{Interval, mean_in_time};
use std::collections::BTreeMap;
use std::ops::Range;

const SECOND_NS: u64 = 1_000_000_000;
const LEVEL: f64 = 0.95;
/// A second with fewer round trips has no median worth the name.
const LEAST_SAMPLES: usize = 3;

impl View<'_> {
    /// The 95 % intervals of the summary's figures, by their paths.
    pub(super) fn intervals(&self) -> BTreeMap<String, Bounds> {
        let mut all = BTreeMap::new();
        let mut medians = |path: &str, wanted: &dyn Fn(&Stream) -> bool| {
            for (phase, when) in [("idle", &self.idle), ("loaded", &self.loaded)] {
                let bounds = self.median(when, wanted);
                all.extend(bounds.map(|bounds| (format!("{path}.{phase}.p50"), bounds)));
            }
        };
        medians("latency_ms", &is_latency);
        medians("paced_ms", &is_paced);
        medians("tcp_rr_ms", &|stream| stream.kind == "tcp_rr");
        medians("dns_ms", &|stream| stream.kind == "dns");
        for stream in self.tables.streams.iter().filter(|s| is_latency(s)) {
            let path = format!("latency_ms.by_class.{}", stream.class);
            medians(&path, &|s| is_latency(s) && s.class == stream.class);
        }
        let mut shares = |path: &str, wanted: &dyn Fn(&Stream) -> bool| {
            for (phase, when) in [("idle", &self.idle), ("loaded", &self.loaded)] {
                let bounds = self.share_lost(when, wanted);
                all.extend(bounds.map(|bounds| (format!("{path}.{phase}"), bounds)));
            }
        };
        shares("loss_pct", &is_latency);
        shares("paced_loss_pct", &is_paced);
        let [down, up] = ["down", "up"].map(|direction| self.rates_by_second(direction));
        let sum: Vec<f64> = down.iter().zip(&up).map(|(down, up)| down + up).collect();
        for (path, rates) in [("down", &down), ("up", &up), ("sum", &sum)] {
            let rate = mean_in_time(rates, LEVEL).map(bounds);
            all.extend(rate.map(|bounds| (format!("throughput_mbps.{path}"), bounds)));
        }
        all
    }

    /// Of the median round trip of the wanted streams, in ms.
    fn median(&self, when: &Range<u64>, wanted: &dyn Fn(&Stream) -> bool) -> Option<Bounds> {
        let mut seconds: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
        for sample in self.samples(wanted).filter(|s| when.contains(&s.t_ns)) {
            if let Some(rtt_ns) = sample.rtt_ns {
                let second = seconds.entry((sample.t_ns - when.start) / SECOND_NS);
                second.or_default().push(rtt_ns as f64 / 1e6);
            }
        }
        let enough = seconds.into_values().filter(|s| s.len() >= LEAST_SAMPLES);
        let medians = enough.filter_map(|mut samples| {
            samples.sort_unstable_by(f64::total_cmp);
            stats::quantile(&samples, 0.5)
        });
        let (interval, n) = mean_in_time(&medians.collect::<Vec<_>>(), LEVEL)?;
        // Around the median of all, which the seconds' mean is near.
        let median = self.round_trips(when, wanted)?.p50;
        let half = (interval.high - interval.low) / 2.0;
        Some(Bounds {
            low: (median - half).max(0.0),
            high: median + half,
            n,
        })
    }

    /// Of the share of the wanted streams' requests that were never answered, in per cent.
    fn share_lost(&self, when: &Range<u64>, wanted: &dyn Fn(&Stream) -> bool) -> Option<Bounds> {
        let (sent, lost) = self.requests(when, wanted);
        let interval = stats::proportion::wilson(lost, sent, LEVEL)?;
        Some(Bounds {
            low: interval.low * 100.0,
            high: interval.high * 100.0,
            n: sent as f64,
        })
    }

    /// Mbit/s of the payload of all load streams of `direction` in each whole second of the loaded time.
    fn rates_by_second(&self, direction: &str) -> Vec<f64> {
        let whole = (self.loaded.end - self.loaded.start) / SECOND_NS;
        let mut bytes = vec![0_u64; usize::try_from(whole).unwrap_or_default()];
        let at_receiver = self.bins(direction, true).next().is_some();
        for row in self.bins(direction, at_receiver) {
            let middle = row.t_ns.saturating_sub(row.bin_ns / 2);
            let second = middle.saturating_sub(self.loaded.start) / SECOND_NS;
            let octets = if at_receiver {
                row.delivered_bytes
            } else {
                row.acked_bytes
            };
            if let Some(sum) = usize::try_from(second)
                .ok()
                .and_then(|at| bytes.get_mut(at))
            {
                *sum = sum.saturating_add(octets.unwrap_or_default());
            }
        }
        if bytes.iter().all(|bytes| *bytes == 0) {
            return Vec::new();
        }
        bytes.iter().map(|bytes| *bytes as f64 * 8e-6).collect()
    }
}

fn bounds((interval, n): (Interval, f64)) -> Bounds {
    Bounds {
        low: interval.low.max(0.0),
        high: interval.high,
        n,
    }
}
