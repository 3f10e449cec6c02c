//! Flent's command lines: a test, its data file, and plots of it.

use crate::support::{Machine, entries, folder, run};
use std::fs;
use std::path::Path;

/// The data file in a folder.
fn data_file(folder: &Path) -> String {
    let mut files = entries(folder).into_iter();
    files.find(|name| name.ends_with(".flent.gz")).unwrap()
}

#[test]
fn a_test_of_flents_leaves_a_record_a_data_file_and_a_figure() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = folder(&[]);
    let place = place.path();
    let line = "flent rrul_up -l 3 -d 1 --lab dsl -p all_scaled -o up.svg -t a_title -x -q";
    let words: Vec<_> = line.split(' ').collect();
    let ran = run(place, &words);
    // A busy machine makes a run invalid, and is drawn all the same.
    assert!(matches!(ran.code(), Some(0 | 4)), "{ran:#?}");
    assert!(
        ran.stderr.contains("--extended-metadata is ignored"),
        "{ran:#?}"
    );
    assert!(
        ran.stdout.contains("record        isobath-runs/"),
        "{ran:#?}"
    );
    let file = data_file(place);
    assert!(
        file.starts_with("rrul_up-20") && file.ends_with(".a_title.flent.gz"),
        "{file}"
    );
    assert!(
        ran.stdout.contains(&format!("data file     ./{file}")),
        "{ran:#?}"
    );
    let svg = fs::read_to_string(place.join("up.svg")).unwrap();
    for name in [
        "TCP upload",
        "BE",
        "BK",
        "CS5",
        "EF",
        "Avg",
        "Ping (ms)",
        "UDP EF",
        "UDP BK",
        "UDP BE",
        "a_title",
    ] {
        assert!(svg.contains(&format!(">{name}</text>")), "{name}");
    }
    assert!(!svg.contains("download"));
    for (out, start) in [("up.png", &b"\x89PNG"[..]), ("up.pdf", b"%PDF")] {
        run(place, &["flent", &file, "-p", "ping_cdf", "-o", out]).ended(0);
        assert!(
            fs::read(place.join(out)).unwrap().starts_with(start),
            "{out}"
        );
    }
    let summary = run(place, &["flent", "-i", &file]);
    assert!(
        summary.ended(0).stdout.contains("TCP upload sum"),
        "{summary:#?}"
    );
    let csv = run(place, &["flent", "-i", &file, "-f", "csv"]);
    assert!(
        csv.ended(0).stdout.starts_with("rrul_up,Ping (ms) "),
        "{csv:#?}"
    );
}

#[test]
fn what_flent_can_and_this_program_cannot_is_said_before_a_run() {
    let place = folder(&[]);
    for (line, said) in [
        (
            "rrul_torrent -H host",
            "'rrul_torrent' is neither a test nor a file - use one of: rrul, rrul_be",
        ),
        ("-H host", "no test is named - use one of: rrul"),
        ("rrul", "name a host with -H"),
        (
            "rrul -H host -p qdisc_drops -o x.png",
            "test rrul has no plot 'qdisc_drops' here - use one of: all_scaled",
        ),
        (
            "rrul -H host -p all_scaled",
            "there is no viewer - name a file with -o",
        ),
        (
            "rrul -H host -p all -o x.jpeg",
            "end the name with .png, .svg or .pdf",
        ),
        (
            "rrul -H host --local-bind 10.0.0.1",
            "--local-bind is not supported here",
        ),
        ("rrul ping -H host", "rrul and ping are both tests"),
        ("rrul -H host -D nowhere", "there is no folder nowhere"),
        (
            "tcp_nup -H host --test-parameter cc=bbr",
            "test tcp_nup has no parameter 'cc' here",
        ),
        (
            "ping -H host --swap-up-down",
            "--swap-up-down is not supported for ping",
        ),
        ("rrul -H host -f org_table", "invalid value 'org_table'"),
        ("rrul --lab dls", "no lab is called 'dls'"),
    ] {
        let words: Vec<_> = ["flent"].into_iter().chain(line.split(' ')).collect();
        let ran = run(place.path(), &words);
        let told = ran.refused(2);
        assert!(told.contains(said), "{line}: {told}");
    }
    assert!(entries(place.path()).is_empty());
}

#[test]
fn tests_and_plots_are_listed() {
    let place = folder(&[]);
    let list = |words: &[&str]| run(place.path(), words).ended(0).stdout.clone();
    let tests = list(&["flent", "--list-tests"]);
    assert!(
        tests.starts_with("rrul  ") && tests.contains("\ntcp_nup "),
        "{tests}"
    );
    let plots = list(&["flent", "rrul", "--list-plots"]);
    assert!(
        plots.starts_with("all_scaled ") && plots.contains("\nbox_totals "),
        "{plots}"
    );
}
