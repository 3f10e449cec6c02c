//! Every measurement of the program, and what its server does for clients.

use crate::cli::lab::books::LabRun;
use crate::flent_record::FlentRecord;
use calibrate::Calibration;
use kit::register::Register;

/// To add a measurement is to add a line to each list.
pub(crate) static REGISTER: Register = Register {
    measurements: &[
        &rrul::Rrul,
        &btc::Btc,
        &mbm_run::Mbm,
        &estimate::Estimate,
        &rpm::Rpm,
        &udpst::Udpst,
        &tmix::replay::Replay,
        &studies::trial::Trial,
        &studies::medianet::MediaNet,
        &Calibration,
        &LabRun,
        &FlentRecord,
    ],
    far_ends: &[
        &rrul::Rrul,
        &btc::Btc,
        &mbm_run::Mbm,
        &estimate::Estimate,
        &tmix::replay::Replay,
    ],
    page: Some(test_page::make),
};

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::collections::BTreeSet;

    #[test]
    fn no_two_measurements_have_the_same_records_and_no_two_far_ends_the_same_opening() {
        let tests = || REGISTER.measurements.iter().flat_map(|m| m.tests());
        assert_eq!(tests().collect::<BTreeSet<_>>().len(), tests().count());
        let openings = || REGISTER.far_ends.iter().map(|far_end| far_end.opening());
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
            assert!(REGISTER.far_end(line).is_none());
        }
        let (found, setup) = REGISTER
            .far_end(json!({ "btc": { "origin_ns": 1 } }))
            .unwrap();
        assert_eq!((found.opening(), setup), ("btc", json!({ "origin_ns": 1 })));
    }

    #[test]
    fn names_of_figures_with_their_units_fit_the_table() {
        for figure in REGISTER.measurements.iter().flat_map(|m| m.figures()) {
            let text = format!("{}, {}", figure.name.replace('*', "AF41"), figure.unit);
            assert!(text.len() <= 24, "{text}");
        }
    }
}
