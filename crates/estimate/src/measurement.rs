//! Estimates among the measurements: their records, and what a server does for them.

use crate::messages::Setup;
use crate::plan::Plan;
use crate::scorecard;
use crate::tables::{ProbeRow, TrainRow};
use kit::far::Equipment;
use kit::measurement::{FarEnd, Figure, Measurement, RoundTrips, figure, read};
use record::{Record, Run};
use schema::estimate::plan::What;
use schema::estimate::{Finding, Summary};
use session::{Control, Error, Session};
use std::sync::Arc;

/// One property of a path.
pub struct Estimate;

impl Measurement for Estimate {
    const TESTS: &'static [&'static str] = &["estimate", "sim-estimate"];
    const FIGURES: &'static [Figure] = &[
        figure("value", "/unit", "/value"),
        figure("at least", "/unit", "/low"),
        figure("at most", "/unit", "/high"),
        figure("took", "s", "/seconds"),
        figure("trains", "", "/trains"),
        figure("probes lost", "", "/probes_lost"),
        figure("overhead", "octets", "/overhead_bytes"),
    ];
    type Summary = Summary;

    /// An estimator says its figure at its end: what is left of a killed run is what it sent.
    fn summary(&self, record: &Record) -> anyhow::Result<Self::Summary> {
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
            finding: Finding::none("the run was cut short before it had an estimate"),
            seconds: end.unwrap_or_default() as f64 / 1e9,
            path_mtu: None,
            trains: u32::try_from(trains.len()).unwrap_or(u32::MAX),
            probes,
            probes_lost: probes.saturating_sub(sum(|train| train.arrived.into())),
            overhead_bytes: sum(|train| train.bytes),
            rider_bytes: 0,
            links: Vec::new(),
        };
        Ok(summary)
    }

    fn scorecard(&self, run: &Run, summary: &Self::Summary) -> String {
        scorecard::scorecard(run, summary)
    }

    /// Of `estimate rtt`: what the others send back travels among packets that fill the path.
    fn round_trips(&self, record: &Record) -> anyhow::Result<RoundTrips> {
        let plan: Plan = read(&record.run().plan, "plan")?;
        let mut found = RoundTrips::default();
        if plan.what == What::Rtt {
            let probes: Vec<ProbeRow> = record.rows()?;
            let back = probes.iter().filter_map(ProbeRow::round_trip_ns);
            found.idle.extend(back.map(|ns| ns as f64 / 1e9));
        }
        Ok(found)
    }
}

impl FarEnd for Estimate {
    const OPENING: &'static str = "estimate";
    type Setup = Setup;

    fn serve(
        &self,
        control: &mut Control,
        session: &Arc<Session>,
        setup: Self::Setup,
        equipment: &Equipment,
    ) -> Result<(), Error> {
        crate::far::serve(control, session, &setup, equipment)
    }
}
