//! The measurement, as the skeleton takes it.

use crate::plan::Plan;
use crate::summary::{scorecard, summarise};
use kit::far::Equipment;
use kit::measurement::{FarEnd, Figure, Measurement, figure, read, read_setup};
use record::{Record, Run};
use serde_json::Value;
use session::{Control, Error, Session};
use std::sync::Arc;

/// How long TCP connections take to open.
pub(crate) struct Handshake;

impl Measurement for Handshake {
    fn tests(&self) -> &'static [&'static str] {
        &["handshake"]
    }

    fn summary(&self, record: &Record) -> anyhow::Result<Value> {
        Ok(serde_json::to_value(summarise(&record.rows()?, None))?)
    }

    fn scorecard(&self, run: &Run) -> anyhow::Result<String> {
        Ok(scorecard(run, &read(&run.summary, "summary")?))
    }

    fn figures(&self) -> &'static [Figure] {
        const FIGURES: &[Figure] = &[
            figure("handshake p50", "ms", "/handshake_ms/p50"),
            figure("handshake p95", "ms", "/handshake_ms/p95"),
            figure("opened", "", "/opened"),
        ];
        FIGURES
    }
}

impl FarEnd for Handshake {
    fn opening(&self) -> &'static str {
        "handshake"
    }

    fn serve(
        &self,
        control: &mut Control,
        session: &Arc<Session>,
        setup: Value,
        _: &Equipment,
    ) -> Result<(), Error> {
        let plan: Plan = read_setup(control, setup)?;
        crate::far::serve(control, session, &plan)
    }
}
