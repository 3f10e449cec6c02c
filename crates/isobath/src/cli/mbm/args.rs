//! What can be asked of `isobath mbm`.

use super::target::{Options, Wanted};
use kit::options::{Output, Towards};
use kit::usage::Usage;
use mbm::diagnostic::Test;
use mbm::sequential::{ALPHA, BETA, Rule};
use mbm::suite::{FULL, THESIS};
use schema::Direction;
use schema::mbm::Plan;
use schema::mbm::plan::Carrier;
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
    /// Compose a verdict on a path from the records of its parts.
    Compose(super::compose::Args),
    /// Judge a path by an 'isobath btc' transfer that stayed within the target's envelope.
    Passive(super::passive::Args),
    /// Show the cost of a verdict: time, packets, octets.
    Plan(super::plan::Args),
    /// List the built-in application targets.
    Targets,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Measure {
    #[command(flatten)]
    pub(super) towards: Towards,
    /// Lab node that measures [default: the lab's client].
    #[arg(long, value_name = "NODE", requires = "lab")]
    pub(super) from: Option<String>,
    /// Lab node at the far end [default: the lab's server].
    #[arg(long, value_name = "NODE", requires = "lab")]
    pub(super) to: Option<String>,
    #[command(flatten)]
    pub(super) asked: Asked,
    /// Send packets from the far end to this host.
    #[arg(long)]
    reverse: bool,
    #[command(flatten)]
    pub(super) output: Output,
    /// Show the run full-screen with live plots; q closes the view, not the run.
    #[arg(long, conflicts_with_all = ["quiet", "every"])]
    pub(super) live: bool,
    /// Repeat at this interval, with the test 'background' unless --test names others; history and Prometheus metrics go
    /// to --out.
    #[arg(long, value_name = "TIME", conflicts_with_all = ["lab", "json", "streams"])]
    pub(super) every: Option<Span>,
    /// With --every: stop after this many runs [default: run until interrupted].
    #[arg(long, value_name = "N", requires = "every")]
    pub(super) times: Option<u32>,
    /// Do not ask before a run of more than 60 s or 1 GB.
    #[arg(short, long)]
    pub(super) yes: bool,
}

/// What is tested, whatever the path.
#[derive(Debug, clap::Args)]
pub(crate) struct Asked {
    #[command(flatten)]
    target: Options,
    #[command(flatten)]
    tests: Tests,
    /// Transport of test packets: 'udp', or 'tcp' for the kernel's Reno, which backs off on loss (4 of the tests only).
    #[arg(long, value_enum, default_value_t = Carrier::Udp, hide_possible_values = true)]
    carrier: Carrier,
    /// Time limit of a test; one that is undecided by then is INCONCLUSIVE.
    #[arg(long, value_name = "TIME", default_value_t = TIMEOUT)]
    timeout: Span,
    /// Send ECN-capable packets; ECN marks count as losses.
    #[arg(long)]
    ecn: bool,
    /// DSCP of the test packets, such as EF or CS1.
    #[arg(long, default_value = "CS0")]
    dscp: Dscp,
    /// Random seed of emulated links.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
}

/// Which tests, and when they are over.
#[derive(Debug, clap::Args)]
pub(crate) struct Tests {
    /// Tests of RFC 8337 to run [default: paced-full-rate,sustained-burst].
    #[arg(
        long = "test",
        value_name = "NAME",
        value_delimiter = ',',
        conflicts_with = "suite"
    )]
    named: Vec<Test>,
    /// Run all tests of RFC 8337 except 'background', which takes ten times as long.
    #[arg(long)]
    suite: bool,
    /// Concurrent streams, each at the full target rate, with synchronised bursts.
    #[arg(long, value_name = "N", default_value_t = 1)]
    streams: u16,
    /// Decision rule: 'sequential' (as soon as the losses decide), 'fixed=N' (after N packets) or 'at-least=N'.
    #[arg(long, value_name = "RULE", default_value = "sequential")]
    rule: RuleName,
    /// Probability that a path with a just acceptable loss rate fails (type I error).
    #[arg(long, value_name = "SHARE", default_value_t = ALPHA)]
    alpha: f64,
    /// Probability that a path with four times that loss rate passes (type II error).
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
        self.asked.plan(self.usual(), self.reverse)
    }
}

impl Asked {
    /// What the options come to; without a test named, the `usual` ones.
    ///
    /// # Errors
    /// When they contradict each other.
    pub(crate) fn plan(&self, usual: &[Test], is_reverse: bool) -> anyhow::Result<Plan> {
        let plan = Plan {
            carrier: self.carrier,
            direction: if is_reverse {
                Direction::Down
            } else {
                Direction::Up
            },
            class: self.dscp,
            ecn: self.ecn,
            timeout: self.timeout,
            seed: self.seed,
            ..self.tests.plan(self.target.wanted()?, usual)?
        };
        plan.check()
            .map_err(|what| Usage::of(anyhow::anyhow!(what)))?;
        Ok(plan)
    }
}
