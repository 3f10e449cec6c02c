//! The combinations of a sweep, to be compared.

use super::cells::Cell;
use super::journal::Index;
use super::state::State;
use crate::register::REGISTER;
use kit::compare::figures::compared;
use kit::compare::groups::{Group, Member};
use std::path::Path;

/// The groups of the sweep in `dir`, if there is one.
pub(crate) fn of_folder(dir: &Path) -> Option<anyhow::Result<Vec<Group>>> {
    State::is_in(dir).then(|| of_sweep(dir))
}

/// The groups of the sweep in `dir`: one for each combination, of the runs that have been made.
///
/// # Errors
/// When its files cannot be read.
pub(crate) fn of_sweep(dir: &Path) -> anyhow::Result<Vec<Group>> {
    let (state, sweep) = State::load(dir)?;
    let mut groups: Vec<Group> = Vec::new();
    let mut latest = 0;
    for line in Index::of(dir)?.lines() {
        let line = line?;
        let number = line.run;
        let Some(cell) = Cell::of(&sweep, number) else {
            continue;
        };
        let combination = 1 + (number - 1) / u64::from(sweep.repetitions.max(1));
        if combination != latest {
            latest = combination;
            let mut parts = cell.parts();
            parts.push(("batch".to_owned(), state.name.clone()));
            groups.push(Group {
                parts,
                members: Vec::new(),
            });
        }
        let summary = match REGISTER.of_test(&line.test) {
            Ok(measurement) => compared(measurement.figures(), line.summary),
            Err(_) => line.summary,
        };
        let member = Member {
            folder: dir.join(number.to_string()),
            status: Some(line.status),
            test: line.test,
            summary,
            reason: line.reason,
        };
        if let Some(group) = groups.last_mut() {
            group.members.push(member);
        }
    }
    Ok(groups)
}
