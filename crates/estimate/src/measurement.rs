//! Estimates among the measurements: their records, and what a server does for them.

use crate::finding::Finding;
use crate::messages::Setup;
use crate::plan::Plan;
use crate::scorecard;
use crate::summary::Summary;
use crate::tables::TrainRow;
use kit::far::Equipment;
use kit::measurement::{FarEnd, Figure, Measurement, figure, read, read_setup};
use record::{Record, Run};
use serde_json::Value;
use session::{Control, Error, Session};
use std::sync::Arc;

/// One property of a path.
pub struct Estimate;

impl Measurement for Estimate {
    fn tests(&self) -> &'static [&'static str] {
        &["estimate", "sim-estimate"]
    }

    /// An estimator says its figure at its end: what is left of a killed run is what it sent.
    fn summary(&self, record: &Record) -> anyhow::Result<Value> {
        let plan: Plan = read(&record.run().plan, "plan")?;
        let trains: Vec<TrainRow> = record.rows()?;
        let sum = |of: fn(&TrainRow) -> u64| trains.iter().map(of).sum::<u64>();
        let probes = sum(|train| train.probes.into());
        let end = trains
            .iter()
            .map(|train| train.t_ns + train.lasted_ns)
            .max();
        let summary = Summary {
            what: plan.what,
            direction: plan.direction.label().to_owned(),
            estimator: plan.method,
            unit: plan.what.unit().to_owned(),
            finding: Finding::none("the run was cut short before it came to a figure"),
            seconds: end.unwrap_or_default() as f64 / 1e9,
            path_mtu: None,
            trains: u32::try_from(trains.len()).unwrap_or(u32::MAX),
            probes,
            probes_lost: probes.saturating_sub(sum(|train| train.arrived.into())),
            overhead_bytes: sum(|train| train.bytes),
            rider_bytes: 0,
            links: Vec::new(),
        };
        Ok(serde_json::to_value(summary)?)
    }

    fn scorecard(&self, run: &Run) -> anyhow::Result<String> {
        Ok(scorecard::scorecard(run, &read(&run.summary, "summary")?))
    }

    fn figures(&self) -> &'static [Figure] {
        FIGURES
    }
}

impl FarEnd for Estimate {
    fn opening(&self) -> &'static str {
        "estimate"
    }

    fn serve(
        &self,
        control: &mut Control,
        session: &Arc<Session>,
        setup: Value,
        equipment: &Equipment,
    ) -> Result<(), Error> {
        let setup: Setup = read_setup(control, setup)?;
        crate::far::serve(control, session, &setup, equipment)
    }
}

const FIGURES: &[Figure] = &[
    figure("value", "/unit", "/value"),
    figure("at least", "/unit", "/low"),
    figure("at most", "/unit", "/high"),
    figure("took", "s", "/seconds"),
    figure("trains", "", "/trains"),
    figure("probes lost", "", "/probes_lost"),
    figure("overhead", "octets", "/overhead_bytes"),
];
