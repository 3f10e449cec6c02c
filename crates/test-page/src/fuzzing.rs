//! For the fuzz target `browser`: what becomes of a browser's words.

use crate::call;
use crate::findings::Findings;
use crate::page_loads;
use crate::plan::{Carrier, plan, streams};
use rrul::tables::Tables;

/// Reads `text` as what a browser has found, and makes of it what a run would: rows, and a summary.
///
/// # Errors
/// As for a browser, when these are no findings.
pub fn browser(text: &str) -> Result<(Tables, schema::rrul::Summary), String> {
    let plan = plan(Carrier::Datagrams);
    let streams = streams(&plan, 6);
    let mut found = Findings::read(text, &plan, &streams)?;
    let mut tables = Tables::new(&streams, None);
    if let Some(end) = found.call() {
        call::enter(&end, &end, &streams, &mut tables);
    }
    page_loads::enter(&found.pages, 0, "host", &mut tables);
    found.enter(&streams, &mut tables);
    let summary = rrul::summary::summarise(&plan, &tables);
    Ok((tables, summary))
}
