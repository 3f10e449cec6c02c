//! Plots of the files that Flent wrote.

use super::*;
use crate::{Limits, import};
use plots::{Format, Shape};
use std::fs::File;
use std::path::Path;

const LOOK: Look = Look {
    size_in: (6.4, 4.8),
    from_zero: false,
};

fn file(name: &str) -> Imported {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let file = File::open(data.join(format!("{name}.flent.gz"))).unwrap();
    import(file, &Limits::default()).unwrap()
}

fn labels(panel: &Panel) -> Vec<&str> {
    let labels = panel.marks.iter().filter_map(|mark| mark.label.as_deref());
    labels.collect()
}

#[test]
fn all_scaled_is_download_upload_and_latency() {
    let figure = draw(&[file("rrul")], "all_scaled", LOOK).unwrap();
    assert_eq!(
        figure.title,
        [
            "Realtime Response Under Load",
            "Throughput and latency, without outliers",
            "fixture"
        ]
    );
    assert_eq!(
        figure.foot,
        "Local/remote: client/127.0.0.1 - Time: 2026-11-21T11:54:04.862269Z - Length/step: 4.00s/0.50s"
    );
    let [down, up, ping] = &figure.panels[..] else {
        panic!("{} panels", figure.panels.len());
    };
    assert_eq!(labels(down), ["BE", "BK", "CS5", "EF", "Avg"]);
    assert_eq!(labels(up), labels(down));
    assert_eq!(labels(ping), ["UDP EF", "UDP BK", "UDP BE", "ICMP", "Avg"]);
    let titles = [down, up, ping].map(|panel| panel.legend_title.as_str());
    assert_eq!(titles, ["TCP download", "TCP upload", "Ping (ms)"]);
    let names = [down, up, ping].map(|panel| (panel.left.label.as_str(), panel.x.label.as_str()));
    let wanted = [
        ("Mbits/s", ""),
        ("Mbits/s", ""),
        ("Latency (ms)", "Time (s)"),
    ];
    assert_eq!(names, wanted);
    let strokes: Vec<_> = (down.marks.iter())
        .map(|mark| (mark.stroke.colour.as_str(), mark.stroke.width_pt))
        .collect();
    assert_eq!(strokes[0], (COLOURS[0], 1.0));
    assert_eq!(strokes[3], (COLOURS[3], 1.0));
    assert_eq!(strokes[4], ("black", 2.0));
}

#[test]
fn several_files_differ_by_dashes_or_colour_and_by_name() {
    let two = [file("ping"), file("ping")];
    let figure = draw(&two, "ping", LOOK).unwrap();
    let lines: Vec<_> = figure.panels[0].marks.iter().collect();
    assert_eq!(
        labels(&figure.panels[0]),
        [
            "UDP - fixture",
            "ICMP - fixture",
            "UDP - fixture",
            "ICMP - fixture"
        ]
    );
    assert_eq!(lines[0].stroke.colour, lines[2].stroke.colour);
    assert!(lines[0].stroke.dashes.is_empty() && !lines[2].stroke.dashes.is_empty());
    let two = [file("tcp_bidirectional"), file("tcp_bidirectional")];
    let figure = draw(&two, "ping_cdf", LOOK).unwrap();
    let colours: Vec<_> = (figure.panels[0].marks.iter())
        .map(|mark| mark.stroke.colour.as_str())
        .collect();
    assert_eq!(colours, COLOURS[..2]);
    let figure = draw(&two, "box_totals", LOOK).unwrap();
    assert_eq!(figure.panels[0].groups.len(), 3);
    let at: Vec<f64> = (figure.panels[0].marks.iter())
        .map(|mark| match mark.shape {
            Shape::Box { at, .. } => at,
            Shape::Line(_) => f64::NAN,
        })
        .collect();
    assert_eq!(at, [1.0, 2.0, 4.0, 5.0, 7.0, 8.0]);
}

#[test]
fn every_plot_of_every_test_can_be_drawn_of_some_file() {
    for name in ["rrul", "tcp_bidirectional", "ping", "voip"] {
        let file = [file(name)];
        for plot in plots_of(name) {
            let figure = draw(&file, plot.name, LOOK).unwrap();
            assert!(!figure.panels.is_empty(), "{name} {}", plot.name);
            figure.render(Format::Svg, 100.0).unwrap();
        }
    }
}

#[test]
fn panels_are_plots_of_the_same_test() {
    for test in crate::TESTS {
        let all = plots_of(test);
        for plot in &all {
            let Kind::Panels(names) = &plot.kind else {
                continue;
            };
            for name in names {
                assert!(all.iter().any(|one| one.name == *name), "{test} {name}");
            }
        }
    }
}

#[test]
fn what_cannot_be_drawn_is_said_in_one_line() {
    let refused = |test, plot| draw(&[file(test)], plot, LOOK).unwrap_err().to_string();
    assert_eq!(
        refused("ping", "all_scaled"),
        "test 'ping' has no plot 'all_scaled' here - use one of: ping, ping_cdf"
    );
    let mut empty = file("voip");
    empty.source.roles.clear();
    let nothing = draw(&[empty], "voip_delay", LOOK).unwrap_err();
    assert_eq!(
        nothing.to_string(),
        "there is nothing to draw in plot 'voip_delay' - see which series there are with '-f summary'"
    );
}
