//! What makes the packages works: the scripts are scripts, the templates fill, version and changelog agree and can be cut.

use crate::{project, read};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// Runs a script of the project, below `root`.
fn script(root: &Path, name: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(root.join("scripts").join(name));
    command.args(arguments).current_dir(root).output().unwrap()
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    assert!(!output.status.success(), "{output:?}");
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn every_script_is_understood_by_the_shell() {
    let mut checked = 0;
    for folder in ["scripts", "packaging/debian"] {
        for entry in fs::read_dir(project().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let text = fs::read_to_string(&path).unwrap();
            if text.starts_with("#!/bin/sh") {
                let output = Command::new("sh").arg("-n").arg(&path).output().unwrap();
                assert!(output.status.success(), "{output:?}");
                checked += 1;
            }
        }
    }
    assert!(checked >= 10, "{checked}");
}

#[test]
fn manifest_lock_file_and_changelog_have_one_version() {
    stdout(&script(&project(), "version.sh", &["check"]));
    let version = stdout(&script(&project(), "version.sh", &[]));
    assert_eq!(version.trim(), env!("CARGO_PKG_VERSION"));
}

#[test]
fn a_release_is_cut_in_all_places_or_in_none() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path();
    fs::create_dir(root.join("scripts")).unwrap();
    let files = ["Cargo.toml", "Cargo.lock", "CHANGELOG.md"];
    for file in files.iter().chain(&["scripts/version.sh"]) {
        fs::copy(project().join(file), root.join(file)).unwrap();
    }
    // The newest section may be one of a release, or one that waits for the next.
    let changelog = read("CHANGELOG.md");
    let at = changelog.find("\n## [").unwrap() + 1;
    let current = env!("CARGO_PKG_VERSION");
    let waiting = format!(
        "{}## [{current}] - Unreleased\n\n{}",
        &changelog[..at],
        &changelog[at..]
    );
    fs::write(root.join("CHANGELOG.md"), waiting).unwrap();

    let cut = |version: &str| script(root, "version.sh", &["cut", version]);
    let kept = || files.map(|file| fs::read_to_string(root.join(file)).unwrap());
    let before = kept();
    assert!(stderr(&cut("0.0.1")).contains("is older than"));
    assert!(stderr(&cut("1.0")).contains("is no version"));
    assert_eq!(kept(), before, "a refusal changes nothing");

    stdout(&cut("98.7.6"));
    let [manifest, lock, changelog] = kept();
    assert!(manifest.contains("\nversion = \"98.7.6\"\n"));
    let changed =
        |old: &str, new: &str| old.lines().zip(new.lines()).filter(|(a, b)| a != b).count();
    assert_eq!(changed(&before[0], &manifest), 1);
    assert_eq!(
        changed(&before[1], &lock),
        before[1].matches("\nname = \"isobath").count() - unreleased(&before[1])
    );
    assert_eq!(before[1].len() > lock.len(), current.len() > "98.7.6".len());
    assert!(changelog.contains("\n## [98.7.6] - 20"));
    assert!(stderr(&cut("98.7.7")).contains("begin one for what is new"));
}

/// Crates of ours that are in no release.
fn unreleased(lock: &str) -> usize {
    let packages = lock.split("\n\n");
    let ours = packages.filter(|text| text.contains("\nname = \"isobath"));
    ours.filter(|text| text.contains("\nversion = \"0.0.0\""))
        .count()
}

/// The names between @ in a template.
fn names(template: &str) -> Vec<String> {
    let text = read(template);
    let is_name = |part: &&str| {
        !part.is_empty()
            && part
                .chars()
                .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
    };
    let mut names: Vec<String> = text.split('@').filter(is_name).map(str::to_owned).collect();
    names.sort();
    names.dedup();
    names
}

#[test]
fn templates_fill_and_refuse_to_stay_half_empty() {
    for template in [
        "debian/control.in",
        "homebrew/isobath.rb.in",
        "openwrt/Makefile.in",
    ] {
        let path = format!("packaging/{template}");
        let names = names(&path);
        assert!(names.contains(&"VERSION".to_owned()), "{names:?}");
        let pairs: Vec<String> = names
            .iter()
            .map(|name| format!("{name}=a|b&c\\{name}"))
            .collect();
        let arguments = |pairs: &[String]| -> Output {
            let arguments: Vec<&str> = [path.as_str()]
                .into_iter()
                .chain(pairs.iter().map(String::as_str))
                .collect();
            script(&project(), "templates.sh", &arguments)
        };
        let filled = stdout(&arguments(&pairs));
        for name in &names {
            assert!(filled.contains(&format!("a|b&c\\{name}")), "{filled}");
            assert!(!filled.contains(&format!("@{name}@")), "{filled}");
        }
        assert!(stderr(&arguments(&pairs[1..])).contains(&format!("no value for @{}@", names[0])));
        assert!(
            stderr(&arguments(&[pairs, vec!["OTHER=1".to_owned()]].concat()))
                .contains("has no @OTHER@")
        );
    }
}
