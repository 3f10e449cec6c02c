//! The command line of `isobath replay`.

use crate::cli::common::{Output, Reach};
use anyhow::anyhow;
use kit::usage::Usage;
use std::path::PathBuf;
use tmix::replay::plan::{Models, Plan, RttAt, Way};
use units::{Rate, Span};
use vectors::model::rtt::Model;
use vectors::model::{Latencies, Structure, Windows};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit status: 0 replayed; 3 could not be; 4 this machine was the bottleneck; 130 interrupted, record kept."
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
    /// Find out what of a replay this machine can do; replays beyond 80 % of that are refused.
    Calibrate(Calibrate),
    /// Whether a replay was what was asked for: extract its capture again and compare.
    Verify(Verify),
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit status: 0 the replay was what was asked for; 1 it was not; 5 too little was captured to tell."
)]
pub(crate) struct Verify {
    /// The replay's record.
    pub(super) run: PathBuf,
    /// Print what was found as JSON.
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit status: 0 found out and kept; 3 could not be; 4 the machine was busy; 130 interrupted."
)]
pub(crate) struct Calibrate {
    /// One load of each kind, in some seconds: what was held is kept as the limit.
    #[arg(long)]
    pub(super) quick: bool,
    /// Print what was found as JSON, with all trials.
    #[arg(long)]
    pub(super) json: bool,
    /// No progress bar.
    #[arg(short, long)]
    pub(super) quiet: bool,
}

#[derive(Debug, clap::Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of its own"
)]
pub(crate) struct Play {
    /// Vectors, in any format.
    #[arg(required = true)]
    vectors: Option<PathBuf>,
    /// Play with another host, where 'isobath serve' runs: HOST or HOST:PORT, an IPv6 address in brackets.
    #[arg(conflicts_with_all = ["lab", "rtt_at", "bottleneck", "initial_window", "no_capture", "beyond_limits"])]
    pub(super) host: Option<String>,
    /// The emulated network to play in: a name from 'isobath lab list', or a TOML file [default: dumbbell].
    #[arg(long, value_name = "NAME")]
    lab: Option<String>,
    /// How the ends send: harpoon, block-concurrent, block-sequential, a-b, a-t-b or a-t-b-t.
    #[arg(long, value_name = "MODEL", default_value = "a-t-b-t")]
    structure: Structure,
    /// How far they are apart: nodelay, mean, median, 10path, da:PATHS, uniform or usernet (each its own) [default: usernet].
    #[arg(long, value_name = "MODEL")]
    rtt: Option<Model>,
    /// Receive windows: empirical, or one for all, such as 16KB.
    #[arg(long, value_name = "MODEL", default_value = "empirical")]
    windows: Windows,
    /// Waits shorter than this are left out: they may have been the old network's.
    #[arg(long, value_name = "TIME", default_value = "500ms")]
    latency_threshold: Span,
    /// Where the round-trip time is added.
    #[arg(long, value_enum, default_value = "both")]
    rtt_at: RttAt,
    /// With a host: add the round-trip time to the path's own, as this host sends; its interface needs the queue fq.
    #[arg(long, requires = "host")]
    add_rtt: bool,
    /// Vectors that start before, and an end to all connections then [default: until the last one is over].
    #[arg(long, value_name = "TIME")]
    duration: Option<Span>,
    /// Part of the run at its beginning that queue, load and active connections are not of [default: a sixth of --duration].
    #[arg(long, value_name = "TIME")]
    warm_up: Option<Span>,
    /// The same at its end.
    #[arg(long, value_name = "TIME")]
    cool_down: Option<Span>,
    /// Rate of the bottleneck in both directions [default: the lab's].
    #[arg(long, value_name = "RATE")]
    bottleneck: Option<Rate>,
    /// Write down that --bottleneck is made from the load of another replay; nothing else changes.
    #[arg(long, requires = "bottleneck")]
    constrained: bool,
    /// Congestion control of all connections [default: the system's].
    #[arg(long, value_name = "NAME")]
    cc: Option<String>,
    /// Segments of the initial window [default: the kernel's 10].
    #[arg(long, value_name = "SEGMENTS")]
    initial_window: Option<u32>,
    #[command(flatten)]
    pub(super) reach: Reach,
    /// Do not write down the packets at the bottleneck.
    #[arg(long)]
    no_capture: bool,
    /// Replay although it is more than 80 % of what 'isobath replay calibrate' found: the run is then invalid.
    #[arg(long)]
    pub(super) beyond_limits: bool,
    /// Seed of all that is random.
    #[arg(long, default_value_t = 1)]
    pub(super) seed: u64,
    #[command(flatten)]
    pub(super) output: Output,
}

impl Play {
    /// The emulated network.
    pub(super) fn lab(&self) -> &str {
        self.lab.as_deref().unwrap_or("dumbbell")
    }

    /// What is asked for; the direction of more data is known once the vectors are.
    pub(super) fn plan(&self) -> anyhow::Result<Plan> {
        if self.host.is_some() && self.rtt.is_some() && !self.add_rtt {
            return Err(Usage::of(anyhow!(
                "with a host the distance is the path's - use --add-rtt to add one of --rtt, or leave --rtt out"
            )));
        }
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
            add_rtt: self.add_rtt,
            bottleneck: self.bottleneck,
            constrained: self.constrained,
            forward: Way::Down,
            congestion_control: self.cc.clone(),
            initial_window: self.initial_window,
            capture: !self.no_capture && self.host.is_none(),
            udp: self.host.is_none(),
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
