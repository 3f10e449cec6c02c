//! What can be asked of `isobath mbm`.

use super::super::common::{Output, Towards};
use super::target::{Options, Wanted};
use kit::direction::Direction;
use kit::usage::Usage;
use mbm::diagnostic::Test;
use mbm::sequential::{ALPHA, BETA, Rule};
use mbm::suite::{FULL, THESIS};
use mbm_run::Plan;
use mbm_run::plan::Carrier;
use std::str::FromStr;
use std::time::Duration;
use units::{Dscp, Span};

/// The time limit of a test, unless told otherwise.
const TIMEOUT: Span = Span(Duration::from_secs(120));

#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(super) verb: Option<Verb>,
    #[command(flatten)]
    pub(super) measure: Measure,
}

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Verb {
    /// Put a path together from the records of its parts.
    Compose(super::compose::Args),
    /// A verdict from a transfer of 'isobath btc' that stayed within the target's envelope.
    Passive(super::passive::Args),
    /// What a verdict will take: time, packets, octets.
    Plan(super::plan::Args),
    /// The applications that have a target here.
    Targets,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Measure {
    #[command(flatten)]
    pub(super) towards: Towards,
    /// The lab's node that measures [default: the lab's client].
    #[arg(long, value_name = "NODE", requires = "lab")]
    pub(super) from: Option<String>,
    /// The lab's node at the far end [default: the lab's server].
    #[arg(long, value_name = "NODE", requires = "lab")]
    pub(super) to: Option<String>,
    #[command(flatten)]
    target: Options,
    #[command(flatten)]
    tests: Tests,
    /// What carries the packets: 'udp', or 'tcp' for the kernel's Reno, which slows down for losses (4 of the tests).
    #[arg(long, value_enum, default_value_t = Carrier::Udp, hide_possible_values = true)]
    carrier: Carrier,
    /// A test that can say nothing after this time is inconclusive.
    #[arg(long, value_name = "TIME", default_value_t = TIMEOUT)]
    timeout: Span,
    /// The packets go from the far end to here.
    #[arg(long)]
    reverse: bool,
    /// Let packets be marked instead of dropped (ECN); marks count as losses.
    #[arg(long)]
    ecn: bool,
    /// Class of what is sent, such as EF or CS1.
    #[arg(long, default_value = "CS0")]
    dscp: Dscp,
    /// Seed of what is random on emulated links.
    #[arg(long, default_value_t = 1)]
    pub(super) seed: u64,
    #[command(flatten)]
    pub(super) output: Output,
    /// Measure again and again, so often: 'background' unless --test names others; a history and figures for Prometheus in --out.
    #[arg(long, value_name = "TIME", conflicts_with_all = ["lab", "json", "streams"])]
    pub(super) every: Option<Span>,
    /// End after so many runs, with --every [default: go on until interrupted].
    #[arg(long, value_name = "N", requires = "every")]
    pub(super) times: Option<u32>,
    /// Do not ask before a run of more than 60 s or 1 GB.
    #[arg(short, long)]
    pub(super) yes: bool,
}

/// Which tests, and when they are over.
#[derive(Debug, clap::Args)]
pub(crate) struct Tests {
    /// Tests of RFC 8337 to make [default: paced-full-rate,sustained-burst].
    #[arg(
        long = "test",
        value_name = "NAME",
        value_delimiter = ',',
        conflicts_with = "suite"
    )]
    named: Vec<Test>,
    /// All tests of RFC 8337 but 'background', which takes ten times as long.
    #[arg(long)]
    suite: bool,
    /// Streams side by side, each of the whole target, whose bursts leave at the same instants: as many users at once.
    #[arg(long, value_name = "N", default_value_t = 1)]
    streams: u16,
    /// When losses tell: 'sequential' (as soon as they do), 'fixed=N' (after N packets) or 'at-least=N'.
    #[arg(long, value_name = "RULE", default_value = "sequential")]
    rule: RuleName,
    /// Chance that a path whose loss is just good fails.
    #[arg(long, value_name = "SHARE", default_value_t = ALPHA)]
    alpha: f64,
    /// Chance that a path with four times that loss passes.
    #[arg(long, value_name = "SHARE", default_value_t = BETA)]
    beta: f64,
}

/// A rule as it is typed.
#[derive(Clone, Copy, Debug)]
struct RuleName(Rule);

impl FromStr for RuleName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| {
            let packets = text.parse::<u64>().ok().filter(|packets| *packets > 0);
            packets.ok_or_else(|| format!("'{text}' is no number of packets"))
        };
        Ok(Self(match text.split_once('=') {
            None if text == "sequential" => Rule::Sequential,
            Some(("fixed", packets)) => Rule::Fixed {
                packets: number(packets)?,
            },
            Some(("at-least", packets)) => Rule::AtLeast {
                packets: number(packets)?,
            },
            _ => return Err("write 'sequential', 'fixed=N' or 'at-least=N'".to_owned()),
        }))
    }
}

impl Tests {
    /// A plan of these tests for what is wanted, or of the `usual` ones; all else as usual.
    pub(super) fn plan(&self, wanted: Wanted, usual: &[Test]) -> anyhow::Result<Plan> {
        let tests = match (self.suite, self.named.as_slice()) {
            (true, _) => FULL.to_vec(),
            (false, []) => usual.to_vec(),
            (false, tests) => tests.to_vec(),
        };
        let plan = Plan {
            name: wanted.name,
            target: wanted.target,
            model: wanted.model,
            alpha: self.alpha,
            beta: self.beta,
            rule: self.rule.0,
            tests,
            carrier: Carrier::Udp,
            streams: self.streams,
            direction: Direction::Up,
            class: Dscp::CS0,
            ecn: false,
            timeout: TIMEOUT,
            seed: 1,
        };
        plan.check()
            .and_then(|()| plan.check_path(plan.target.rtt()))
            .map_err(|what| Usage::of(anyhow::anyhow!(what)))?;
        Ok(plan)
    }
}

impl Measure {
    /// The tests that are made when none is named: what is made all day long is to disturb nobody.
    const fn usual(&self) -> &'static [Test] {
        if self.every.is_some() {
            &[Test::Background]
        } else {
            THESIS
        }
    }

    /// What the options come to.
    pub(super) fn plan(&self) -> anyhow::Result<Plan> {
        let plan = Plan {
            carrier: self.carrier,
            direction: if self.reverse {
                Direction::Down
            } else {
                Direction::Up
            },
            class: self.dscp,
            ecn: self.ecn,
            timeout: self.timeout,
            seed: self.seed,
            ..self.tests.plan(self.target.wanted()?, self.usual())?
        };
        plan.check()
            .map_err(|what| Usage::of(anyhow::anyhow!(what)))?;
        Ok(plan)
    }
}
