//! The figures, from the tables alone.

use super::probes::responsiveness;
use kit::stream::nanos;
use probe::stability::{Confidence, MAD, Settling};
use record::Distribution;
use schema::rpm::tables::{RpmInterval, RpmProbe};
use schema::rpm::{Foreign, Plan, Summary, Way};
use std::time::Duration;

/// Milliseconds in a minute.
const MINUTE_MS: f64 = 60_000.0;

/// The summary of a run of `plan`.
pub fn summarise(plan: &Plan, probes: &[RpmProbe], intervals: &[RpmInterval]) -> Summary {
    let idle: Vec<_> = probes.iter().filter(|probe| probe.load == "idle").collect();
    let idle = foreign(&idle);
    // HTTP/3 has one handshake, HTTP/2 over TLS has two.
    let handshakes = [&idle.tcp_ms, &idle.tls_ms].into_iter().flatten();
    let means: Vec<f64> = handshakes.chain(&idle.http_ms).map(|d| d.mean).collect();
    let is_whole = idle.tls_ms.is_some() && idle.http_ms.is_some();
    let idle_rpm = is_whole.then(|| MINUTE_MS * means.len() as f64 / means.iter().sum::<f64>());
    let mut summary = Summary {
        sentence: String::new(),
        idle,
        idle_rpm,
        down: way(plan, "down", probes, intervals),
        up: way(plan, "up", probes, intervals),
    };
    summary.sentence = sentence(&summary);
    summary
}

fn sentence(summary: &Summary) -> String {
    let ways = [("down", &summary.down), ("up", &summary.up)];
    let told = ways.into_iter().filter_map(|(name, way)| {
        let way = way.as_ref()?;
        let rpm = way.rpm?;
        Some(format!(
            "{rpm:.0} {name} ({} confidence)",
            way.rpm_confidence
        ))
    });
    let told: Vec<String> = told.collect();
    let idle = summary
        .idle_rpm
        .map_or_else(String::new, |rpm| format!("; {rpm:.0} idle"));
    if told.is_empty() {
        return "No responsiveness under load was measured.".to_owned();
    }
    format!(
        "Under load this path has so many round trips per minute: {}{idle}.",
        told.join(", ")
    )
}

fn way(plan: &Plan, load: &str, probes: &[RpmProbe], intervals: &[RpmInterval]) -> Option<Way> {
    let intervals: Vec<_> = intervals.iter().filter(|row| row.load == load).collect();
    let last = *intervals.last()?;
    let (mut goodput, mut rpm) = (Settling::default(), Settling::default());
    for row in &intervals {
        goodput.push(row.goodput_bps);
        row.rpm.map(|figure| rpm.push(figure));
    }
    let window = plan.interval.0 * u32::try_from(MAD).unwrap_or(1);
    let found = responsiveness(probes, load, last.t_ns, window);
    let recent = |kind: &str| recent(probes, load, kind, last.t_ns, window);
    let own = recent("self");
    let of_load = probes.iter().filter(|probe| probe.load == load);
    let confidence = if goodput.has_settled() {
        rpm.confidence()
    } else {
        // Without a full path it is not what was asked for.
        Confidence::Low
    };
    Some(Way {
        rpm: found.and_then(|found| found.rpm),
        rpm_confidence: confidence.word().to_owned(),
        rpm_draft_03: found.and_then(|found| found.draft_03),
        foreign_rpm: found.and_then(|found| found.foreign),
        self_rpm: found.and_then(|found| found.loaded),
        goodput_mbps: Some(last.goodput_bps / 1e6),
        goodput_confidence: goodput.confidence().word().to_owned(),
        connections: last.connections,
        intervals: u32::try_from(intervals.len()).unwrap_or(u32::MAX),
        foreign: foreign(&recent("foreign")),
        self_ms: times(&own, |probe| probe.http_ns),
        failed: of_load.filter(|probe| probe.http_ns.is_none()).count() as u64,
    })
}

/// The requests of a kind that ended in the last intervals.
fn recent<'a>(
    probes: &'a [RpmProbe],
    load: &str,
    kind: &str,
    t_ns: u64,
    window: Duration,
) -> Vec<&'a RpmProbe> {
    let times = t_ns.saturating_sub(nanos(window))..=t_ns;
    let of_load = probes
        .iter()
        .filter(|probe| probe.load == load && probe.kind == kind);
    of_load
        .filter(|probe| times.contains(&probe.ended_ns))
        .collect()
}

fn foreign(probes: &[&RpmProbe]) -> Foreign {
    Foreign {
        tcp_ms: times(probes, |probe| probe.tcp_ns),
        tls_ms: times(probes, |probe| probe.tls_ns),
        http_ms: times(probes, |probe| probe.http_ns),
    }
}

fn times(probes: &[&RpmProbe], of: fn(&RpmProbe) -> Option<u64>) -> Option<Distribution> {
    let ms = probes
        .iter()
        .filter_map(|probe| Some(of(probe)? as f64 / 1e6));
    Distribution::of(ms)
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::Ways;
    use units::{HttpVersion, Span};

    fn plan() -> Plan {
        Plan {
            url: "https://h".to_owned(),
            http: HttpVersion::H2,
            ways: Ways::Both,
            interval: Span(Duration::from_secs(1)),
            most: Span(Duration::from_secs(30)),
            idle_probes: 1,
            most_connections: 16,
            most_probes_per_s: 100,
        }
    }

    fn probe(at_s: u64, load: &'static str, kind: &'static str, ms: u64) -> RpmProbe {
        let ns = Some(ms * 1_000_000);
        let foreign = ns.filter(|_| kind == "foreign");
        RpmProbe {
            t_ns: at_s * 1_000_000_000,
            ended_ns: at_s * 1_000_000_000 + ms * 1_000_000,
            load: load.into(),
            kind: kind.into(),
            tcp_ns: foreign,
            tls_ns: foreign,
            http_ns: ns,
        }
    }

    fn interval(number: u32, goodput_bps: f64, rpm: Option<f64>) -> RpmInterval {
        RpmInterval {
            interval: number,
            load: "down".into(),
            t_ns: (u64::from(number) + 2) * 1_000_000_000,
            connections: number + 1,
            goodput_bps,
            rpm,
            ..RpmInterval::default()
        }
    }

    #[test]
    fn figures_are_those_of_the_last_intervals() {
        let mut probes = vec![probe(0, "idle", "foreign", 10)];
        // The first is before the last four intervals.
        for (at, ms) in [(1, 900), (6, 100), (7, 100), (8, 100)] {
            probes.push(probe(at, "down", "foreign", ms));
            probes.push(probe(at, "down", "self", ms / 5));
        }
        let intervals: Vec<_> = (0..8)
            .map(|n| interval(n, 8e6, (n > 3).then_some(1_800.0)))
            .collect();
        let summary = summarise(&plan(), &probes, &intervals);
        let way = summary.down.unwrap();
        assert!((summary.idle_rpm.unwrap() - 6_000.0).abs() < 1e-6);
        assert!((way.foreign_rpm.unwrap() - 600.0).abs() < 1e-6);
        assert!((way.self_rpm.unwrap() - 3_000.0).abs() < 1e-6);
        assert!((way.rpm.unwrap() - 1_800.0).abs() < 1e-6);
        assert_eq!(
            (&*way.rpm_confidence, &*way.goodput_confidence),
            ("high", "high")
        );
        assert_eq!((way.intervals, way.connections), (8, 8));
        assert!(summary.up.is_none());
    }

    #[test]
    fn what_has_not_settled_is_not_trusted() {
        let intervals: Vec<_> = (0..5)
            .map(|n| interval(n, f64::from(n + 1) * 1e6, None))
            .collect();
        let way = summarise(&plan(), &[], &intervals).down.unwrap();
        assert_eq!((way.rpm, &*way.rpm_confidence), (None, "low"));
        assert_eq!(way.goodput_confidence, "medium");
    }
}
