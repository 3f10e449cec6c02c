//! Which plots a test has, by Flent's names.
//!
//! Flent's tests come in families of the same plots. Tests that are none of these get the plots of the family that their series
//! are most like.

use super::scale::{ALL, Quantiles, SCALED};
use crate::export::ICMP;
use crate::import::Source;
use crate::naming::Role;
use plots::Side;

/// A plot of a test.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    /// Its name, as Flent has it.
    pub name: &'static str,
    /// What it shows, in a line.
    pub description: &'static str,
    pub(super) kind: Kind,
}

/// What kind of picture a plot is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    Lines(Spec),
    Cdf(Spec),
    Boxes(Spec),
    /// Other plots of the test above each other.
    Panels(Vec<&'static str>),
}

/// What a plot is of.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Spec {
    pub(super) series: Vec<Pick>,
    pub(super) legend_title: &'static str,
    /// What the axes of y are called, if not by the unit.
    pub(super) left: Option<&'static str>,
    pub(super) right: Option<&'static str>,
    pub(super) scaling: Quantiles,
    /// Only what was measured under load.
    pub(super) only_loaded: bool,
}

/// Series of a plot that are drawn alike.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pick {
    which: Which,
    label: Label,
    pub(super) side: Side,
    /// Values of which the mean is drawn, around each; 0 for the values themselves.
    pub(super) smoothing: usize,
    /// Drawn thick and black.
    pub(super) is_mean: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Which {
    /// The one of that name.
    One(&'static str),
    /// Loads in a direction.
    Loads(&'static str),
    /// Round trips by UDP and ICMP.
    RoundTrips,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Label {
    This(&'static str),
    /// What follows these words in the series' name.
    After(&'static str),
}

/// Values around each that Flent's `Avg` is the mean of; Flent makes its 10 odd.
const SMOOTHING: usize = 11;
const LATENCY: &str = "Latency (ms)";
const MEAN_PING: &str = "Ping (ms) avg";

impl Pick {
    /// The series of a file that are meant, with their labels, in natural order.
    pub(super) fn find<'a>(&'a self, source: &'a Source) -> Vec<(&'a str, String, &'a Self)> {
        let named = source.roles.iter();
        let mut found: Vec<&str> = named
            .filter(|(name, role)| self.which.is(name, role))
            .map(|(name, _)| name.as_str())
            .collect();
        found.sort_by_key(|name| (rank(name), natural(name)));
        let label = |name: &str| match self.label {
            Label::This(label) => label.to_owned(),
            Label::After(words) => name.strip_prefix(words).unwrap_or(name).to_owned(),
        };
        found
            .into_iter()
            .map(|name| (name, label(name), self))
            .collect()
    }
}

impl Which {
    fn is(self, name: &str, role: &Role) -> bool {
        match self {
            Self::One(wanted) => name == wanted,
            Self::Loads(direction) => role.is_load() && role.direction == direction,
            Self::RoundTrips => {
                let is_plain = matches!(role.kind, "udp_rr" | "icmp_rr") && !role.marked;
                is_plain && !role.computed
            }
        }
    }
}

/// Round trips are listed as RRUL lists its classes, those by ICMP last.
fn rank(name: &str) -> u8 {
    let Some(rest) = name.strip_prefix("Ping (ms) ") else {
        return 0;
    };
    match rest.trim_start_matches("UDP ") {
        "EF" => 0,
        "BK" => 1,
        "BE" => 2,
        other if other.starts_with("ICMP") => 4,
        _ => 3,
    }
}

/// `TCP upload::2` before `TCP upload::10`.
fn natural(name: &str) -> (&str, u64) {
    let words = name.trim_end_matches(|c: char| c.is_ascii_digit());
    (words, name[words.len()..].parse().unwrap_or_default())
}

impl Spec {
    fn of(series: Vec<Pick>) -> Self {
        Self {
            series,
            legend_title: "",
            left: None,
            right: None,
            scaling: ALL,
            only_loaded: false,
        }
    }

    fn titled(self, legend_title: &'static str) -> Self {
        Self {
            legend_title,
            ..self
        }
    }

    fn left(self, label: &'static str) -> Self {
        let left = Some(label);
        Self { left, ..self }
    }

    fn right(self, label: &'static str) -> Self {
        let right = Some(label);
        Self { right, ..self }
    }

    fn scaled(self) -> Self {
        let scaling = SCALED;
        Self { scaling, ..self }
    }

    fn loaded(self) -> Self {
        let only_loaded = true;
        Self {
            only_loaded,
            ..self
        }
    }
}

fn pick(which: Which, label: Label) -> Pick {
    Pick {
        which,
        label,
        side: Side::Left,
        smoothing: 0,
        is_mean: false,
    }
}

fn one(name: &'static str, label: &'static str) -> Pick {
    pick(Which::One(name), Label::This(label))
}

/// The thick black line.
fn mean(name: &'static str, label: &'static str, smoothing: usize) -> Pick {
    let is_mean = true;
    Pick {
        smoothing,
        is_mean,
        ..one(name, label)
    }
}

fn smooth(pick: Pick) -> Pick {
    let smoothing = SMOOTHING;
    Pick { smoothing, ..pick }
}

fn at_right(pick: Pick) -> Pick {
    let side = Side::Right;
    Pick { side, ..pick }
}

fn plot(name: &'static str, description: &'static str, kind: Kind) -> Plot {
    Plot {
        name,
        description,
        kind,
    }
}

/// What a figure of the test is headed with.
pub(super) fn describe(test: &str) -> String {
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
pub(super) fn plots(test: &str) -> Vec<Plot> {
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
