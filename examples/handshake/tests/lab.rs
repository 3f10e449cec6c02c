//! The sixth measurement works as docs/adding-a-measurement.md says: it is run in labs, shown, compared, and told when killed.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

/// The program, in `folder`.
fn handshake(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_handshake"));
    command
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap()
}

fn text(octets: &[u8]) -> String {
    String::from_utf8_lossy(octets).into_owned()
}

/// Whether this machine lets us make networks; says so if not.
fn can_make_networks() -> bool {
    let allowed = ["-n", "-Urn"].iter().any(|flags| {
        let done = Command::new("unshare").args([flags, "true"]).status();
        done.is_ok_and(|status| status.success())
    }) && std::fs::File::open("/dev/net/tun").is_ok();
    assert!(
        allowed || std::env::var_os("ISOBATH_TEST_NO_SKIP").is_none(),
        "to be skipped: no right to make networks"
    );
    allowed
}

#[test]
fn handshakes_take_the_round_trip_of_the_lab_and_runs_are_shown_and_compared() {
    if !can_make_networks() {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    for (lab, out) in [("dsl", "near"), ("dsl-long", "far")] {
        let ran = handshake(
            place,
            &["run", "--lab", lab, "-c", "10", "--json", "-o", out],
        );
        assert!([Some(0), Some(4)].contains(&ran.status.code()), "{ran:?}");
        let run: Value = serde_json::from_slice(&ran.stdout).unwrap();
        assert_eq!(
            (&run["summary"]["opened"], &run["summary"]["accepted"]),
            (&10.into(), &10.into())
        );
        // 24 and 120 ms of delay there and back.
        let least = run["summary"]["handshake_ms"]["min"].as_f64().unwrap();
        let delay = if lab == "dsl" { 24.0 } else { 120.0 };
        assert!((delay..delay + 20.0).contains(&least), "{least}");
    }
    let shown = text(&handshake(place, &["show", "near"]).stdout);
    assert!(shown.contains("10 of 10 opened"), "{shown}");
    let compared = text(&handshake(place, &["compare", "near", "far"]).stdout);
    assert!(compared.contains("handshake p50, ms"), "{compared}");
    let refused = handshake(place, &["run", "--lab", "dsl", "-c", "0"]);
    assert_eq!(refused.status.code(), Some(2));
}
