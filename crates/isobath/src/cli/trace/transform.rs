//! `isobath trace transform`.

use super::{Target, not_the_same, tell};
use anyhow::anyhow;
use kit::usage::Usage;
use record::{Run, Status, Warning};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::PathBuf;
use tmix::trace::{Input, Output, Rewriting, Scaling, Share, load, words};
use units::{Rate, Span};
use vectors::Side;
use vectors::model::rtt::{Model, Rtts};
use vectors::model::{Latencies, Structure, Transform, Windows};

#[derive(Debug, clap::Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of its own"
)]
pub(crate) struct Args {
    /// Vectors in any format.
    file: PathBuf,
    #[command(flatten)]
    target: Target,
    /// With 'harpoon': file for the connections that acceptors open.
    #[arg(long, value_name = "FILE", requires = "out")]
    back: Option<PathBuf>,
    /// Structure model: harpoon, block-concurrent, block-sequential, a-b, a-t-b or a-t-b-t [default: as measured].
    #[arg(long, value_name = "MODEL", value_parser = structure)]
    structure: Option<Structure>,
    /// Omit waits shorter than this, which may be network latency.
    #[arg(
        long,
        value_name = "TIME",
        default_value = "500ms",
        requires = "structure"
    )]
    latency_threshold: Span,
    /// Subtract the connection's RTT from waits for a response.
    #[arg(long, requires = "structure")]
    subtract_rtt: bool,
    /// Keep the wait before the first ADU, which --structure otherwise omits.
    #[arg(long, requires = "structure")]
    first: bool,
    /// Keep the wait before the close, which --structure otherwise omits.
    #[arg(long, requires = "structure")]
    tails: bool,
    /// RTT model: nodelay, mean, median, 10path, da:PATHS, uniform or usernet [default: as measured].
    #[arg(long, value_name = "MODEL")]
    rtt: Option<Model>,
    /// Receive window of both ends: 8KB, 16KB, 64KB, ... [default: as measured].
    #[arg(long, value_name = "SIZE", default_value_t = Windows::Empirical, hide_default_value = true)]
    windows: Windows,
    /// Keep each connection with this probability: 1/4, 25% or 0.25.
    #[arg(long, value_name = "SHARE", conflicts_with_all = ["load", "time"])]
    thin: Option<Share>,
    /// Resample blocks of the set to this offered load.
    #[arg(long, value_name = "RATE", conflicts_with = "time")]
    load: Option<Rate>,
    /// Whose octets count towards --load.
    #[arg(long, value_enum, default_value_t = Of::Both, requires = "load")]
    load_of: Of,
    /// Approximate length of the blocks that --load resamples.
    #[arg(long, value_name = "TIME", default_value = "30s", requires = "load")]
    block: Span,
    /// Length of the set that --load makes [default: that of the input].
    #[arg(long, value_name = "TIME", requires = "load", value_parser = crate::cli::seconds)]
    duration: Option<Span>,
    /// Multiply start times by this factor: 0.5 doubles the load.
    #[arg(long, value_name = "FACTOR")]
    time: Option<f64>,
    /// Random seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print the run as JSON instead of the scorecard.
    #[arg(long)]
    json: bool,
    /// As for other verbs; there is no progress to show.
    #[arg(short, long, hide = true)]
    quiet: bool,
}

/// Whose octets a load means.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Of {
    /// Both ends.
    Both,
    /// Initiators only.
    Initiators,
    /// Acceptors only.
    Acceptors,
}

fn structure(name: &str) -> Result<Structure, String> {
    let found = Structure::ALL
        .into_iter()
        .find(|known| known.name() == name);
    found.ok_or_else(|| format!("one of {}", Structure::ALL.map(Structure::name).join(", ")))
}

pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    args.check()?;
    let scaling = args.scaling().map_err(Usage::of)?;
    let rewriting = Rewriting::survey(&args.file, args.rtt, &scaling)?;
    let transform = Transform {
        structure: args.structure.unwrap_or(Transform::NONE.structure),
        latencies: args.latencies(),
        rtts: args.rtt.map(|model| rewriting.rtts(model)),
        windows: args.windows,
        seed: args.seed,
    };
    let input = Input::open(&args.file)?;
    // A text has an order already, which --load mixes up; a table is in the order in which connections ended.
    let sorted = !input.is_text() || args.load.is_some();
    let mut forth = args.target.open(std::slice::from_ref(&args.file), sorted)?;
    let mut back = args.back(sorted)?;
    if let Some(output) = &mut forth {
        output.comment(input.preamble())?;
    }
    let mut run = Run::new("trace-transform", jiff::Timestamp::now(), args.plan());
    run.hosts = vec![kit::host::facts("client")];
    let done = rewriting.run(input, &transform, |pieces| {
        put(&mut forth, pieces.forth)?;
        put(&mut back, pieces.back)
    })?;
    let left_out = forth.as_ref().map_or(0, Output::left_out);
    forth.map_or(Ok(()), Output::finish)?;
    back.map_or(Ok(()), Output::finish)?;
    let rtts = transform.rtts.as_ref().map(paths);
    run.status = if done.counters.holds() {
        Status::Complete
    } else {
        Status::Failed
    };
    run.warnings = rewriting.warnings(&done);
    if left_out > 0 {
        run.warnings.push(Warning {
            code: "udp_left_out".to_owned(),
            message: format!("{left_out} flows of UDP are not in the file: cvec knows TCP only"),
            advice: "end the name in .parquet to keep them".to_owned(),
        });
    }
    run.summary = json!({
        "before": load::figures(&done.before),
        "after": load::figures(&done.after),
        "conserved": done.counters,
        "holds": done.counters.holds(),
        "rtt": transform.rtts.as_ref().map(figures),
    });
    tell(&run, args.json, || {
        let mut card = format!("before        {}\n", load::words(&done.before));
        let _ = writeln!(card, "after         {}", load::words(&done.after));
        if let (Some(model), Some(rtts)) = (args.rtt, rtts) {
            let _ = writeln!(card, "round trips   {model}: {rtts}");
        }
        let _ = writeln!(card, "conserved     {}", done.conserved());
        for warning in &run.warnings {
            let _ = writeln!(
                card,
                "warning       {} - {}",
                warning.message, warning.advice
            );
        }
        card += args.target.line().trim_start();
        if let Some(back) = &args.back {
            let _ = writeln!(card, "back          {}", back.display());
        }
        card
    })
}

fn put(output: &mut Option<Output>, vector: Option<vectors::Vector>) -> anyhow::Result<()> {
    match (output, vector) {
        (Some(output), Some(vector)) => output.vector(vector),
        _ => Ok(()),
    }
}

/// The round-trip times that a model assigns.
fn paths(rtts: &Rtts) -> String {
    let ms = |rtt: &std::time::Duration| {
        words::value(
            rtt.as_secs_f64() * 1e3,
            vectors::describe::Unit::Milliseconds,
        )
    };
    match rtts {
        Rtts::One(rtt) => ms(rtt),
        Rtts::Paths(paths) => {
            let ms = |rtt: &std::time::Duration| words::digits(rtt.as_secs_f64() * 1e3);
            let all: Vec<_> = paths.iter().map(ms).collect();
            format!("{} paths of {} ms", paths.len(), all.join(", "))
        }
        Rtts::Uniform(low, high) => format!("from {low} to {high} ms"),
        Rtts::Own(unknown) => format!("each its own, and {} where it is unknown", ms(unknown)),
    }
}

fn figures(rtts: &Rtts) -> Value {
    let ms = |rtt: &std::time::Duration| rtt.as_secs_f64() * 1e3;
    match rtts {
        Rtts::One(rtt) => json!({ "all_ms": ms(rtt) }),
        Rtts::Paths(paths) => json!({ "paths_ms": paths.iter().map(ms).collect::<Vec<_>>() }),
        Rtts::Uniform(low, high) => json!({ "from_ms": low, "to_ms": high }),
        Rtts::Own(unknown) => json!({ "unknown_ms": ms(unknown) }),
    }
}

impl Args {
    fn check(&self) -> anyhow::Result<()> {
        if self.target.out.is_some()
            && (self.structure == Some(Structure::Harpoon)) != self.back.is_some()
        {
            return Err(Usage::of(anyhow!(
                "--back and --structure harpoon go together, as its acceptors open connections too - give both or neither"
            )));
        }
        Ok(())
    }

    fn back(&self, sorted: bool) -> anyhow::Result<Option<Output>> {
        let Some(back) = &self.back else {
            return Ok(None);
        };
        not_the_same(&self.file, back)?;
        if self.target.out.as_ref() == Some(back) {
            return Err(Usage::of(anyhow!(
                "--out and --back are the same file - name another"
            )));
        }
        let format = super::format_of(back, self.target.format)?;
        Output::create(back, format, sorted).map(Some)
    }

    fn latencies(&self) -> Latencies {
        if self.structure.is_none() {
            return Latencies::ALL;
        }
        Latencies {
            threshold: self.latency_threshold,
            subtract_rtt: self.subtract_rtt,
            first: self.first,
            tail: self.tails,
        }
    }

    fn scaling(&self) -> anyhow::Result<Scaling> {
        let of = match self.load_of {
            Of::Both => None,
            Of::Initiators => Some(Side::Initiator),
            Of::Acceptors => Some(Side::Acceptor),
        };
        Ok(match (self.thin, self.load, self.time) {
            (Some(share), ..) => Scaling::thin(share, self.seed)?,
            (_, Some(target), _) => Scaling::Load {
                target,
                of,
                block: self.block.0,
                span: self.duration.map(|span| span.0),
                seed: self.seed,
            },
            (.., Some(factor)) => Scaling::time(factor)?,
            _ => Scaling::None,
        })
    }

    fn plan(&self) -> Value {
        json!({
            "file": self.file,
            "out": self.target.out,
            "back": self.back,
            "format": self.target.named().ok().flatten().map(tmix::trace::Format::name),
            "structure": self.structure,
            "latencies": self.latencies(),
            "rtt": self.rtt,
            "windows": self.windows,
            "thin": self.thin,
            "load": self.load,
            "load_of": format!("{:?}", self.load_of).to_lowercase(),
            "block": self.block,
            "duration": self.duration,
            "time": self.time,
            "seed": self.seed,
        })
    }
}
