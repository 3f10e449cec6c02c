//! `isobath mbm compose`: a verdict about a whole path from the records of its parts.

use kit::usage::{Usage, print};
use mbm::compose::{Composed, End, Part, Question, Way, compose};
use mbm::diagnostic::{Decider, Test};
use mbm::sequential::{ALPHA, BETA};
use mbm::verdict::Outcome;
use record::{Endpoint, Record, Run, Status};
use schema::Direction;
use schema::mbm::Plan;
use schema::mbm::Summary;
use serde::Deserialize;
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Records of 'isobath mbm', one per part of the path.
    #[arg(required = true, num_args = 2..)]
    runs: Vec<PathBuf>,
    /// Test to take from each record [default: the first that losses decide].
    #[arg(long, value_name = "NAME")]
    test: Option<Test>,
    /// Print the composed verdict as JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    let parts = args
        .runs
        .iter()
        .map(|run| part(run, run.display().to_string(), args.test));
    let parts = parts.collect::<anyhow::Result<Vec<_>>>()?;
    let composed = compose(parts, ALPHA, BETA).map_err(Usage::of)?;
    if args.json {
        print(&serde_json::to_string_pretty(&composed)?)?;
    } else {
        print(&page(&composed))?;
    }
    Ok(match composed.verdict.outcome {
        Outcome::Pass => 0,
        Outcome::Fail => 1,
        Outcome::Inconclusive | Outcome::Error => 5,
    })
}

/// The part of the path that the record in `folder` is about.
pub(super) fn part(folder: &Path, name: String, wanted: Option<Test>) -> anyhow::Result<Part> {
    let record = Record::open(folder)?;
    let run = record.run();
    if run.test != "mbm" {
        return Err(Usage::of(anyhow::anyhow!(
            "{name} is a record of '{}' - compose records of 'mbm'",
            run.test
        )));
    }
    let plan = Plan::of_record(&run.plan)?;
    if plan.streams > 1 {
        return Err(Usage::of(anyhow::anyhow!(
            "{name} has {} concurrent streams - compose only records of a single stream",
            plan.streams
        )));
    }
    let summary: Summary = Deserialize::deserialize(&run.summary)?;
    let is_it = |test: Test| match wanted {
        Some(wanted) => test == wanted,
        None => test.decider() == Decider::Losses,
    };
    let found = summary.tests.iter().find(|found| is_it(found.result.test));
    let found = found.ok_or_else(|| {
        Usage::of(anyhow::anyhow!(
            "{name} has no test {}",
            wanted.map_or("that losses decide", Test::name)
        ))
    })?;
    let counts = found.result.figures.as_ref().map(|figures| figures.counts);
    let run_length = plan.run_length().map_err(anyhow::Error::msg)?;
    Ok(Part {
        name,
        test: found.result.test,
        // What the instrument was too bad for says nothing of the path.
        outcome: if run.status == Status::Invalid {
            Outcome::Error
        } else {
            found.result.verdict.outcome
        },
        counts: counts.unwrap_or_default(),
        way: way(run, &plan, &summary),
        question: Question {
            target: plan.target,
            model: plan.model,
            run_length,
        },
    })
}

/// Where `run` was made, in the direction of its packets.
fn way(run: &Run, plan: &Plan, summary: &Summary) -> Way {
    let end = |role: &str, endpoint: &Endpoint| End {
        host: run
            .hosts
            .iter()
            .find(|host| host.role == role)
            .map(|host| host.name.clone())
            .unwrap_or_default(),
        addresses: endpoint.addresses.clone(),
    };
    let client = end("client", &run.path.client);
    let server = end("server", &run.path.server);
    let (from, to) = match plan.direction {
        Direction::Up => (client, server),
        Direction::Down => (server, client),
    };
    Way {
        run: run.id.clone(),
        lab: run.path.lab.as_ref().map(|lab| lab.name.clone()),
        from,
        to,
        links: crossed(summary),
    }
}

/// The links of a lab that carried the test's packets: at least half as much as the busiest. Reports on the way back are shorter.
fn crossed(summary: &Summary) -> Vec<String> {
    let carried = summary.links.iter().map(|link| link.carried_mbps);
    let most = carried.fold(0.0, f64::max);
    let links = summary.links.iter();
    let busy = links.filter(|link| most > 0.0 && link.carried_mbps >= most / 2.0);
    busy.map(|link| format!("{} {}", link.link, link.direction))
        .collect()
}

fn page(composed: &Composed) -> String {
    let mut lines = vec![format!(
        "{}: {}",
        composed.verdict.outcome, composed.verdict.says
    )];
    lines.push(format!(
        "would change it: {}",
        composed.verdict.would_change
    ));
    lines.push(String::new());
    for part in &composed.parts {
        let counts = part.counts;
        lines.push(format!(
            "{:12} {} of {} packets lost or marked ({:.4} %)  {}",
            part.outcome.to_string(),
            counts.marks(),
            counts.packets,
            counts.marks() as f64 * 100.0 / counts.packets.max(1) as f64,
            part.name
        ));
    }
    let interval = composed.interval.map_or_else(String::new, |share| {
        format!(" (95 %: {:.4} to {:.4} %)", share.low_pct, share.high_pct)
    });
    lines.push(format!(
        "together     {:.4} % lost or marked{interval}",
        composed.loss_pct
    ));
    lines.extend(
        composed
            .warnings
            .iter()
            .map(|warning| format!("! {warning}")),
    );
    lines.join("\n")
}
