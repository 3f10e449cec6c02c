//! The page that is compiled in is that of the sources in `ui/`.

#![expect(clippy::unwrap_used, reason = "a test")]

use std::fs;
use std::path::{Path, PathBuf};

fn ui() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ui")
}

/// The files of the page, as `ui/sources.mjs` names them.
fn sources() -> Vec<(String, Vec<u8>)> {
    let roots = [
        "index.html",
        "package-lock.json",
        "package.json",
        "sources.mjs",
        "tsconfig.json",
        "vite.config.ts",
    ];
    let mut paths: Vec<PathBuf> = roots.iter().map(|name| ui().join(name)).collect();
    collect(&ui().join("src"), &mut paths);
    let named = |path: &PathBuf| {
        let name = path.strip_prefix(ui()).unwrap().to_str().unwrap();
        (name.replace('\\', "/"), fs::read(path).unwrap())
    };
    let mut sources: Vec<_> = paths.iter().map(named).collect();
    sources.sort();
    sources
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, paths);
        } else {
            paths.push(path);
        }
    }
}

#[test]
fn the_page_is_built_from_the_sources_beside_it() {
    let sources = sources();
    let hash = isobath_report::sources_hash(
        sources
            .iter()
            .map(|(name, content)| (name.as_str(), content.as_slice())),
    );
    assert_eq!(
        isobath_report::page_sources(),
        hash,
        "ui/ has changed since the page was built: run scripts/ui.sh build"
    );
}

#[test]
fn the_lock_file_names_no_places_on_the_network() {
    let lock = fs::read_to_string(ui().join("package-lock.json")).unwrap();
    assert!(!lock.contains("\"resolved\""), "see ui/.npmrc");
    assert!(!lock.contains("https://registry"), "see ui/.npmrc");
}
