//! `isobath trace synth`.

use super::{Target, tell};
use anyhow::{Context, anyhow};
use kit::usage::Usage;
use record::{Run, Status};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tmix::trace::{Input, Share, load, statements, words};
use units::Span;
use vectors::describe::Describer;
use vectors::scale::Load;
use vectors::synth::{BUILT_IN, Copula, Fit, FitError, Synthesis};

/// The span of starts when nothing says another: that of both published traces.
const HOUR: Duration = Duration::from_secs(3_600);

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Mix: unc-2008, ibm-2006, or a TOML file as written by 'trace fit'.
    mix: String,
    #[command(flatten)]
    target: Target,
    /// Number of connections, all complete (as with --cold); with --duration, spread over it.
    #[arg(long, value_name = "N")]
    connections: Option<u64>,
    /// Start with no connection in progress, and truncate none at the end.
    #[arg(long)]
    cold: bool,
    /// Length of the trace: the time span of the starts [default: 1h, or as long as --connections take].
    #[arg(long, value_name = "TIME", value_parser = crate::cli::seconds)]
    duration: Option<Span>,
    /// Share of the mix's own start rate: 1/4, 25% or 0.25 [default: 1].
    #[arg(long)]
    share: Option<Share>,
    /// Preserve the correlations found in this file of vectors; omit to draw each quantity independently.
    #[arg(long, value_name = "FILE")]
    like: Option<PathBuf>,
    /// Random seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print the run as JSON instead of the tables.
    #[arg(long)]
    json: bool,
    /// As for other verbs; there is no progress to show.
    #[arg(short, long, hide = true)]
    quiet: bool,
}

/// Connections that the beginning and the end of the set cut.
#[derive(Clone, Copy, serde::Serialize)]
struct Cut {
    start: u64,
    end: u64,
}

pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    if args.connections.is_some() && args.duration.is_some() && args.share.is_some() {
        return Err(Usage::of(anyhow!(
            "--connections and --duration together set the start rate, as --share does - leave out one of the three"
        )));
    }
    let fit = fit(&args.mix)?;
    let mut output = args.target.open(args.like.as_slice(), false)?;
    let copula = args.like.as_deref().map(|like| ties(like, args.seed));
    let copula = copula.transpose()?;
    let mut run = Run::new("trace-synth", jiff::Timestamp::now(), args.plan(&fit));
    run.hosts = vec![kit::host::facts("client")];
    if let Some(output) = &mut output {
        let share = args.share.unwrap_or(Share(1.0));
        let comment = format!(
            "drawn from the fit {}, share {share}, seed {}",
            fit.name, args.seed
        );
        output.comment(comment.as_bytes())?;
    }
    let mut describer = Describer::default();
    let mut load = Load::default();
    let (made, in_progress) = args.synthesis(&fit, copula.clone());
    for (mut vector, number) in made.zip(1..) {
        vector.ids = [number; 2];
        describer.enter(&vector);
        load.enter(&vector);
        load.span = load.span.max(Span(vector.start));
        if let Some(output) = &mut output {
            output.vector(vector)?;
        }
    }
    if let Some(span) = args.span() {
        load.span = Span(span);
    }
    output.map_or(Ok(()), tmix::trace::Output::finish)?;
    let rows = statements::rows(fit.statements(), &describer);
    let cut = in_progress.map(|start| Cut {
        start,
        end: describer.describe("").connections.unfinished,
    });
    run.status = Status::Complete;
    run.summary = json!({
        "load": load::figures(&load),
        "in_progress": cut,
        "statements": statements::figures(&rows, "published"),
        "ties": copula.as_ref().map(statements::ties),
    });
    let made = Made {
        fit,
        load,
        cut,
        describer,
    };
    tell(&run, args.json, || args.card(&made, &rows))
}

/// What was made of which fit.
struct Made {
    fit: Fit,
    load: Load,
    cut: Option<Cut>,
    describer: Describer,
}

/// A built-in fit, or that of a file.
fn fit(mix: &str) -> anyhow::Result<Fit> {
    if BUILT_IN.iter().any(|(name, _)| *name == mix) {
        return Ok(Fit::named(mix)?);
    }
    if Path::new(mix).extension().is_none() && !Path::new(mix).exists() {
        return Err(Usage::of(anyhow!(
            "no mix is called {mix} - there are unc-2008 and ibm-2006, or give a TOML file"
        )));
    }
    let text = fs::read_to_string(mix);
    let text = text.with_context(|| format!("{mix} cannot be read - check the path"))?;
    Fit::parse(&text).map_err(|error| match error {
        // The library's own words are several lines.
        FitError::Toml(error) => {
            let before = error.span().and_then(|span| text.get(..span.start));
            let line = before.unwrap_or_default().matches('\n').count() + 1;
            anyhow!(
                "{mix} is no fit: line {line}: {}",
                error.message().replace('\n', ", ")
            )
        }
        error => anyhow!("{mix} is no fit: {error}"),
    })
}

/// What goes with what in a file.
fn ties(like: &Path, seed: u64) -> anyhow::Result<Copula> {
    let mut broken = None;
    let vectors = Input::open(like)?.map_while(|vector| match vector {
        Ok(vector) => Some(vector),
        Err(error) => {
            broken = Some(error);
            None
        }
    });
    let copula = Copula::measure(vectors, seed);
    broken.map_or(Ok(copula), Err)
}

/// Mean octets of connections, beside those that the fit has in the long run.
fn sizes(fit: &Fit, describer: &Describer) -> String {
    let description = describer.describe("");
    let (bytes, connections) = (description.bytes, description.connections);
    let kinds = [
        ("sequential", bytes.sequential, connections.sequential),
        ("concurrent", bytes.concurrent, connections.concurrent),
    ];
    let words = kinds
        .into_iter()
        .zip(fit.mean_bytes())
        .map(|((kind, bytes, count), long)| {
            let mean = if count > 0 {
                words::octets(bytes as f64 / count as f64)
            } else {
                "-".to_owned()
            };
            format!(
                "{mean} on average in a {kind} connection (of infinitely many: {})",
                words::octets(long)
            )
        });
    words.collect::<Vec<_>>().join("\n              ")
}

impl Args {
    fn card(&self, made: &Made, rows: &[statements::Row]) -> String {
        let Made { fit, load, cut, .. } = made;
        let printed = BUILT_IN.iter().any(|(name, _)| *name == self.mix);
        let (what, heads) = if printed {
            (
                "a fit to what is printed of it, not the trace",
                statements::PRINTED,
            )
        } else {
            ("a fit, not a trace", statements::OWN)
        };
        let ties = match &self.like {
            Some(like) => format!("quantities go together as in {}", like.display()),
            None => "quantities are drawn independently of each other".to_owned(),
        };
        let mut card = format!("mix           {}: {}\n", fit.name, fit.summary);
        // Writing to a string cannot fail.
        let _ = writeln!(card, "              {what}; {ties}");
        let _ = writeln!(card, "made          {}", load::words(load));
        if let Some(Cut { start, end }) = *cut {
            let [start, end] = [start, end].map(words::count);
            let _ = writeln!(
                card,
                "in progress   {start} at the start and {end} at the end, cut as a capture cuts them"
            );
        }
        let _ = writeln!(card, "octets        {}\n", sizes(fit, &made.describer));
        card + &statements::table(rows, heads) + &self.target.line()
    }

    /// The span of starts, where that is not what comes of the number of connections.
    fn span(&self) -> Option<Duration> {
        match (self.duration, self.connections) {
            (Some(Span(span)), _) => Some(span),
            (None, Some(_)) => None,
            (None, None) => Some(HOUR),
        }
    }

    /// The vectors, and how many connections are in progress at the start, unless it is cold.
    fn synthesis(
        &self,
        fit: &Fit,
        copula: Option<Copula>,
    ) -> (Box<dyn Iterator<Item = vectors::Vector>>, Option<u64>) {
        let share = self.share.map_or(1.0, |share| share.0);
        let span = self.span();
        let made = Synthesis::new(fit, span.unwrap_or(Duration::MAX), share, self.seed);
        let made = match copula {
            Some(copula) => made.with(copula),
            None => made,
        };
        match (self.connections, span) {
            (Some(connections), Some(_)) => (Box::new(made.exactly(connections)), None),
            (Some(connections), None) => {
                let most = usize::try_from(connections).unwrap_or(usize::MAX);
                (Box::new(made.take(most)), None)
            }
            (None, _) if self.cold => (Box::new(made), None),
            (None, _) => {
                let made = made.stationary();
                let in_progress = made.in_progress();
                (Box::new(made), Some(in_progress))
            }
        }
    }

    fn plan(&self, fit: &Fit) -> Value {
        json!({
            "mix": fit.name,
            "connections": self.connections,
            "cold": self.cold || self.connections.is_some(),
            "duration": self.span().map(Span),
            "share": self.share.map_or(1.0, |share| share.0),
            "like": self.like,
            "seed": self.seed,
            "out": self.target.out,
            "format": self.target.named().ok().flatten().map(tmix::trace::Format::name),
        })
    }
}
