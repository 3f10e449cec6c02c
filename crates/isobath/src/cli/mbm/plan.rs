//! `isobath mbm plan`: what a verdict will cost, and asking before it costs much.

use super::args::Measure;
use super::target::Options;
use kit::pool::words;
use kit::usage::{Usage, print};
use mbm::plan::{Cost, TestPlan};
use mbm::suite::THESIS;
use schema::mbm::Plan;
use std::io::{BufRead, IsTerminal, Write};
use std::time::Duration;

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
    let mut lines = vec![format!(
        "{}: window {} packets, run length {} packets ({}, {})",
        plan.target.words(),
        plan.target.window(),
        run.packets,
        plan.model.formula(),
        plan.model.source()
    )];
    lines.extend(predicted.predictions.iter().map(|one| {
        format!(
            "  {:18}gets {:.2} times that rate where loss is just good, {:.2} times where it is just bad",
            one.transport, one.at_p0_ratio, one.at_p1_ratio
        )
    }));
    lines.push(String::new());
    lines.extend(table(costs));
    lines.extend(warning(plan, costs));
    Ok(lines.join("\n"))
}

/// A line for each test, and one for all of them.
fn table(costs: &[TestPlan]) -> Vec<String> {
    let line = |name: &str, cells: [String; 3]| {
        let [least, good, worst] = cells;
        format!("{name:26}{least:>24}{good:>24}{worst:>24}")
    };
    let heads = ["without a loss", "at the good loss", "worst mean"];
    let mut lines = vec![line("test", heads.map(str::to_owned))];
    lines.extend(costs.iter().map(|cost| {
        let cells = [Some(cost.least), cost.good, cost.worst];
        line(cost.test.name(), cells.map(told))
    }));
    if costs.len() > 1 {
        let cells = [told(Some(least(costs))), String::new(), String::new()];
        lines.push(line("all", cells).trim_end().to_owned());
    }
    lines
}

/// What all tests cost at best.
fn least(costs: &[TestPlan]) -> Cost {
    let sum = |sum: Cost, plan: &TestPlan| Cost {
        packets: sum.packets.saturating_add(plan.least.packets),
        bytes: sum.bytes.saturating_add(plan.least.bytes),
        seconds: sum.seconds + plan.least.seconds,
    };
    costs.iter().fold(Cost::default(), sum)
}

fn told(cost: Option<Cost>) -> String {
    cost.map_or_else(
        || "-".to_owned(),
        |cost| format!("{}, {}", time(cost.seconds), volume(cost.bytes)),
    )
}

fn time(seconds: f64) -> String {
    words(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
}

/// Octets in the unit that suits them.
fn volume(bytes: u64) -> String {
    let bytes = bytes as f64;
    match bytes {
        ..1e9 => format!("{:.1} MB", bytes / 1e6),
        1e9..1e12 => format!("{:.1} GB", bytes / 1e9),
        _ => format!("{:.1} TB", bytes / 1e12),
    }
}

/// That it costs much, and how it costs less; nothing for a plan that is made without asking.
fn warning(plan: &Plan, costs: &[TestPlan]) -> Vec<String> {
    let all = least(costs);
    if !is_much(&all) {
        return Vec::new();
    }
    let mut lines = vec![
        String::new(),
        format!(
            "! at least {} and {} on the path - {}",
            time(all.seconds),
            volume(all.bytes),
            CHEAPER
        ),
    ];
    let limit = plan.timeout.0.as_secs_f64();
    let late = costs.iter().filter(|cost| cost.least.seconds > limit);
    let late: Vec<_> = late.map(|cost| cost.test.name()).collect();
    if !late.is_empty() {
        lines.push(format!(
            "! longer than the usual --timeout of {limit:.0} s, and INCONCLUSIVE without a longer one: {}",
            late.join(", ")
        ));
    }
    lines
}

/// How a verdict costs less. Time grows with the rate and the square of the round trip, octets with the square of both.
const CHEAPER: &str = "less with a shorter --rtt, a lower --rate, a larger --mtu where the path has it, fewer tests (--test), a model of shorter runs \
                       (--model queueless, --model cubic), or --derate-run-length with --because";

fn is_much(cost: &Cost) -> bool {
    cost.seconds > MOST_SECONDS || cost.bytes > MOST_BYTES
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
    let all = least(&costs(plan)?);
    if !is_much(&all) {
        return Ok(());
    }
    let what = format!(
        "this takes at least {} and {}",
        time(all.seconds),
        volume(all.bytes)
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
        "{what} - say --yes, or make it cheaper: {CHEAPER}"
    )))
}
