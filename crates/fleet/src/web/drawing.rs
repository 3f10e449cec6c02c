//! Pages of records that other hosts made, each drawn by a process of its own, which may take so much memory (on Linux) and time: a table of
//! a few kilobytes can claim rows for all of this machine's memory, and an allocation that fails ends its process.

use anyhow::Context as _;
use kit::pool::child;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use sys::process;

/// Octets of address space.
const MEMORY: u64 = 4 << 30;
/// Octets of a page.
const LONGEST_PAGE: u64 = 64 << 20;
/// How long drawing may take: nobody waits longer for an answer.
const PATIENCE: Duration = Duration::from_secs(50);

/// The page of the record in `folder`, beside which it is put.
///
/// # Errors
/// What the program says of the record; when drawing it took too much.
pub(super) fn page(folder: &Path) -> anyhow::Result<String> {
    let page = folder.join("report.html");
    let names = [folder, &page].map(|path| path.to_string_lossy().into_owned());
    let [folder, to] = names;
    let arguments = ["report".to_owned(), folder, "--out".to_owned(), to];
    let command = child::command(&arguments, []);
    let child = process::spawn_confined(command, MEMORY, LONGEST_PAGE)?;
    let is_late = AtomicBool::new(false);
    let watch = |took| is_late.store(took > PATIENCE, Ordering::Relaxed);
    let ended = child::follow(child, &is_late, Duration::ZERO, &watch)?;
    anyhow::ensure!(
        !is_late.load(Ordering::Relaxed),
        "drawing it took longer than {} s",
        PATIENCE.as_secs()
    );
    if ended.exit_status != Some(0) {
        anyhow::bail!("drawing it failed: {}", ended.said.unwrap_or_default());
    }
    let length = fs::metadata(&page).context("the page")?.len();
    anyhow::ensure!(length <= LONGEST_PAGE, "its page has {length} octets");
    fs::read_to_string(page).context("the page")
}
