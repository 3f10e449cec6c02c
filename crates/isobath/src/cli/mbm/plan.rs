//! `isobath mbm plan`: what a verdict will cost, and asking before it costs much.

use super::args::Measure;
use super::target::Options;
use kit::usage::{Usage, print};
use mbm::plan::{Cost, TestPlan};
use mbm::suite::THESIS;
use schema::mbm::Plan;
use std::io::{BufRead, IsTerminal, Write};

/// A run that takes longer, or sends more, is asked about.
const MOST_SECONDS: f64 = 60.0;
const MOST_BYTES: u64 = 1_000_000_000;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    target: Options,
    #[command(flatten)]
    tests: super::args::Tests,
    /// Print the costs as JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    let plan = args.tests.plan(args.target.wanted()?, THESIS)?;
    let costs = costs(&plan)?;
    if args.json {
        print(&serde_json::to_string_pretty(&costs)?)?;
    } else {
        print(&page(&plan, &costs)?)?;
    }
    Ok(0)
}

/// What each test of `plan` costs over a path as long as the target's.
fn costs(plan: &Plan) -> anyhow::Result<Vec<TestPlan>> {
    let ruling = plan
        .ruling()
        .map_err(|what| Usage::of(anyhow::anyhow!(what)))?;
    let setup = plan.setup(plan.target.rtt());
    let tests = plan.tests.iter();
    Ok(tests
        .map(|test| mbm::plan::plan(&setup, *test, &ruling).times(plan.streams))
        .collect())
}

fn page(plan: &Plan, costs: &[TestPlan]) -> anyhow::Result<String> {
    let run = plan.run_length().map_err(anyhow::Error::msg)?;
    let predicted = mbm::model::conservativeness(&plan.target, run);
    let mut lines = vec![
        format!(
            "{}: window {} packets, run length {} packets ({}, {})",
            plan.target.words(),
            plan.target.window(),
            run.packets,
            plan.model.formula(),
            plan.model.source()
        ),
        String::new(),
        format!(
            "{:26}{:>34}{:>34}{:>34}",
            "test", "without a loss", "at the good loss", "at worst, on average"
        ),
    ];
    lines.splice(
        1..1,
        predicted.predictions.iter().map(|one| {
            format!(
                "  {:18}gets {:.2} times that rate where loss is just good, {:.2} times where it is just bad",
                one.transport, one.at_p0_ratio, one.at_p1_ratio
            )
        }),
    );
    lines.extend(costs.iter().map(|cost| {
        format!(
            "{:26}{:>34}{:>34}{:>34}",
            cost.test,
            told(Some(cost.least)),
            told(cost.good),
            told(cost.worst)
        )
    }));
    Ok(lines.join("\n"))
}

fn told(cost: Option<Cost>) -> String {
    cost.map_or_else(
        || "-".to_owned(),
        |cost| {
            format!(
                "{:.0} s, {:.1} MB, {} packets",
                cost.seconds,
                cost.bytes as f64 / 1e6,
                cost.packets
            )
        },
    )
}

/// Asks whoever is at the terminal whether a run that costs much is to be made.
///
/// # Errors
/// [`Usage`] when nobody says yes.
pub(super) fn ask(args: &Measure, plan: &Plan) -> anyhow::Result<()> {
    // In a lab nobody else is in the way.
    if args.yes || args.towards.lab.is_some() {
        return Ok(());
    }
    let costs = costs(plan)?;
    let seconds: f64 = costs.iter().map(|cost| cost.least.seconds).sum();
    let bytes: u64 = costs.iter().map(|cost| cost.least.bytes).sum();
    if seconds <= MOST_SECONDS && bytes <= MOST_BYTES {
        return Ok(());
    }
    let what = format!(
        "this takes at least {seconds:.0} s and {:.2} GB",
        bytes as f64 / 1e9
    );
    if std::io::stdin().is_terminal() {
        let mut err = std::io::stderr();
        write!(err, "{what}. Go on? [y/N] ")?;
        err.flush()?;
        let mut answer = String::new();
        std::io::stdin().lock().read_line(&mut answer)?;
        if ["y", "yes"].contains(&answer.trim().to_lowercase().as_str()) {
            return Ok(());
        }
    }
    Err(Usage::of(anyhow::anyhow!(
        "{what} - say --yes, or see 'isobath mbm plan' for a cheaper test"
    )))
}
