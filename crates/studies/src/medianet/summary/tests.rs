use super::*;
use crate::medianet::plan::WHOLE;
use schema::published;
use units::Span;

#[test]
fn what_is_published_about_the_record_is_true() {
    published::schema::<Summary>("medianet");
    published::columns::<FrameRow>();
    published::columns::<ReportRow>();
    published::columns::<ViewRow>();
    published::columns::<AskedRow>();
    published::columns::<BottleneckRow>();
}

fn frame(stream: u8, kind: Kind, fate: &'static str, delay_ms: u64) -> FrameRow {
    FrameRow {
        t_ns: 1_000_000_000,
        stream,
        kind: kind.name().into(),
        number: 0,
        bytes: kind.octets(),
        fate: fate.into(),
        ended_ns: (fate != "under_way").then_some(1_000_000_000 + delay_ms * 1_000_000),
    }
}

fn view(s: u64, levels: &'static str, reconfigured: bool) -> ViewRow {
    ViewRow {
        t_ns: s * 1_000_000_000,
        cause: "report".into(),
        view_mbps: 1.0,
        levels: levels.into(),
        reconfigured,
    }
}

fn carried(s: u64, own: u64, cross: u64) -> BottleneckRow {
    BottleneckRow {
        t_ns: s * 1_000_000_000,
        lasted_ns: 1_000_000_000,
        own_bytes: own,
        cross_bytes: cross,
        dropped: 0,
    }
}

fn rows() -> Rows {
    Rows {
        frames: vec![
            frame(0, Kind::I, "decoded", 50),
            frame(0, Kind::P, "decoded", 70),
            frame(1, Kind::P, "undecodable", 60),
            frame(2, Kind::B, "dropped", 900),
            frame(2, Kind::B, "under_way", 0),
        ],
        reports: Vec::new(),
        views: vec![
            view(0, "HHH", false),
            view(2, "HHH", false),
            view(4, "HML", true),
        ],
        asked: vec![
            AskedRow {
                t_ns: 2_000_000_000,
                ended_ns: 4_000_000_000,
                conclusive: true,
                value_mbps: Some(3.5),
                own_mbps: 2.0,
                overhead_bytes: Some(100_000),
                rider_bytes: Some(50),
                ..AskedRow::default()
            },
            AskedRow::default(),
        ],
        carried: (0..10)
            .map(|s| carried(s, 100_000, if s < 3 { 500_000 } else { 750_000 }))
            .collect(),
    }
}

fn plan() -> Plan {
    Plan {
        probes: Probes::Pathload,
        riding: false,
        duration: WHOLE,
        delay: Span::from_millis(10),
        interval: Span::from_millis(2_000),
        creep: None,
        patience: Span::from_millis(60_000),
        seed: 1,
    }
}

/// Holds manager/medianet-metrics, manager/frames.
#[test]
fn figures_follow_from_the_rows() {
    let bottleneck = Bottleneck {
        link: "x1-x2".to_owned(),
        direction: "up".to_owned(),
        rate: "10Mbit".parse().unwrap(),
    };
    let summary = summarise(&plan(), &rows(), 10.0, &bottleneck, Vec::new());
    let is = |found: f64, expected: f64| {
        assert!((found - expected).abs() < 1e-9, "{found} {expected}");
    };
    is(summary.decoded_per_s, 0.2);
    is(summary.decoded_mbps, 21_125.0 * 8e-6 / 10.0);
    is(summary.failed_pct.unwrap(), 50.0);
    is(summary.undecodable_pct.unwrap(), 100.0 / 3.0);
    let fates = summary.frames;
    assert_eq!(
        fates.offered,
        fates.decoded + fates.undecodable + fates.dropped + fates.under_way
    );
    is(summary.delay_ms.unwrap().mean, 60.0);
    // 4 s at 3, 6 s at 1 + 0.5 + 0.3.
    is(summary.utility, 0.4 * 3.0 + 0.6 * 1.8);
    assert_eq!(summary.reconfigurations, 1);
    is(summary.streams[1].medium_pct, 60.0);
    is(summary.streams[1].high_pct, 40.0);
    is(summary.without_cross_mbps.unwrap(), 10.0 - 5.4);
    let estimates = summary.estimates.unwrap();
    assert_eq!((estimates.asked, estimates.completed), (2, 1));
    is(estimates.seconds.unwrap().mean, 2.0);
    // 4 and 6 Mbit/s of others, and 2 Mbit/s of frames in whole packets.
    is(
        estimates.error_mbps.unwrap().mean,
        3.5 - (10.0 - 5.0 - 2.0 * 1_500.0 / 1_448.0),
    );
    is(estimates.overhead_mbps, 0.08);
}
