//! What a package installs beside the program, each file where the system looks for it below `/usr/share` (or the `share` of
//! another prefix): a manual page for every verb, completions for the shells that have a folder for them, the dissector.

use super::DISSECTOR;
use anyhow::Context as _;
use clap::Command;
use clap_complete::Shell;
use std::fs;
use std::path::Path;

const MANUAL: &str = "man/man1";

/// The shells' own folders for completions that come with packages.
const COMPLETIONS: [(Shell, &str); 3] = [
    (Shell::Bash, "bash-completion/completions/isobath"),
    (Shell::Fish, "fish/vendor_completions.d/isobath.fish"),
    (Shell::Zsh, "zsh/site-functions/_isobath"),
];

pub(super) fn write(mut command: Command, folder: &Path) -> anyhow::Result<()> {
    let manual = folder.join(MANUAL);
    fs::create_dir_all(&manual)
        .and_then(|()| clap_mangen::generate_to(command.clone(), &manual))
        .with_context(|| refused(&manual))?;
    for (shell, path) in COMPLETIONS {
        let mut text = Vec::new();
        clap_complete::generate(shell, &mut command, "isobath", &mut text);
        put(&folder.join(path), &text)?;
    }
    put(&folder.join("isobath/isobath.lua"), DISSECTOR.as_bytes())
}

/// Writes a file, and the folders that it lies in.
fn put(path: &Path, octets: &[u8]) -> anyhow::Result<()> {
    let parent = path.parent().unwrap_or(path);
    fs::create_dir_all(parent)
        .and_then(|()| fs::write(path, octets))
        .with_context(|| refused(path))
}

fn refused(path: &Path) -> String {
    format!(
        "{} cannot be written - choose another folder",
        path.display()
    )
}
