//! `isobath report`.

use crate::register::REGISTER;
use anyhow::Context;
use kit::usage::{Usage, print};
use record::{HISTORY, Record};
use report::Subject;
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Folders of records; the first is the reference for the others. A batch folder stands for all its runs, a folder of
    /// 'mbm --every' for its history.
    #[arg(required = true)]
    runs: Vec<PathBuf>,
    /// HTML file to write [default: report.html in the first folder].
    #[arg(short, long)]
    out: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    let page = page(&args.runs)?;
    let out = args
        .out
        .clone()
        .unwrap_or_else(|| args.runs[0].join("report.html"));
    write(&out, page.as_bytes())?;
    print(&out.display().to_string())?;
    Ok(0)
}

/// The page of the records in these folders, or of a monitor's history.
pub(super) fn page(named: &[PathBuf]) -> anyhow::Result<String> {
    let monitor = named.iter().find(|folder| folder.join(HISTORY).exists());
    match (monitor, named) {
        (Some(folder), [_]) => return Ok(report::history_page(folder)?),
        (Some(folder), _) => {
            return Err(Usage::of(anyhow::anyhow!(
                "{} is the folder of 'isobath mbm --every' - report it by itself, or name the runs in it",
                folder.display()
            )));
        }
        (None, _) => {}
    }
    let folders = folders(named)?;
    let subjects = folders
        .iter()
        .map(|folder| {
            let record = Record::open(folder)?;
            let run = REGISTER
                .completed(&record)
                .with_context(|| folder.display().to_string())?;
            Ok(Subject { record, run })
        })
        .collect::<anyhow::Result<Vec<_>>>()?;
    if let [Subject { record, run }] = &subjects[..] {
        let own = REGISTER.of_test(&run.test).ok();
        if let Some(page) = own.and_then(|test| test.page_of(record, run)) {
            return page;
        }
    }
    let composed = super::mbm::composed(&subjects);
    Ok(report::render(&subjects, composed.as_ref())?)
}

/// The record folders; a batch's are those of its cells that have a record, cell by cell.
fn folders(named: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    for folder in named {
        if folder.join(crate::batch::state::FILE).exists() {
            let groups = crate::batch::groups::of_batch(folder)?;
            let members = groups.into_iter().flat_map(|group| group.members);
            let records = members.filter(|member| member.status.is_some());
            all.extend(records.map(|member| member.folder));
        } else {
            all.push(folder.clone());
        }
    }
    if all.is_empty() {
        return Err(Usage::of(anyhow::anyhow!(
            "the batch has no run yet - let it go on with 'isobath batch --resume'"
        )));
    }
    Ok(all)
}

/// Writes a file whole, or not at all. A link at its place is replaced, not followed.
pub(super) fn write(out: &Path, content: &[u8]) -> anyhow::Result<()> {
    let told = || {
        format!(
            "cannot write {} - choose another place with --out",
            out.display()
        )
    };
    let folder = out.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut draft = tempfile::NamedTempFile::new_in(folder.unwrap_or_else(|| Path::new(".")))
        .with_context(told)?;
    draft.write_all(content).with_context(told)?;
    let file = draft
        .persist(out)
        .map_err(|error| error.error)
        .with_context(told)?;
    drop(file);
    // It is for others to read as well.
    Ok(sys::files::let_all_read(out)?)
}
