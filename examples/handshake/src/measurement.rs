//! The measurement, as the skeleton takes it.

use crate::plan::Plan;
use crate::summary::{Summary, scorecard, summarise};
use kit::far::Equipment;
use kit::measurement::{FarEnd, Figure, Measurement, figure};
use record::{Record, Run};
use session::{Control, Error, Session};
use std::sync::Arc;

/// How long TCP connections take to open.
pub(crate) struct Handshake;

impl Measurement for Handshake {
    const TESTS: &'static [&'static str] = &["handshake"];
    const FIGURES: &'static [Figure] = &[
        figure("handshake p50", "ms", "/handshake_ms/p50"),
        figure("handshake p95", "ms", "/handshake_ms/p95"),
        figure("opened", "", "/opened"),
    ];
    type Summary = Summary;

    fn summary(&self, record: &Record) -> anyhow::Result<Self::Summary> {
        Ok(summarise(&record.rows()?, None))
    }

    fn scorecard(&self, run: &Run, summary: &Self::Summary) -> String {
        scorecard(run, summary)
    }
}

impl FarEnd for Handshake {
    const OPENING: &'static str = "handshake";
    type Setup = Plan;

    fn serve(
        &self,
        control: &mut Control,
        session: &Arc<Session>,
        setup: Self::Setup,
        _: &Equipment,
    ) -> Result<(), Error> {
        crate::far::serve(control, session, &setup)
    }
}
