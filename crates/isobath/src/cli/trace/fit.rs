//! `isobath trace fit`.

use super::{not_the_same, tell};
use crate::cli::report::write;
use anyhow::anyhow;
use kit::usage::Usage;
use record::{Run, Status};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tmix::trace::{Input, load, statements, words};
use units::Span;
use vectors::describe::{Describer, Measure};
use vectors::scale::Load;
use vectors::synth::{Captures, Fit, Synthesis};
use vectors::{Body, Transport, Vector};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Vectors in any format; several files must be captures of the same traffic.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// File for the mix, which 'trace synth' reads; omit to print statistics only.
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Length of each capture [default: to its last ADU].
    #[arg(long, value_name = "TIME", value_parser = crate::cli::seconds)]
    duration: Option<Span>,
    /// Name of the mix [default: that of the first file].
    #[arg(long)]
    name: Option<String>,
    /// Random seed of the synthesis that the set is compared with.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print the run as JSON instead of the tables.
    #[arg(long)]
    json: bool,
    /// As for other verbs; there is no progress to show.
    #[arg(short, long, hide = true)]
    quiet: bool,
}

/// A set of vectors, and what it asks of a network.
#[derive(Default)]
struct Set {
    describer: Describer,
    load: Load,
    /// When connections without a close said their last.
    cut: [Vec<Duration>; 2],
    udp: u64,
}

pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    if let Some(out) = &args.out {
        for file in &args.files {
            not_the_same(file, out)?;
        }
    }
    let (set, captures) = args.read()?;
    let name = args.name.clone().unwrap_or_else(|| stem(&args.files));
    let fit = Fit::measure(&set.describer, &captures, &name).ok_or_else(|| {
        Usage::of(anyhow!(
            "a mix needs connections of TCP, and time between them - there are {} in {} s",
            set.load.connections,
            words::digits(set.load.span.0.as_secs_f64())
        ))
    })?;
    if let Some(out) = &args.out {
        write(out, fit.to_toml().as_bytes())?;
    }
    let made = Set::drawn(&fit, &captures, args.seed);
    let rows = statements::rows(fit.statements(), &made.describer);
    let distances = distances(&set, &made);
    let figure =
        |(measure, distance): &(Measure, f64)| json!({ "measure": measure, "distance": distance });
    let mut run = Run::new("trace-fit", jiff::Timestamp::now(), args.plan(&captures));
    run.hosts = vec![kit::host::facts("client")];
    run.status = Status::Complete;
    run.summary = json!({
        "load": load::figures(&set.load),
        "synthesis": load::figures(&made.load),
        "in_progress": captures.cut.iter().map(Vec::len).sum::<usize>(),
        "udp_flows": set.udp,
        "rate_changes": !fit.course.is_empty(),
        "statements": statements::figures(&rows, "measured"),
        "distances": distances.iter().map(figure).collect::<Vec<_>>(),
    });
    tell(&run, args.json, || {
        let card = card(&fit, [&set, &made], &distances);
        let main = rows.iter().filter(|row| row.is_main());
        let out = args.out.as_ref().map_or_else(String::new, |out| {
            format!("\nmix           {}\n", out.display())
        });
        card + &statements::table(main, statements::MEASURED) + &out
    })
}

/// What stands above the table.
fn card(fit: &Fit, [set, made]: [&Set; 2], distances: &[(Measure, f64)]) -> String {
    let mut card = format!("mix           {}: {}\n", fit.name, fit.summary);
    // Writing to a string cannot fail.
    let _ = writeln!(card, "measured      {}", load::words(&set.load));
    let _ = writeln!(card, "synthesis     {}", load::words(&made.load));
    if set.udp > 0 {
        let _ = writeln!(card, "left out      {} flows of UDP", words::count(set.udp));
    }
    let rate = if fit.course.is_empty() {
        "is the same at all times".to_owned()
    } else {
        format!("changes over time, in {} stretches", fit.course.len())
    };
    let _ = writeln!(card, "rate          {rate}");
    for (measure, distance) in distances.iter().take(3) {
        let _ = writeln!(
            card,
            "distance      {} between the distributions of: {}",
            words::digits(*distance),
            measure.words()
        );
    }
    card.push('\n');
    card
}

/// How far the synthesis is from the set, the largest first.
fn distances(set: &Set, made: &Set) -> Vec<(Measure, f64)> {
    let distance = |&measure: &Measure| {
        let [set, made] = [set, made].map(|set| set.describer.sketch(measure));
        (set.count() > 0 && made.count() > 0).then_some(())?;
        Some((measure, set.distance(made)?))
    };
    let mut distances: Vec<_> = Measure::ALL.iter().filter_map(distance).collect();
    distances.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    distances
}

/// The name of the first file, without what stands after a point.
fn stem(files: &[PathBuf]) -> String {
    let name = files.first().and_then(|file| file.file_name());
    let name = name.unwrap_or_default().to_string_lossy();
    name.split('.').next().unwrap_or_default().to_owned()
}

impl Set {
    /// A set that a fit makes, of the length of one capture; its connections are cut if those of the captures are.
    fn drawn(fit: &Fit, captures: &Captures, seed: u64) -> Self {
        let mut made = Self::default();
        let drawn = Synthesis::new(fit, captures.length, 1.0, seed);
        if captures.is_cut() {
            drawn.stationary().for_each(|vector| made.enter(&vector));
        } else {
            drawn.for_each(|vector| made.enter(&vector));
        }
        made.load.span = Span(captures.length);
        made
    }

    /// Enters all vectors of a file, and says when the last of their ADUs begins.
    fn read(&mut self, file: &Path) -> anyhow::Result<Duration> {
        let mut length = Duration::ZERO;
        for vector in Input::open(file)? {
            let vector = vector?;
            if vector.transport == Transport::Udp {
                self.udp += 1;
                continue;
            }
            length = length.max(last_word(&vector));
            self.enter(&vector);
        }
        Ok(length)
    }

    fn enter(&mut self, vector: &Vector) {
        self.describer.enter(vector);
        self.load.enter(vector);
        if vector.body.is_unfinished() {
            let kind = usize::from(!vector.body.is_sequential());
            self.cut[kind].push(last_word(vector));
        }
    }
}

/// When the last ADU of a vector begins, as if ADUs took no time.
fn last_word(vector: &Vector) -> Duration {
    let mut clocks = [vector.start; 2];
    for turn in vector.body.turns() {
        let lane = match vector.body {
            Body::Sequential { .. } => 0,
            Body::Concurrent { .. } => turn.side.index(),
        };
        clocks[lane] = clocks[lane].saturating_add(turn.wait);
    }
    clocks[0].max(clocks[1])
}

impl Args {
    /// All files.
    fn read(&self) -> anyhow::Result<(Set, Captures)> {
        let mut set = Set::default();
        let mut all = Duration::ZERO;
        for file in &self.files {
            let length = set.read(file)?;
            all = all.saturating_add(self.duration.map_or(length, |Span(length)| length));
        }
        set.load.span = Span(all);
        let number = u32::try_from(self.files.len())?;
        let captures = Captures {
            number,
            length: all / number.max(1),
            cut: core::mem::take(&mut set.cut),
        };
        Ok((set, captures))
    }

    fn plan(&self, captures: &Captures) -> Value {
        json!({
            "files": self.files,
            "duration": Span(captures.length),
            "seed": self.seed,
            "out": self.out,
        })
    }
}
