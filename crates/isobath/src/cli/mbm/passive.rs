//! `isobath mbm passive`: a verdict from a record that was made for something else (RFC 8337 section 8.5.2).

use super::target::Options;
use kit::usage::{Usage, print};
use mbm::diagnostic::{Envelope, Load, judge_passive};
use mbm::loss::Counts;
use mbm::sequential::{ALPHA, BETA, Hypotheses, Rule, Ruling, Sprt};
use mbm::verdict::{Outcome, judge_reach};
use record::Record;
use schema::btc::tables::{SegmentRow, Transfer, WindowRow};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;
use units::Rate;

const SECOND_NS: u64 = 1_000_000_000;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Record of 'isobath btc', best with --window set to the target window.
    run: PathBuf,
    #[command(flatten)]
    target: Options,
    /// Print the verdict as JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    let wanted = args.target.wanted()?;
    let record = Record::open(&args.run)?;
    let run_length = wanted.model.run_length(&wanted.target).map_err(Usage::of)?;
    let asked = Hypotheses::for_run_length(run_length.packets, ALPHA, BETA);
    let ruling = Ruling::new(Rule::Sequential, Sprt::new(asked).map_err(Usage::of)?);
    let least = round_trip(&record);
    let envelope = Envelope::new(&wanted.target, least);
    let load = load(&record)?;
    let (verdict, loss) = judge_passive(&load, &envelope, &ruling);
    let verdict = judge_reach(&wanted.target, least).unwrap_or(verdict);
    if args.json {
        let found = json!({ "verdict": verdict, "loss": loss, "envelope": envelope });
        print(&serde_json::to_string_pretty(&found)?)?;
    } else {
        print(&format!(
            "{}: {}\nwould change it: {}",
            verdict.outcome, verdict.says, verdict.would_change
        ))?;
    }
    Ok(match verdict.outcome {
        Outcome::Pass => 0,
        Outcome::Fail => 1,
        Outcome::Inconclusive | Outcome::Error => 5,
    })
}

/// The least round trip of a record's transfers.
fn round_trip(record: &Record) -> Duration {
    let ms = record.run().summary["rtt_ms"]["min"].as_f64();
    Duration::try_from_secs_f64(ms.unwrap_or_default() / 1e3).unwrap_or_default()
}

/// What the transfers of a record put on the path.
fn load(record: &Record) -> anyhow::Result<Load> {
    let run = record.run();
    let unfit = |what: &str| Err(Usage::of(anyhow::anyhow!("{what}")));
    if run.test != "btc" {
        return unfit("a passive verdict needs a record of 'isobath btc'");
    }
    let plan = schema::btc::Plan::of_record(&run.plan)?;
    let transfers: Vec<Transfer> = record.rows()?;
    if plan.parallel != 1 || transfers.iter().any(|transfer| transfer.tool != "ours") {
        return unfit("a passive verdict needs transfers by 'ours', one after the other");
    }
    if run.instrument.more["rows_left_out"].as_u64() != Some(0) {
        return unfit("the record has not every packet - use a shorter transfer");
    }
    let windows: Vec<WindowRow> = record.rows()?;
    let counts = transfers
        .iter()
        .fold(Counts::default(), |sum, transfer| Counts {
            packets: sum.packets + transfer.sent_packets,
            lost: sum.lost + transfer.lost,
            ce: sum.ce + transfer.marked.unwrap_or_default(),
        });
    Ok(Load {
        peak: peak(&record.rows()?)?,
        burst_packets: windows.iter().map(|row| row.flight).max().unwrap_or(0),
        counts,
    })
}

/// The most data that left within a second.
fn peak(segments: &[SegmentRow]) -> anyhow::Result<Rate> {
    let mut seconds: BTreeMap<u64, u64> = BTreeMap::new();
    let sent = segments
        .iter()
        .filter(|row| row.kind == "data" && row.end == "sender");
    for row in sent {
        *seconds.entry(row.t_ns / SECOND_NS).or_default() += u64::from(row.len) * 8;
    }
    let most = seconds.into_values().max().and_then(Rate::from_bps);
    most.ok_or_else(|| Usage::of(anyhow::anyhow!("the record has no packets")))
}
