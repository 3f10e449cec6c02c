//! The end of a run on a terminal, from `run.json` alone.

use super::plan::Plan;
use kit::scorecard;
use mbm::verdict::{Outcome, percent};
use record::{Run, Verdict};
use schema::mbm::TcpFigures;
use schema::mbm::{Summary, TestSummary};

/// The scorecard of `run`, whose summary is `summary`.
pub fn scorecard(run: &Run, summary: &Summary) -> String {
    let plan: Option<Plan> = Plan::of_record(&run.plan).ok();
    let mut lines = vec![scorecard::title(run, "mbm")];
    if let Some(plan) = &plan {
        lines.push(sentence(run.verdict, plan));
        lines.push(String::new());
        lines.extend(target(plan, summary));
    }
    lines.push(format!(
        "path          {} round trip when idle",
        summary
            .path_rtt_ms
            .map_or_else(|| "-".to_owned(), |ms| format!("{ms:.1} ms"))
    ));
    lines.push(String::new());
    let groups = summary.tests.chunk_by(|one, next| one.stream < next.stream);
    lines.extend(groups.flat_map(tests));
    lines.extend(scorecard::closing(run));
    lines.join("\n") + "\n"
}

fn sentence(verdict: Option<Verdict>, plan: &Plan) -> String {
    let target = plan.target.words();
    let what = plan
        .name
        .as_ref()
        .map_or_else(|| target.clone(), |name| format!("'{name}' ({target})"));
    let what = match plan.streams {
        0 | 1 => what,
        streams => format!("{streams} x {what} at once"),
    };
    let says = match verdict {
        Some(Verdict::Pass) => format!("PASS: as far as these tests go, this path carries {what}."),
        Some(Verdict::Fail) => format!("FAIL: this path does not carry {what}."),
        Some(Verdict::Error) => {
            format!("ERROR: the tests for {what} could not be made as they should.")
        }
        Some(Verdict::Inconclusive) => {
            format!("INCONCLUSIVE: too little was seen to say whether this path carries {what}.")
        }
        None => format!("Nothing was found about {what}."),
    };
    says + match plan.direction {
        schema::Direction::Up => "",
        schema::Direction::Down => " (From the far end to here.)",
    }
}

fn target(plan: &Plan, summary: &Summary) -> Vec<String> {
    let mut lines = vec![format!(
        "target        window {} packets of {} octets, run length {} packets ({}, {})",
        summary.window_packets,
        plan.target.mtu(),
        summary.run_length_packets,
        summary.formula,
        summary.source
    )];
    lines.push(format!(
        "loss          good up to {}, bad from {}",
        percent(summary.p0),
        percent(summary.p1)
    ));
    if let Some(derating) = &plan.target.spec().derating {
        lines.push(format!(
            "derated       burst {}, run length {}: {}",
            derating.burst, derating.run_length, derating.reason
        ));
    }
    lines
}

/// A test, or of several streams side by side how many say what, and the first of the worst.
fn tests(streams: &[TestSummary]) -> Vec<String> {
    let Some(worst) = streams.iter().min_by_key(|one| severity(one)) else {
        return Vec::new();
    };
    let mut lines = test(worst);
    if let Some(number) = worst.stream {
        let all = [
            Outcome::Pass,
            Outcome::Fail,
            Outcome::Error,
            Outcome::Inconclusive,
        ];
        let said = all.into_iter().filter_map(|outcome| {
            let is_it = |one: &&TestSummary| one.result.verdict.outcome == outcome;
            let count = streams.iter().filter(is_it).count();
            (count > 0).then(|| format!("{count} {outcome}"))
        });
        let said: Vec<_> = said.collect();
        let line = format!(
            "              of {} streams at once {}; this is number {number}",
            streams.len(),
            said.join(", ")
        );
        lines.insert(1, line);
    }
    lines
}

/// The severest first.
fn severity(test: &TestSummary) -> u8 {
    match test.result.verdict.outcome {
        Outcome::Fail => 0,
        Outcome::Error => 1,
        Outcome::Inconclusive => 2,
        Outcome::Pass => 3,
    }
}

fn test(test: &TestSummary) -> Vec<String> {
    let result = &test.result;
    let counts = result
        .figures
        .as_ref()
        .map(|figures| figures.counts)
        .or_else(|| result.loss.as_ref().map(|loss| loss.counts));
    let counts = counts.map_or_else(String::new, |counts| {
        format!(
            ", {} of {} packets lost or marked",
            counts.marks(),
            counts.packets
        )
    });
    let mut lines = vec![format!(
        "{:12}  {} (RFC 8337 section {}): {:.1} s{counts}",
        result.verdict.outcome.to_string(),
        result.test,
        test.section,
        test.seconds
    )];
    lines.push(format!("              {}", result.verdict.says));
    lines.push(format!(
        "              would change it: {}",
        result.verdict.would_change
    ));
    lines.extend(test.tcp.as_ref().map(by_tcp));
    lines.extend(independence(test));
    lines.push(String::new());
    lines
}

/// What TCP did that carried the test.
fn by_tcp(tcp: &TcpFigures) -> String {
    let told = match (tcp.pacing_bps, tcp.window_packets) {
        (Some(bps), _) => format!(" paced at {:.2} Mbit/s", bps as f64 / 1e6),
        (None, Some(window)) => format!(" with a window of {window} segments"),
        (None, None) => String::new(),
    };
    let window = tcp.cwnd_min.zip(tcp.cwnd_max);
    let window = window.map_or_else(String::new, |(least, most)| {
        format!(", congestion window {least} to {most} segments")
    });
    format!(
        "              by TCP {}{told}: {:.2} Mbit/s acknowledged{window}",
        tcp.congestion_control, tcp.acked_mbps
    )
}

/// What the models assume, and whether it holds.
fn independence(test: &TestSummary) -> Option<String> {
    let runs = test.result.loss.as_ref()?.runs.as_ref()?;
    (runs.independent == Some(false)).then(|| {
        "              its losses come in runs: the models take them as independent".to_owned()
    })
}
