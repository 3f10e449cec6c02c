//! The end of a run: a record of what both ends have seen.

use crate::desk::{Desk, Run};
use crate::findings::Findings;
use crate::{browser, call, page_loads};
use anyhow::Context as _;
use jiff::Timestamp;
use kit::ending::Ending;
use kit::sampler::StreamEnd;
use record::{Endpoint, Host, PathInfo, RecordWriter, Warning};
use rrul::run::Outcome;
use rrul::streams::Kind;
use rrul::tables::Tables;
use rrul::{quality, scorecard, summary, warnings};
use schema::rrul::Summary;
use serde::Serialize;
use serde_json::json;
use session::ClockOffset;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

/// What a browser is told of its run.
#[derive(Serialize)]
pub(crate) struct Told {
    sentence: String,
    status: record::Status,
    summary: Summary,
    warnings: Vec<Warning>,
    /// Where the report is, on this server.
    report: String,
    /// Where the record is as one file, on this server.
    kept: String,
    /// Where the record is, on the server's disk.
    record: String,
}

/// Makes a record of `run`, served at `here`.
///
/// # Errors
/// When it cannot be written.
pub(crate) fn conclude(
    desk: &Desk,
    run: &Run,
    here: SocketAddr,
    mut found: Findings,
) -> anyhow::Result<Told> {
    let begun = run.begun().context("the run has not begun")?;
    let (plan, streams) = (&begun.plan, &begun.streams);
    let mut record = record::Run::new("rrul", Timestamp::now(), serde_json::to_value(plan)?);
    record.path = path(run, here);
    record.hosts = vec![
        Host {
            role: "client".to_owned(),
            name: "a browser".to_owned(),
            kernel: found.agent.clone(),
            ..Host::default()
        },
        kit::host::facts("server"),
    ];
    let hidden = found.hidden;
    let mut tables = Tables::new(streams, None);
    let received = received(&found);
    if let Some(call) = found.call() {
        call::enter(&call, &run.call(), streams, &mut tables);
    }
    if let Some(stream) = streams.iter().find(|stream| stream.kind == Kind::Web) {
        let host = here.ip().to_string();
        page_loads::enter(&found.pages, stream.id, &host, &mut tables);
    }
    let failures = found.enter(streams, &mut tables);
    let seen = begun.sampler.sink().take();
    let full_pct = browser::full_pct(plan, &seen.series);
    seen.series.into_iter().for_each(|row| tables.series(row));
    tables.cpu.extend(seen.cpu);
    seen.ended
        .iter()
        .for_each(|end| tables.ended("server", end));
    for end in &received {
        tables.ended("client", end);
    }
    let outcome = Outcome {
        ending: Ending::Complete,
        tables,
        clock: ClockOffset::default(),
        clock_after: None,
        failures,
        far: Vec::new(),
    };
    let summary = summary::summarise(plan, &outcome.tables);
    record.instrument = quality::instrument(plan, &outcome, &summary, Duration::ZERO);
    record.warnings = warnings::warnings(plan, &outcome, &record.instrument, &summary);
    if let Some(pct) = full_pct {
        let name = "browser_full_pct".to_owned();
        record.instrument.more.insert(name, json!(pct));
        record.warnings.extend(browser::warning(pct));
    }
    record.warnings.extend(hidden.then(out_of_sight));
    record.status = quality::status(&outcome.ending, &record.warnings);
    record.summary = serde_json::to_value(&summary)?;
    let name = record::folder_name(record.started, "page", &run.peer.ip().to_string());
    let folder = record::new_folder(&desk.records, &name)?;
    let mut writer = RecordWriter::create(&folder, &record)?;
    let mut tables = outcome.tables;
    tables.write(&mut writer, None)?;
    tables.write_streams(&mut writer, None)?;
    writer.finish(&record)?;
    desk.keep(&run.id, folder.clone());
    Ok(Told {
        sentence: scorecard::sentence(&summary),
        status: record.status,
        summary,
        warnings: record.warnings,
        report: format!("/v1/reports/{}", run.id),
        kept: format!("/v1/records/{}", run.id),
        record: folder.display().to_string(),
    })
}

fn path(run: &Run, here: SocketAddr) -> PathInfo {
    let end = |address: SocketAddr| Endpoint {
        addresses: vec![address.ip()],
        seen_as: Vec::new(),
    };
    PathInfo {
        client: end(run.peer),
        server: end(here),
        families: vec![if run.peer.is_ipv4() { 4 } else { 6 }],
        lab: None,
    }
}

/// What the browser received of each stream.
fn received(found: &Findings) -> Vec<StreamEnd> {
    let totals: BTreeMap<u16, u64> = found.received().collect();
    let end = |(id, octets)| StreamEnd {
        id,
        received_bytes: Some(octets),
        ..StreamEnd::default()
    };
    totals.into_iter().map(end).collect()
}

fn out_of_sight() -> Warning {
    Warning {
        code: "page_hidden".to_owned(),
        message: "the page was not in sight all the time, and browsers let such pages do less"
            .to_owned(),
        advice: "run it again and leave the page in front".to_owned(),
    }
}
