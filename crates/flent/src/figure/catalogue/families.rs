//! The plots of each test.
//!
//! Flent's tests come in families of the same plots. Tests that are none of these get the plots of the family that their series
//! are most like.

use super::{
    Kind, Label, Pick, Plot, SMOOTHING, Spec, Which, at_right, mean, one, pick, plot, smooth,
};
use crate::export::ICMP;
use plots::Side;

const LATENCY: &str = "Latency (ms)";
const MEAN_PING: &str = "Ping (ms) avg";

/// What a figure of the test is headed with.
pub(in crate::figure) fn describe(test: &str) -> String {
    match test {
        "rrul" => "Realtime Response Under Load".to_owned(),
        "rrul_be" => "Realtime Response Under Load - best effort".to_owned(),
        "rrul_cs8" => "Realtime Response Under Load - 8 class selectors".to_owned(),
        "rrul_noclassification" => "Realtime Response Under Load - without classes".to_owned(),
        "rrul_up" => "Realtime Response Under Load - upload".to_owned(),
        other => other.to_owned(),
    }
}

/// The plots of a test, the usual one first.
pub(in crate::figure) fn plots(test: &str) -> Vec<Plot> {
    let is_up = test.ends_with("up") || test.ends_with("upload");
    let is_down = test.ends_with("down") || test.ends_with("download");
    let (up, down) = (is_up || !is_down, is_down || !is_up);
    match test {
        "ping" => ping(),
        _ if test.starts_with("voip") => voip(is_up, is_down),
        _ if test.starts_with("http") && test != "http-rrul" => http(is_up, is_down),
        "tcp_upload" | "tcp_download" | "tcp_bidirectional" | "tcp_1up" | "tcp_1down" => {
            single(up, down)
        }
        _ if test.starts_with("tcp_") => numbered(up, down),
        _ => rrul(up, down),
    }
}

/// Names of what there is in one direction: its plots, series and labels.
struct Direction {
    name: &'static str,
    scaled: &'static str,
    boxes: &'static str,
    way: &'static str,
    title: &'static str,
    words: &'static str,
    mean: &'static str,
    sum: &'static str,
    label: &'static str,
}

const DOWN: Direction = Direction {
    name: "download",
    scaled: "download_scaled",
    boxes: "box_download",
    way: "down",
    title: "TCP download",
    words: "TCP download ",
    mean: "TCP download avg",
    sum: "TCP download sum",
    label: "Download",
};
const UP: Direction = Direction {
    name: "upload",
    scaled: "upload_scaled",
    boxes: "box_upload",
    way: "up",
    title: "TCP upload",
    words: "TCP upload ",
    mean: "TCP upload avg",
    sum: "TCP upload sum",
    label: "Upload",
};

fn directions(up: bool, down: bool) -> impl Iterator<Item = Direction> {
    let both = [(down, DOWN), (up, UP)];
    both.into_iter()
        .filter(|(is, _)| *is)
        .map(|(_, direction)| direction)
}

impl Direction {
    /// Its loads one by one, and their mean.
    fn loads(&self, label: Label) -> Spec {
        let loads = pick(Which::Loads(self.way), label);
        Spec::of(vec![loads, mean(self.mean, "Avg", SMOOTHING)]).titled(self.title)
    }
}

fn round_trips(label: Label) -> Pick {
    pick(Which::RoundTrips, label)
}

/// Realtime response under load.
fn rrul(up: bool, down: bool) -> Vec<Plot> {
    let pings = || {
        let each = round_trips(Label::After("Ping (ms) "));
        let series = vec![each, mean(MEAN_PING, "Avg", SMOOTHING)];
        Spec::of(series).titled("Ping (ms)").left(LATENCY)
    };
    let totals = || {
        let sums = directions(up, down).map(|way| smooth(one(way.sum, way.label)));
        let mut series: Vec<Pick> = sums.collect();
        series.push(at_right(smooth(one(MEAN_PING, "Ping (ms)"))));
        Spec::of(series).right(LATENCY)
    };
    let all = |names: fn(&Direction) -> &'static str, ping| {
        let mut panels: Vec<_> = directions(up, down).map(|way| names(&way)).collect();
        panels.push(ping);
        Kind::Panels(panels)
    };
    let icmp = Spec::of(vec![one(ICMP, "Ping (ms)")])
        .left(LATENCY)
        .loaded();
    let mut bandwidth = totals();
    bandwidth.series.retain(|pick| pick.side == Side::Left);
    let mut plots = vec![
        plot(
            "all_scaled",
            "Throughput and latency, without outliers",
            all(|way| way.scaled, "ping_scaled"),
        ),
        plot("all", "Throughput and latency", all(|way| way.name, "ping")),
    ];
    for way in directions(up, down) {
        let loads = || way.loads(Label::After(way.words));
        plots.push(plot(
            way.name,
            "Throughput of each stream",
            Kind::Lines(loads()),
        ));
        let scaled = Kind::Lines(loads().scaled());
        plots.push(plot(
            way.scaled,
            "Throughput of each stream, without outliers",
            scaled,
        ));
        plots.push(plot(
            way.boxes,
            "Throughput of each stream",
            Kind::Boxes(loads()),
        ));
    }
    plots.extend([
        plot("ping", "Latency", Kind::Lines(pings())),
        plot(
            "ping_scaled",
            "Latency, without outliers",
            Kind::Lines(pings().scaled()),
        ),
        plot(
            "ping_cdf",
            "Distribution of latency under load",
            Kind::Cdf(pings().loaded()),
        ),
        plot(
            "icmp_cdf",
            "Distribution of ICMP latency under load",
            Kind::Cdf(icmp),
        ),
        plot("box_ping", "Latency", Kind::Boxes(pings())),
        plot(
            "totals",
            "Total throughput and mean latency",
            Kind::Lines(totals()),
        ),
        plot(
            "totals_scaled",
            "Total throughput and mean latency, without outliers",
            Kind::Lines(totals().scaled()),
        ),
        plot(
            "totals_bandwidth",
            "Total throughput",
            Kind::Lines(bandwidth),
        ),
        plot(
            "box_totals",
            "Total throughput and mean latency",
            Kind::Boxes(totals()),
        ),
    ]);
    plots
}

/// Plots of round trips of the tests that have ICMP ones only.
fn icmp_plots() -> [Plot; 3] {
    let ping = || one(ICMP, "Ping (ms)");
    let smoothed = vec![ping(), mean(ICMP, "Avg (smoothing)", 5)];
    let single = || Spec::of(vec![ping()]).left(LATENCY);
    [
        plot("ping", "Latency", Kind::Lines(single())),
        plot(
            "ping_smooth",
            "Latency and its smoothed mean",
            Kind::Lines(Spec::of(smoothed).titled("Ping (ms)").left(LATENCY)),
        ),
        plot(
            "ping_cdf",
            "Distribution of latency under load",
            Kind::Cdf(single().loaded()),
        ),
    ]
}

/// One stream a direction.
fn single(up: bool, down: bool) -> Vec<Plot> {
    let rates = || {
        directions(up, down)
            .map(|way| one(way.title, way.label))
            .collect::<Vec<_>>()
    };
    let totals = || {
        let series = rates()
            .into_iter()
            .chain([at_right(one(ICMP, "Ping (ms)"))]);
        Spec::of(series.collect()).right(LATENCY)
    };
    let mut plots = vec![
        plot("totals", "Throughput and latency", Kind::Lines(totals())),
        plot("bandwidth", "Throughput", Kind::Lines(Spec::of(rates()))),
        plot(
            "box_totals",
            "Throughput and latency under load",
            Kind::Boxes(totals().loaded()),
        ),
    ];
    for way in directions(up, down) {
        let spec = Spec::of(vec![one(way.title, way.label)]).titled(way.title);
        plots.push(plot(way.name, "Throughput", Kind::Lines(spec)));
    }
    plots.extend(icmp_plots());
    plots
}

/// Several streams one way.
fn numbered(up: bool, down: bool) -> Vec<Plot> {
    let totals = || {
        let sums = directions(up, down).map(|way| one(way.sum, way.label));
        let series = sums.chain([at_right(one(ICMP, "Ping (ms)"))]);
        Spec::of(series.collect()).right(LATENCY)
    };
    let mut plots = vec![
        plot("totals", "Throughput and latency", Kind::Lines(totals())),
        plot(
            "box_totals",
            "Throughput and latency under load",
            Kind::Boxes(totals().loaded()),
        ),
    ];
    for way in directions(up, down) {
        let loads = || way.loads(Label::After(way.words.trim_end()));
        plots.push(plot(
            way.name,
            "Throughput of each stream",
            Kind::Lines(loads()),
        ));
        let scaled = Kind::Lines(loads().scaled());
        plots.push(plot(
            way.scaled,
            "Throughput of each stream, without outliers",
            scaled,
        ));
    }
    plots.extend(icmp_plots());
    plots
}

/// Round trips alone.
fn ping() -> Vec<Plot> {
    let pings = || {
        Spec::of(vec![round_trips(Label::After("Ping (ms) "))])
            .titled("Ping (ms)")
            .left(LATENCY)
    };
    vec![
        plot("ping", "Latency", Kind::Lines(pings())),
        plot("ping_cdf", "Distribution of latency", Kind::Cdf(pings())),
    ]
}

/// Plots of `delay` beside one stream, if there is one.
fn beside(delay: &'static str, up: bool, down: bool) -> Vec<Plot> {
    let rates: Vec<Pick> = directions(up, down)
        .map(|way| one(way.title, way.title))
        .collect();
    if rates.is_empty() {
        return Vec::new();
    }
    vec![
        plot(
            "totals",
            "Throughput and delay",
            Kind::Panels(vec!["bandwidth", delay]),
        ),
        plot("bandwidth", "Throughput", Kind::Lines(Spec::of(rates))),
    ]
}

/// Pages.
fn http(up: bool, down: bool) -> Vec<Plot> {
    let delay = || Spec::of(vec![one("HTTP latency", "HTTP get (ms)")]);
    let mut plots = beside("http_delay", up, down);
    plots.extend([
        plot("http_delay", "Time of page loads", Kind::Lines(delay())),
        plot(
            "http_delay_cdf",
            "Distribution of page load times",
            Kind::Cdf(delay().loaded()),
        ),
    ]);
    plots
}

/// Calls.
fn voip(up: bool, down: bool) -> Vec<Plot> {
    let delay = || {
        let series = vec![
            one("VoIP::delay", "VoIP delay"),
            one("VoIP::jitter", "VoIP jitter"),
        ];
        Spec::of(series).left("One-way delay (ms)")
    };
    let mut plots = beside("voip_delay", up, down);
    plots.extend([
        plot(
            "voip_delay",
            "Delay and jitter of a call",
            Kind::Lines(delay()),
        ),
        plot(
            "voip_delay_cdf",
            "Distribution of a call's delay and jitter",
            Kind::Cdf(delay().loaded()),
        ),
        plot(
            "voip_delay_box",
            "Delay and jitter of a call",
            Kind::Boxes(delay().loaded()),
        ),
    ]);
    plots
}
