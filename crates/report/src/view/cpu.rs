//! Table `cpu`: how busy the hosts were.

use super::each;
use crate::envelope::{Envelope, Line};
use record::Record;
use schema::tables::Cpu;
use serde::Serialize;
use std::collections::BTreeMap;

/// One host.
#[expect(clippy::struct_field_names, reason = "named as in the tables")]
#[derive(Serialize)]
pub(crate) struct Host {
    host: String,
    busy_pct: Line,
    max_pct: Line,
    steal_pct: Line,
    process_pct: Line,
}

/// Reads the table.
pub(crate) fn read(record: &Record) -> Result<Vec<Host>, record::Error> {
    let mut hosts: BTreeMap<String, [Envelope; 4]> = BTreeMap::new();
    each(record, |row: Cpu| {
        let lines = hosts.entry(row.host.into_owned()).or_default();
        let values = [row.busy_pct, row.max_pct, row.steal_pct, row.process_pct];
        for (line, value) in lines.iter_mut().zip(values) {
            line.push(row.t_ns, value);
        }
    })?;
    let host = |(host, [busy, max, steal, process]): (String, [Envelope; 4])| Host {
        host,
        busy_pct: busy.line(),
        max_pct: max.line(),
        steal_pct: steal.line(),
        process_pct: process.line(),
    };
    Ok(hosts.into_iter().map(host).collect())
}
