//! `isobath manager paths`: what the estimation service knows.

use super::client::Where;
use estimate::finding::words;
use kit::control::plain;
use kit::usage::print;
use manager::service::{Answer, Paths};
use schema::estimate::Finding;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Print the answer as one JSON object.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    service: Where,
}

pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    let text = args.service.fetch("/v1/paths")?.whole()?;
    if args.json {
        print(&text)?;
        return Ok(0);
    }
    print(&page(&serde_json::from_str(&text)?))?;
    Ok(0)
}

fn page(paths: &Paths) -> String {
    let mut lines = Vec::new();
    for node in &paths.nodes {
        for path in &node.paths {
            let ends = format!("{} to {}", plain(&node.name), plain(&path.to));
            let linked = if path.linked { "linked" } else { "not linked" };
            let measuring = path.measuring.as_deref().map(plain);
            let measuring =
                measuring.map_or_else(String::new, |what| format!(", measuring {what}"));
            lines.push(format!("{ends:32}{linked}{measuring}"));
            lines.extend(path.latest.iter().map(latest));
        }
    }
    lines.join("\n")
}

fn latest(answer: &Answer) -> String {
    let finding = Finding {
        value: answer.value,
        low: answer.low,
        high: answer.high,
        ..Finding::default()
    };
    format!(
        "    {:10}{:40}{:.0} s ago by {}",
        answer.what.name(),
        words(answer.what, &finding),
        answer.quality.age_s,
        answer.estimator.name()
    )
}
