//! What can be asked of `isobath btc`.

use super::super::rules::Rules;
use super::Usage;
use kit::options::{Output, Towards};
use schema::Direction;
use schema::btc::plan::{Limit, Mode, Plan, Tool};
use std::time::Duration;
use units::{Dscp, Rate, Span};

/// How long a transfer lasts that has no number of segments.
const DURATION: Span = Span(Duration::from_secs(10));
/// Pairs of a comparison, unless told otherwise.
const PAIRS: u32 = 10;

#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "switches of a command line")]
pub(crate) struct Args {
    #[command(flatten)]
    pub(super) towards: Towards,
    /// Send data from the far end to this host.
    #[arg(long)]
    reverse: bool,
    /// Use only the packet identifiers in the far end's replies, as with an uncooperative host.
    #[arg(long)]
    one_way: bool,
    /// Measure to an uncooperative host by the ICMP errors that it or a router returns; needs no far end.
    #[arg(long, conflicts_with_all = ["reverse", "one_way", "compare", "parallel"])]
    pub(super) icmp: bool,
    /// With --icmp: measure to the router at this hop instead of to a closed port of the host.
    #[arg(long, value_name = "N", requires = "icmp", value_parser = clap::value_parser!(u8).range(1..))]
    hop: Option<u8>,
    /// Write packet traces of both ends to sender.pcapng and receiver.pcapng in the record's folder.
    #[arg(long)]
    trace: bool,
    /// Duration of a transfer [default: 10s].
    #[arg(long, conflicts_with = "segments", value_parser = crate::cli::seconds)]
    duration: Option<Span>,
    /// Full segments per transfer, instead of a duration.
    #[arg(long, value_name = "N")]
    segments: Option<u32>,
    /// Concurrent transfers.
    #[arg(long, value_name = "N", default_value_t = 1)]
    parallel: u16,
    /// Repetitions [default: 1, with --compare 10].
    #[arg(long, value_name = "N")]
    repeat: Option<u32>,
    /// Pair each transfer with one by the kernel's TCP, in random order.
    #[arg(long)]
    compare: bool,
    /// Run transfers in sequence, each by 'ours' or 'kernel', such as 'kernel,ours'.
    #[arg(long, value_delimiter = ',', value_enum, conflicts_with_all = ["compare", "repeat", "icmp"])]
    tools: Vec<Tool>,
    /// Pacing rate of the kernel's TCP, headers excluded; needs '--tools kernel'.
    #[arg(long, value_name = "RATE", requires = "tools")]
    pace: Option<Rate>,
    #[command(flatten)]
    rules: Rules,
    /// Abort a transfer after this long without an acknowledgement.
    #[arg(long, value_name = "TIME", default_value = "30s")]
    patience: Span,
    /// DSCP of the packets sent, such as EF or CS1.
    #[arg(long, default_value = "CS0")]
    dscp: Dscp,
    /// Random seed of the order of pairs and of emulated links.
    #[arg(long, default_value_t = 1)]
    pub(super) seed: u64,
    #[command(flatten)]
    pub(super) output: Output,
    /// Show the run full-screen with live plots; q closes the view, not the run.
    #[arg(long, conflicts_with = "quiet")]
    pub(super) live: bool,
}

impl Args {
    /// What the options come to.
    pub(super) fn plan(&self) -> anyhow::Result<Plan> {
        let duration = self.duration.map(Limit::Duration);
        let segments = self.segments.or_else(|| self.rules.segments());
        let limit = duration.or_else(|| segments.map(Limit::Segments));
        let pairs = if self.compare { PAIRS } else { 1 };
        let row = u32::try_from(self.tools.len()).ok().filter(|row| *row > 0);
        let plan = Plan {
            mode: if self.icmp {
                Mode::Icmp
            } else if self.one_way {
                Mode::OneWay
            } else {
                Mode::Cooperative
            },
            hop: self.hop,
            direction: if self.reverse {
                Direction::Down
            } else {
                Direction::Up
            },
            limit: limit.unwrap_or(Limit::Duration(DURATION)),
            parallel: self.parallel,
            repeat: row.or(self.repeat).unwrap_or(pairs),
            compare: self.compare,
            tools: self.tools.clone(),
            pace: self.pace,
            options: self.rules.options()?,
            class: self.dscp,
            patience: self.patience,
            trace: self.trace,
            seed: self.seed,
        };
        plan.check()
            .map_err(|what| Usage::of(anyhow::anyhow!(what)))?;
        Ok(plan)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: Args,
    }

    fn plan(arguments: &[&str]) -> anyhow::Result<Plan> {
        let all = ["btc", "host"].iter().chain(arguments);
        Line::try_parse_from(all)?.args.plan()
    }

    /// Holds btc/tightly-specified, btc/cap-options.
    #[test]
    fn every_rule_can_be_set_by_its_name() {
        let plan = plan(&[
            "--option",
            "mss=1200",
            "--option",
            "recovery=newreno",
            "--option",
            "delayed_ack.quick=0",
            "--option",
            "rto_min=1s",
        ])
        .unwrap();
        assert_eq!(plan.options.mss, 1_200);
        assert_eq!(plan.options.recovery, transport::Recovery::NewReno);
        assert_eq!(plan.options.delayed_ack.quick, 0);
        assert_eq!(plan.options.rto_min, Span::from_millis(1_000));
    }

    #[test]
    fn a_rule_that_is_unknown_or_senseless_is_named() {
        let told = |option: &str| plan(&["--option", option]).unwrap_err().to_string();
        assert!(told("msss=1200").contains("msss"), "{}", told("msss=1200"));
        assert!(told("mss").contains("KEY=VALUE"));
        assert!(told("mss=0").contains("mss"));
        assert!(told("nowhere.quick=1").contains("nowhere"));
    }

    #[test]
    fn the_defaults_are_ten_seconds_once_and_ten_pairs_in_a_comparison() {
        let alone = plan(&[]).unwrap();
        assert_eq!((alone.limit, alone.repeat), (Limit::Duration(DURATION), 1));
        assert_eq!(plan(&["--compare"]).unwrap().repeat, PAIRS);
        let paper = plan(&["--segments", "725", "--window", "135"]).unwrap();
        assert_eq!(paper.limit, Limit::Segments(725));
        assert_eq!(paper.options.max_window, Some(135));
    }

    /// Holds btc/cap-rules, btc/cap-options, btc/cap-delayed-acks, btc/cap-size.
    #[test]
    fn the_papers_rules_are_one_option_and_each_can_be_changed() {
        let paper = plan(&["--preset", "cap-2001"]).unwrap();
        let rules = &paper.options;
        assert_eq!((paper.limit, rules.mss), (Limit::Segments(725), 1_448));
        assert_eq!((rules.max_window, rules.abc), (Some(135), Some(1)));
        assert_eq!(rules.growth, transport::Growth::PerWindow);
        assert_eq!(rules.rto_min, Span::from_millis(1_000));
        assert_eq!(rules.delayed_ack.interval, Span::from_millis(200));
        assert!(!(rules.limited_transmit || rules.undo || rules.rack || rules.prr));
        let more = [
            "--duration",
            "5",
            "--window",
            "20",
            "--option",
            "growth=per-ack",
        ];
        let changed = plan(&[&["--preset", "cap-2001"][..], &more].concat()).unwrap();
        assert_eq!(changed.limit, Limit::Duration(Span::from_millis(5_000)));
        assert_eq!(changed.options.max_window, Some(20));
        assert_eq!(changed.options.growth, transport::Growth::PerAck);
        assert_eq!(changed.options.abc, Some(1));
    }

    #[test]
    fn a_rule_can_be_none() {
        assert_eq!(plan(&["--option", "abc=none"]).unwrap().options.abc, None);
        assert!(plan(&["--option", "mss=none"]).is_err());
    }
}
