//! The words of the command line, as snapshots: no option changes unnoticed.

use crate::support::{Ran, Running, folder, isobath, run};
use std::path::Path;
use std::process::Command;

/// What `--help` prints in a terminal of 100 columns.
fn help(verb: &[&str]) -> String {
    let mut command = isobath(".".as_ref(), &[verb, &["--help"]].concat());
    command.env("COLUMNS", "100");
    Running::start(command).finish().ended(0).stdout.clone()
}

#[test]
fn the_help_of_every_verb_is_what_it_was() {
    let verbs: [&[&str]; 72] = [
        &[],
        &["serve"],
        &["rrul"],
        &["flent"],
        &["btc"],
        &["mbm"],
        &["mbm", "plan"],
        &["mbm", "compose"],
        &["mbm", "passive"],
        &["lab"],
        &["lab", "list"],
        &["lab", "show"],
        &["lab", "shell"],
        &["lab", "run"],
        &["lab", "calibrate"],
        &["manager"],
        &["manager", "up"],
        &["manager", "status"],
        &["manager", "ask"],
        &["manager", "paths"],
        &["manager", "trial"],
        &["manager", "run"],
        &["manager", "medianet"],
        &["estimate"],
        &["rpm"],
        &["udpst"],
        &["far-ends"],
        &["sim"],
        &["sim", "btc"],
        &["sim", "estimate"],
        &["sim", "mbm"],
        &["sim", "rrul"],
        &["sim", "replay"],
        &["sim", "trial"],
        &["sim", "medianet"],
        &["sim", "sweep"],
        &["batch"],
        &["agent"],
        &["fleet"],
        &["fleet", "apply"],
        &["fleet", "status"],
        &["fleet", "runs"],
        &["fleet", "pause"],
        &["fleet", "export"],
        &["fleet", "retention"],
        &["fleet", "ask"],
        &["fleet", "links"],
        &["fleet", "record"],
        &["fleet", "key"],
        &["fleet", "users"],
        &["fleet", "web"],
        &["fleet", "demo"],
        &["trace"],
        &["trace", "extract"],
        &["trace", "describe"],
        &["trace", "convert"],
        &["trace", "transform"],
        &["trace", "fit"],
        &["trace", "synth"],
        &["replay"],
        &["replay", "calibrate"],
        &["replay", "verify"],
        &["experiment"],
        &["experiment", "list"],
        &["experiment", "run"],
        &["experiment", "claims"],
        &["show"],
        &["compare"],
        &["report"],
        &["export"],
        &["import"],
        &["generate"],
    ];
    for verb in verbs {
        let name = [&["isobath"], verb].concat().join("_");
        insta::assert_snapshot!(name, help(verb));
    }
}

#[test]
fn the_program_says_what_it_is() {
    let place = folder(&[]);
    let version = run(place.path(), &["--version"]).ended(0).stdout.clone();
    assert_eq!(
        version.trim(),
        concat!("isobath ", env!("CARGO_PKG_VERSION"))
    );
    let bare = run(place.path(), &[]);
    assert!(
        bare.ended(2).stderr.contains("Usage: isobath <COMMAND>"),
        "{bare:#?}"
    );
}

#[test]
fn completions_are_made_for_every_shell() {
    let place = folder(&[]);
    let completions =
        |shell: &str| -> Ran { run(place.path(), &["generate", "completions", shell]) };
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let text = completions(shell).ended(0).stdout.clone();
        assert!(
            text.contains("isobath") && text.contains("rrul"),
            "{shell}: {text}"
        );
    }
    let script = place.path().join("isobath.bash");
    std::fs::write(&script, completions("bash").stdout).unwrap();
    let checked = Command::new("bash")
        .arg("-n")
        .arg(&script)
        .status()
        .unwrap();
    assert!(
        checked.success(),
        "bash does not understand its completions"
    );
}

#[test]
fn the_manual_has_a_page_for_every_verb() {
    let place = folder(&[]);
    let page = |verb: &[&str]| -> Ran { run(place.path(), &[&["generate", "man"], verb].concat()) };
    for verb in [
        "serve", "rrul", "batch", "lab", "show", "compare", "report", "export", "import",
    ] {
        let text = page(&[verb]).ended(0).stdout.clone();
        assert!(
            text.contains(".TH ") && text.contains(".SH SYNOPSIS"),
            "{verb}: {text}"
        );
    }
    assert!(page(&[]).ended(0).stdout.contains(".SH SUBCOMMANDS"));
    assert!(
        page(&["sound"])
            .refused(2)
            .contains("there is no verb 'sound'")
    );
}

/// The files below a folder, by their paths in it.
fn files(folder: &Path, below: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, below, found);
        } else {
            let name = path.strip_prefix(below).unwrap();
            found.push(name.to_str().unwrap().to_owned());
        }
    }
}

#[test]
fn what_a_package_installs_is_written_where_systems_look_for_it() {
    let place = folder(&[]);
    run(place.path(), &["generate", "share", "new/share"]).ended(0);
    let share = place.path().join("new/share");
    let mut found = Vec::new();
    files(&share, &share, &mut found);
    for wanted in [
        "man/man1/isobath.1",
        "man/man1/isobath-rrul.1",
        "man/man1/isobath-sim-btc.1",
        "bash-completion/completions/isobath",
        "fish/vendor_completions.d/isobath.fish",
        "zsh/site-functions/_isobath",
        "isobath/isobath.lua",
    ] {
        assert!(
            found.iter().any(|name| name == wanted),
            "{wanted}: {found:?}"
        );
    }
    assert!(
        !found.iter().any(|name| name.contains("generate")),
        "{found:?}"
    );
    let page = std::fs::read_to_string(share.join("man/man1/isobath-sim-btc.1")).unwrap();
    assert!(page.contains(".TH isobath-sim-btc 1"), "{page}");
    assert!(page.contains(".SH OPTIONS"), "{page}");

    let taken = run(
        place.path(),
        &["generate", "share", "new/share/man/man1/isobath.1"],
    );
    assert!(taken.refused(3).contains("choose another folder"));
}
