//! What the rows of a run tell that has no summary.

use super::Transfer;
use crate::view::each;
use record::Record;
use schema::btc::tables::{Transfer as TransferRow, WindowRow};
use std::collections::BTreeMap;

/// Transfers of a record without a table of them, as the windows tell.
pub(super) fn unfinished(record: &Record) -> Result<Vec<Transfer>, record::Error> {
    let mut starts: BTreeMap<u16, u64> = BTreeMap::new();
    each(record, |row: WindowRow| {
        let start = starts.entry(row.transfer).or_insert(row.t_ns);
        *start = row.t_ns.min(*start);
    })?;
    let transfer = |(transfer, start_ns)| {
        Transfer::from(TransferRow {
            transfer,
            start_ns,
            repeat: u32::from(transfer),
            tool: "unknown".into(),
            outcome: "cut short".into(),
            ..TransferRow::default()
        })
    };
    Ok(starts.into_iter().map(transfer).collect())
}
