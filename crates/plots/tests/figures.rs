//! Figures as files.
#![expect(clippy::unwrap_used, reason = "tests and what they share")]

use isobath_plots::{Axis, Error, Figure, Format, Group, Mark, Panel, Shape, Side, Stroke, Ticks};
use std::path::Path;

fn mark(shape: Shape, side: Side, label: Option<&str>) -> Mark {
    Mark {
        shape,
        stroke: Stroke {
            colour: "#1b9e77".to_owned(),
            width_pt: 1.0,
            dashes: vec![2.0, 4.0],
        },
        side,
        label: label.map(str::to_owned),
    }
}

/// Two panels: lines on two axes, and boxes.
fn figure() -> Figure {
    let line = (0..1_000)
        .map(|x| (f64::from(x) / 10.0, f64::from(x % 17)))
        .collect();
    let gap = vec![(0.0, 1.0), (40.0, f64::NAN), (60.0, 5.0), (100.0, 3.0)];
    let lines = Panel {
        x: Axis::numbers("Time (s)", (0.0, 100.0)),
        left: Axis::numbers("Mbit/s", (0.0, 20.0)),
        right: Some(Axis::numbers("Latency (ms)", (0.0, 6.0))),
        marks: vec![
            mark(Shape::Line(line), Side::Left, Some("up <&> down")),
            mark(Shape::Line(gap), Side::Right, Some("round trips")),
        ],
        legend_title: "series".to_owned(),
        groups: Vec::new(),
    };
    let samples = (0..100).map(f64::from).chain([400.0, f64::NAN]).collect();
    let boxes = Panel {
        x: Axis {
            label: String::new(),
            bounds: (0.0, 2.0),
            ticks: Ticks::Names(vec![(1.0, "a file".to_owned())]),
        },
        left: Axis::numbers("ms", (0.0, 410.0)),
        right: None,
        marks: vec![mark(Shape::Box { at: 1.0, samples }, Side::Left, None)],
        legend_title: String::new(),
        groups: vec![Group {
            name: "a group".to_owned(),
            middle: 1.0,
            end: 2.0,
        }],
    };
    Figure {
        title: vec!["a title".to_owned(), "and its second line".to_owned()],
        foot: "small print".to_owned(),
        panels: vec![lines, boxes],
        size_in: (6.4, 4.8),
    }
}

fn svg(figure: &Figure) -> String {
    String::from_utf8(figure.render(Format::Svg, 100.0).unwrap()).unwrap()
}

#[test]
fn everything_that_has_a_name_is_named() {
    let svg = svg(&figure());
    for text in [
        "a title",
        "and its second line",
        "small print",
        "Time (s)",
        "Mbit/s",
        "Latency (ms)",
        "series",
        "up &lt;&amp;&gt; down",
        "round trips",
        "a file",
        "a group",
        ">100</text>",
    ] {
        assert!(svg.contains(text), "{text} is not in\n{svg}");
    }
    assert!(!svg.contains("NaN"), "{svg}");
}

#[test]
fn a_gap_is_not_bridged() {
    let mut figure = figure();
    figure.panels.truncate(1);
    figure.panels[0].marks.remove(0);
    let svg = svg(&figure);
    let dashed = svg.lines().filter(|line| line.contains("stroke-dasharray"));
    // The point before the gap, the line behind it, and the one in the legend.
    assert_eq!(dashed.count(), 3, "{svg}");
}

#[test]
fn a_box_has_a_median_whiskers_and_what_is_beyond_them() {
    let mut figure = figure();
    figure.panels.remove(0);
    let svg = svg(&figure);
    assert_eq!(svg.matches("#ff7f0e").count(), 1, "the median");
    // Box, two whiskers with ends, and the cross at 400.
    assert_eq!(svg.matches("#1b9e77").count(), 1 + 4 + 2, "{svg}");
}

#[test]
fn a_png_has_the_dots_that_were_asked_for_and_a_pdf_its_font() {
    let figure = figure();
    let png = figure.render(Format::Png, 50.0).unwrap();
    assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
    assert_eq!(png[16..24], [0, 0, 1, 64, 0, 0, 0, 240], "320 by 240 dots");
    let pdf = figure.render(Format::Pdf, 50.0).unwrap();
    assert!(pdf.starts_with(b"%PDF-"));
    let text = String::from_utf8_lossy(&pdf);
    assert!(text.contains("DejaVuSans"), "the font is in it");
    // 6.4 by 4.8 inches in points.
    let page = text.split("/MediaBox [0 0 ").nth(1).unwrap();
    let sides: Vec<f64> = (page.split([' ', ']']).take(2))
        .map(|side| side.parse().unwrap())
        .collect();
    assert!(
        (sides[0] - 460.8).abs() < 0.01 && (sides[1] - 345.6).abs() < 0.01,
        "{sides:?}"
    );
}

#[test]
fn a_figure_is_the_same_octets_every_time() {
    for format in [Format::Svg, Format::Png, Format::Pdf] {
        let once = figure().render(format, 30.0).unwrap();
        assert!(once == figure().render(format, 30.0).unwrap(), "{format:?}");
    }
}

#[test]
fn what_cannot_be_drawn_is_refused_in_one_line() {
    for (dpi, size_in) in [
        (1e9, (6.4, 4.8)),
        (f32::NAN, (6.4, 4.8)),
        (0.0, (6.4, 4.8)),
        (100.0, (0.0, 4.8)),
        (100.0, (f64::INFINITY, 4.8)),
        (100.0, (-1.0, f64::NAN)),
    ] {
        let figure = Figure {
            size_in,
            ..figure()
        };
        let refused = figure.render(Format::Png, dpi).unwrap_err();
        assert!(matches!(refused, Error::Size { .. }), "{dpi} {size_in:?}");
        assert!(!refused.to_string().contains('\n'));
    }
}

#[test]
fn a_figure_too_small_for_its_words_is_drawn_all_the_same() {
    let figure = Figure {
        size_in: (0.3, 0.2),
        ..figure()
    };
    assert!(figure.render(Format::Png, 100.0).is_ok());
}

#[test]
fn the_name_of_a_file_tells_its_format() {
    let of = |name: &str| Format::of(Path::new(name));
    assert_eq!(of("a/b.PNG").unwrap(), Format::Png);
    assert_eq!(of("b.svg").unwrap(), Format::Svg);
    assert_eq!(of("b.c.pdf").unwrap(), Format::Pdf);
    let refused = of("b.jpeg").unwrap_err().to_string();
    assert_eq!(
        refused,
        "'b.jpeg' does not say what to draw - end the name with .png, .svg or .pdf"
    );
}
