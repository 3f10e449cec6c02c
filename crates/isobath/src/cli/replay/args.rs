//! The command line of `isobath replay`.

use anyhow::anyhow;
use kit::options::{Output, Reach};
use kit::usage::Usage;
use schema::replay::plan::{Models, Plan, RttAt, Way};
use std::path::PathBuf;
use units::{Rate, Span};
use vectors::model::rtt::Model;
use vectors::model::{Latencies, Structure, Windows};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit status: 0 replayed; 3 could not be replayed; 4 this machine was the bottleneck; 130 interrupted, record kept."
)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(super) verb: Option<Verb>,
    #[command(flatten)]
    pub(super) play: Play,
}

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Verb {
    /// Measure this machine's replay limits; replays above 80 % of them are refused.
    Calibrate(Calibrate),
    /// Verify a replay: extract vectors from its capture and compare them with those requested.
    Verify(Verify),
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit status: 0 the replay matches its vectors; 1 it does not; 5 too little was captured to tell."
)]
pub(crate) struct Verify {
    /// Record of the replay.
    pub(super) run: PathBuf,
    /// Print the comparison as JSON.
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit status: 0 limits measured and stored; 3 could not be measured; 4 the machine was busy, nothing stored; 130 interrupted."
)]
pub(crate) struct Calibrate {
    /// Try one load of each kind, for a few seconds; the load sustained becomes the limit.
    #[arg(long)]
    pub(super) quick: bool,
    /// Print the limits as JSON, with all trials.
    #[arg(long)]
    pub(super) json: bool,
    /// Hide the progress bar.
    #[arg(short, long)]
    pub(super) quiet: bool,
}

/// What is played, and how; the same on sockets and in virtual time.
#[derive(Debug, clap::Args)]
pub(crate) struct Played {
    /// Vectors in any format.
    #[arg(required = true)]
    vectors: Option<PathBuf>,
    /// Emulated network between the hosts: a name from 'isobath lab list', or a TOML file [default: dumbbell].
    #[arg(long, value_name = "NAME")]
    lab: Option<String>,
    /// Structure model: harpoon, block-concurrent, block-sequential, a-b, a-t-b or a-t-b-t.
    #[arg(long, value_name = "MODEL", default_value = "a-t-b-t")]
    structure: Structure,
    /// RTT model: nodelay, mean, median, 10path, da:PATHS, uniform or usernet (per connection) [default: usernet].
    #[arg(long, value_name = "MODEL")]
    rtt: Option<Model>,
    /// Receive windows: empirical, or one size for all, such as 16KB.
    #[arg(long, value_name = "MODEL", default_value = "empirical")]
    windows: Windows,
    /// Omit waits shorter than this, which may be latency of the original network.
    #[arg(long, value_name = "TIME", default_value = "500ms")]
    latency_threshold: Span,
    /// Host at which the RTT is added.
    #[arg(long, value_enum, default_value = "both")]
    rtt_at: RttAt,
    /// Replay vectors that start before TIME, then close all connections [default: until the last one ends].
    #[arg(long, value_name = "TIME", value_parser = crate::cli::seconds)]
    duration: Option<Span>,
    /// Warm-up, excluded from queue, load and active-connection statistics [default: a sixth of --duration].
    #[arg(long, value_name = "TIME")]
    warm_up: Option<Span>,
    /// Cool-down at the end, excluded likewise [default: a sixth of --duration].
    #[arg(long, value_name = "TIME")]
    cool_down: Option<Span>,
    /// Rate of the bottleneck in both directions [default: the lab's].
    #[arg(long, value_name = "RATE")]
    bottleneck: Option<Rate>,
    /// Record that --bottleneck was derived from the load of another replay; changes nothing else.
    #[arg(long, requires = "bottleneck")]
    constrained: bool,
    /// Initial window in segments [default: the kernel's 10].
    #[arg(long, value_name = "SEGMENTS")]
    initial_window: Option<u32>,
    /// Random seed.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
}

impl Played {
    /// The emulated network.
    pub(crate) fn lab(&self) -> &str {
        self.lab.as_deref().unwrap_or("dumbbell")
    }

    /// What is asked for; the direction of more data is known once the vectors are.
    pub(crate) fn plan(&self) -> anyhow::Result<Plan> {
        let file = self.vectors.clone().unwrap_or_default();
        let sixth = Span(self.duration.unwrap_or_default().0 / 6);
        let plan = Plan {
            // It is read again to verify, perhaps from elsewhere.
            vectors: std::path::absolute(&file).unwrap_or(file),
            models: Models {
                structure: self.structure,
                rtt: self.rtt.unwrap_or(Model::Usernet),
                windows: self.windows,
                latencies: Latencies {
                    threshold: self.latency_threshold,
                    ..Latencies::default()
                },
            },
            duration: self.duration,
            warm_up: self.warm_up.unwrap_or(sixth),
            cool_down: self.cool_down.unwrap_or(sixth),
            rtt_at: self.rtt_at,
            add_rtt: false,
            bottleneck: self.bottleneck,
            constrained: self.constrained,
            forward: Way::Down,
            congestion_control: None,
            initial_window: self.initial_window,
            capture: false,
            udp: false,
            seed: self.seed,
        };
        let cut = plan.warm_up.0 + plan.cool_down.0;
        if plan.duration.is_some_and(|duration| cut >= duration.0) {
            return Err(Usage::of(anyhow!(
                "--warm-up and --cool-down leave nothing of --duration - make them shorter"
            )));
        }
        Ok(plan)
    }
}

#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "switches of a command line")]
pub(crate) struct Play {
    #[command(flatten)]
    pub(super) played: Played,
    /// Replay with a far end that runs 'isobath serve': HOST or HOST:PORT, an IPv6 address in brackets.
    #[arg(conflicts_with_all = ["lab", "rtt_at", "bottleneck", "initial_window", "no_capture", "beyond_limits"])]
    pub(super) host: Option<String>,
    /// With HOST: add the RTT of --rtt to the path's own, in this host's sending direction; its
    /// interface needs the fq qdisc.
    #[arg(long, requires = "host")]
    add_rtt: bool,
    /// Congestion control of all connections [default: the system's].
    #[arg(long, value_name = "NAME")]
    cc: Option<String>,
    #[command(flatten)]
    pub(super) reach: Reach,
    /// Do not capture packets at the bottleneck.
    #[arg(long)]
    no_capture: bool,
    /// Replay even above 80 % of the limits from 'isobath replay calibrate'; the run is then invalid.
    #[arg(long)]
    pub(super) beyond_limits: bool,
    #[command(flatten)]
    pub(super) output: Output,
    /// Show the run full-screen with live plots; q closes the view, not the run.
    #[arg(long, conflicts_with = "quiet")]
    pub(super) live: bool,
}

impl Play {
    /// What is asked for; the direction of more data is known once the vectors are.
    pub(super) fn plan(&self) -> anyhow::Result<Plan> {
        if self.host.is_some() && self.played.rtt.is_some() && !self.add_rtt {
            return Err(Usage::of(anyhow!(
                "with HOST the path sets the RTT - use --add-rtt to add that of --rtt, or leave --rtt out"
            )));
        }
        Ok(Plan {
            add_rtt: self.add_rtt,
            congestion_control: self.cc.clone(),
            capture: !self.no_capture && self.host.is_none(),
            udp: self.host.is_none(),
            ..self.played.plan()?
        })
    }
}
