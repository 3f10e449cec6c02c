//! `isobath trace extract`.

use super::format_of;
use anyhow::anyhow;
use jiff::Timestamp;
use kit::ending::Interrupted;
use kit::host;
use kit::usage::{Usage, print};
use record::{Run, Status};
use serde_json::json;
use std::fmt::Write as _;
use std::hash::{BuildHasher as _, RandomState};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use tmix::trace::{self, Captures, Format, Found, Output};
use units::Span;
use vectors::extract::Options;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Captures (pcap or pcapng, plain, gzip or zstd), parts of one trace in order; '-' is standard input.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// File for the vectors; omit to print statistics only.
    #[arg(short, long)]
    out: Option<PathBuf>,
    /// Format of the vectors [default: by the file name].
    #[arg(long, value_enum, requires = "out")]
    format: Option<Format>,
    /// Sender idle time that starts a new ADU.
    #[arg(long, value_name = "TIME", default_value = "500ms")]
    quiet_time: Span,
    /// Idle timeout of an established connection.
    #[arg(long, value_name = "TIME", default_value = "124min")]
    idle: Span,
    /// Idle timeout of a UDP flow.
    #[arg(long, value_name = "TIME", default_value = "60s")]
    udp_idle: Span,
    /// Extract the outer flows of tunnels (GRE, IP in IP, VXLAN, GTP-U, Geneve), not the inner ones.
    #[arg(long)]
    outer: bool,
    /// Maximum concurrently open connections, and as many UDP flows.
    #[arg(long, value_name = "N", default_value_t = Options::default().most_open, value_parser = most_open)]
    most_open: usize,
    /// Seed of the hash function; does not affect results [default: random, so that no capture can force collisions].
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Print the run as JSON instead of the scorecard.
    #[arg(long)]
    json: bool,
    /// As for other verbs; there is no progress to show.
    #[arg(short, long, hide = true)]
    quiet: bool,
}

/// As many as have numbers.
fn most_open(text: &str) -> Result<usize, String> {
    let number = text
        .parse()
        .map_err(|_| "a number of connections".to_owned())?;
    if (1..=1 << 30).contains(&number) {
        Ok(number)
    } else {
        Err("from 1 to 1073741824 connections".to_owned())
    }
}

pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    let (run, found) = carry_out(args, &AtomicBool::new(false))?;
    if args.json {
        print(&serde_json::to_string_pretty(&run)?)?;
    } else {
        print(&args.card(&run, &found))?;
    }
    Ok(run.exit_status())
}

/// Reads the captures and writes the vectors, until `interrupt` is raised.
///
/// # Errors
/// When a capture cannot be read, the vectors cannot be written, or it was interrupted.
pub(crate) fn carry_out(args: &Args, interrupt: &AtomicBool) -> anyhow::Result<(Run, Found)> {
    let standard = args.files.iter().filter(|file| *file == Path::new("-"));
    if standard.count() > 1 {
        return Err(Usage::of(anyhow!("standard input ('-') can be read once")));
    }
    let format = args.out.as_deref().map(|out| format_of(out, args.format));
    let format = format.transpose()?;
    let mut run = Run::new("trace-extract", Timestamp::now(), args.plan(format));
    run.hosts = vec![host::facts("client")];
    let captures = Captures::open(&args.files)?.outer(args.outer);
    let mut output = match (&args.out, format) {
        (Some(out), Some(format)) => Some(Output::create(out, format, true)?),
        _ => None,
    };
    let mut found = captures.extract(args.options(), |extracted| {
        Interrupted::check(interrupt)?;
        match &mut output {
            Some(output) => output.extracted(extracted),
            None => Ok(()),
        }
    })?;
    found.left_out = output.as_ref().map_or(0, Output::left_out);
    output.map_or(Ok(()), Output::finish)?;
    run.summary = trace::summary(&found);
    run.warnings = trace::warnings(&found);
    run.status = if found.damaged.is_empty() {
        Status::Complete
    } else {
        Status::Incomplete
    };
    Ok((run, found))
}

impl Args {
    fn options(&self) -> Options {
        Options {
            quiet: self.quiet_time.0,
            idle: self.idle.0,
            udp_idle: self.udp_idle.0,
            most_open: self.most_open,
            // The standard library seeds each `RandomState` from the system.
            seed: self
                .seed
                .unwrap_or_else(|| RandomState::new().hash_one("seed")),
            ..Options::default()
        }
    }

    fn card(&self, run: &Run, found: &Found) -> String {
        // Writing to a string cannot fail.
        let mut card = trace::scorecard(found);
        for warning in &run.warnings {
            let _ = writeln!(
                card,
                "warning       {} - {}",
                warning.message, warning.advice
            );
        }
        if let Some(out) = &self.out {
            let _ = writeln!(card, "vectors       {}", out.display());
        }
        card
    }

    fn plan(&self, format: Option<Format>) -> serde_json::Value {
        json!({
            "files": self.files,
            "out": self.out,
            "format": format.map(Format::name),
            "quiet_time": self.quiet_time,
            "idle": self.idle,
            "udp_idle": self.udp_idle,
            "outer": self.outer,
            "most_open": self.most_open,
            "seed": self.seed,
        })
    }
}
