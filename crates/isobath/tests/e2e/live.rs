//! Runs on the full screen, in a terminal of 80 columns and 24 lines.

use crate::support::{Machine, Ran, Running, SMALL_LAB, folder, has};
use std::path::Path;
use std::process::Command;

/// What the terminal is told to take up another screen, and to give it back.
const OPEN: &str = "\u{1b}[?1049h";
const CLOSE: &str = "\u{1b}[?1049l";

/// Runs the program in a terminal of its own; stdout is what the terminal got.
fn in_terminal(place: &Path, line: &str) -> Ran {
    let program = crate::support::PROGRAM;
    let shell = format!("stty cols 80 rows 24 && exec {program} {line}");
    let mut command = Command::new("script");
    command
        .args(["-qec", &shell, "/dev/null"])
        .current_dir(place);
    command.env("TERM", "xterm-256color");
    Running::start(command).finish()
}

/// What is on the screen without the sequences that say where, and without the blanks that these stand for.
fn letters(screen: &str) -> String {
    let mut parts = screen.split('\u{1b}');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (_, shown) = part
            .split_once(|c: char| c.is_ascii_alphabetic())
            .unwrap_or_default();
        text.push_str(shown);
    }
    text.retain(|c| !c.is_whitespace());
    text
}

#[test]
fn every_measurement_has_a_full_screen_and_then_its_scorecard() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    if !has("script") {
        return;
    }
    let place = folder(&[("small.toml", SMALL_LAB)]);
    for (line, view) in [
        ("btc --duration 2", "congestion window, segments"),
        ("estimate rtt --duration 2", "put on the path, MB"),
        (
            "mbm --test paced-full-rate --rate 1Mbit --rtt 50ms --yes --timeout 3s",
            "lost or marked, by packets",
        ),
    ] {
        let ran = in_terminal(place.path(), &format!("{line} --lab small.toml --live"));
        let (_, shown) = ran
            .stdout
            .split_once(OPEN)
            .unwrap_or_else(|| panic!("{line}: {ran:#?}"));
        let (screen, after) = shown.split_once(CLOSE).unwrap();
        let screen = letters(screen);
        for wanted in [view, "small.toml", "q leaves this view"] {
            assert!(
                screen.contains(&letters(wanted)),
                "{line}: no {wanted} in {screen}"
            );
        }
        assert!(
            after.contains("record        isobath-runs/"),
            "{line}: {after}"
        );
    }
}
