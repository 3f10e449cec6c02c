//! Every measurement that there is, and every far end that a server is: to add one is to add a line.

use crate::calibrate::Calibration;
use crate::flent_record::FlentRecord;
use anyhow::anyhow;
use kit::measurement::{FarEnd, Measurement};
use record::{Record, Run};
use serde_json::Value;

/// What records there are.
pub(crate) const MEASUREMENTS: &[&dyn Measurement] = &[
    &rrul::Rrul,
    &btc::Btc,
    &mbm_run::Mbm,
    &estimate::Estimate,
    &tmix::replay::Replay,
    &studies::trial::Trial,
    &studies::medianet::MediaNet,
    &Calibration,
    &FlentRecord,
];

/// What a server does for its clients.
pub(crate) const FAR_ENDS: &[&dyn FarEnd] = &[
    &rrul::Rrul,
    &btc::Btc,
    &mbm_run::Mbm,
    &estimate::Estimate,
    &tmix::replay::Replay,
];

/// The measurement whose records say `test`.
///
/// # Errors
/// When this version has none.
pub(crate) fn of_test(test: &str) -> anyhow::Result<&'static dyn Measurement> {
    let mut all = MEASUREMENTS.iter();
    let found = all.find(|measurement| measurement.tests().contains(&test));
    found.copied().ok_or_else(|| {
        anyhow!("a record of test '{test}' has no scorecard here - look at it with --json")
    })
}

/// The run of a record; one that was killed before it could write a summary gets it from its tables.
///
/// # Errors
/// When its plan or its tables are of another version.
pub(crate) fn completed(record: &Record) -> anyhow::Result<Run> {
    let mut run = record.run().clone();
    let summary = run.summary.as_object();
    if summary.is_none_or(serde_json::Map::is_empty)
        && let Ok(measurement) = of_test(&run.test)
    {
        run.summary = measurement.summary(record)?;
    }
    Ok(run)
}

/// The far end that the first line of a client asks for, and its set-up.
pub(crate) fn far_end(line: Value) -> Option<(&'static dyn FarEnd, Value)> {
    let Value::Object(line) = line else {
        return None;
    };
    let (opening, setup) = line.into_iter().next()?;
    let mut all = FAR_ENDS.iter();
    let found = all.find(|far_end| far_end.opening() == opening)?;
    Some((*found, setup))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::collections::BTreeSet;

    #[test]
    fn no_two_measurements_have_the_same_records_and_no_two_far_ends_the_same_opening() {
        let tests = || MEASUREMENTS.iter().flat_map(|m| m.tests());
        assert_eq!(tests().collect::<BTreeSet<_>>().len(), tests().count());
        let openings = || FAR_ENDS.iter().map(|far_end| far_end.opening());
        assert_eq!(
            openings().collect::<BTreeSet<_>>().len(),
            openings().count()
        );
    }

    #[test]
    fn a_line_that_asks_for_nothing_is_nobodys() {
        for line in [
            json!(null),
            json!("btc"),
            json!({}),
            json!({ "nothing": {} }),
        ] {
            assert!(far_end(line).is_none());
        }
        let (found, setup) = far_end(json!({ "btc": { "origin_ns": 1 } })).unwrap();
        assert_eq!((found.opening(), setup), ("btc", json!({ "origin_ns": 1 })));
    }
}
