//! The groups of a batch, to be compared.

use super::state::{self, State};
use kit::compare::groups::{Group, Member};
use record::Status;
use std::path::Path;

/// The groups of the batch in `dir`, if there is one.
pub(crate) fn of_folder(dir: &Path) -> Option<anyhow::Result<Vec<Group>>> {
    dir.join(state::FILE).exists().then(|| of_batch(dir))
}

/// The groups of the batch in `dir`.
///
/// # Errors
///
/// When `batch.json` cannot be read.
pub(crate) fn of_batch(dir: &Path) -> anyhow::Result<Vec<Group>> {
    let (state, _) = State::load(dir)?;
    let groups = state.groups().map(|cells| {
        let mut parts = cells[0].cell.parts();
        parts.push(("batch".to_owned(), state.name.clone()));
        let members = cells.iter().map(|entry| {
            let folder = dir.join(&entry.cell.folder);
            let mut member = Member::read(folder);
            let unsaid = || format!("the cell is {}", entry.state.word());
            member.reason = member
                .status
                .is_none_or(|status| status != Status::Complete)
                .then(|| entry.reason.clone().unwrap_or_else(unsaid));
            member
        });
        Group {
            members: members.collect(),
            parts,
        }
    });
    Ok(groups.collect())
}
