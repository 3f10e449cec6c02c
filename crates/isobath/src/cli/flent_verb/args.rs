//! Flent's options, and what they mean for `isobath rrul`.

use super::unequal::Unequal;
use crate::cli::{one_line, rrul};
use kit::usage::Usage;
use std::path::PathBuf;
use units::Span;

/// Steps of the time line of data files, in seconds.
const STEP_S: f64 = 0.2;

#[derive(Clone, Copy, Debug, Eq, PartialEq, clap::ValueEnum)]
pub(super) enum Format {
    /// The scorecard after a run, the summary of files.
    Default,
    /// A plot.
    Plot,
    /// Mean, median and 99th percentile of each series.
    Summary,
    /// The time series.
    Csv,
}

#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "switches of a command line")]
pub(crate) struct Args {
    /// Test to run, host to run it with, or data files to read.
    #[arg(value_name = "TEST|HOST|FILE")]
    named: Vec<String>,
    /// Far end that runs 'isobath serve': HOST or HOST:PORT; some tests take several.
    #[arg(short = 'H', long = "host", value_name = "HOST")]
    hosts: Vec<String>,
    /// Measure in an emulated network instead: a name from 'isobath lab list', or a TOML file.
    #[arg(long, value_name = "NAME", conflicts_with = "hosts")]
    lab: Option<String>,
    /// Access key printed by 'isobath serve'; with several hosts, one for each, comma-separated in the same order.
    #[arg(long, env = "ISOBATH_KEY", hide_env_values = true)]
    key: Option<String>,
    /// Load duration in seconds [default: the plan's, 60].
    #[arg(short, long, value_name = "SECONDS")]
    length: Option<u32>,
    /// Idle time before and after the load in seconds [default: the plan's, 5].
    #[arg(short, long, value_name = "SECONDS")]
    delay: Option<u32>,
    /// Data file to read instead of running a test; several are plotted together.
    #[arg(short, long, value_name = "FILE")]
    input: Vec<PathBuf>,
    /// Plot to draw, to the file named by -o.
    #[arg(short, long)]
    pub(super) plot: Option<String>,
    /// File to write: .png, .svg or .pdf for a plot.
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Output format.
    #[arg(short, long, value_enum, default_value = "default")]
    pub(super) format: Format,
    /// Title of plots, and part of the data file's name.
    #[arg(short, long, value_name = "TEXT")]
    pub(super) title_extra: Option<String>,
    /// Remark to keep in the record and in the data file.
    #[arg(short, long, value_name = "TEXT")]
    note: Option<String>,
    /// Folder for the data file [default: that of -o, else the current one].
    #[arg(short = 'D', long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    #[arg(
        long,
        value_name = "KEY=VALUE",
        help = "Set a test parameter: upload_streams=N or download_streams=N"
    )]
    test_parameter: Vec<String>,
    /// Step of the time series in seconds; data files always use 0.2.
    #[arg(short, long, value_name = "SECONDS")]
    step_size: Option<f64>,
    /// Swap upload and download.
    #[arg(long, alias = "swap-updown")]
    swap_up_down: bool,
    /// Use IPv4 only.
    #[arg(short = '4', long, conflicts_with = "ipv6")]
    ipv4: bool,
    /// Use IPv6 only.
    #[arg(short = '6', long)]
    ipv6: bool,
    /// Start y axes at zero.
    #[arg(short, long)]
    zero_y: bool,
    /// Width of the figure in inches.
    #[arg(
        long,
        alias = "fig-width",
        value_name = "INCHES",
        default_value_t = 6.4
    )]
    figure_width: f64,
    /// Height of the figure in inches.
    #[arg(
        long,
        alias = "fig-height",
        value_name = "INCHES",
        default_value_t = 4.8
    )]
    figure_height: f64,
    /// Dots per inch of a PNG.
    #[arg(long, alias = "fig-dpi", value_name = "DPI", default_value_t = 100.0)]
    pub(super) figure_dpi: f32,
    /// Hide the progress bar.
    #[arg(short, long)]
    quiet: bool,
    /// List the tests and exit.
    #[arg(long)]
    pub(super) list_tests: bool,
    /// List the plots of the test and exit.
    #[arg(long)]
    pub(super) list_plots: bool,
    #[command(flatten)]
    unequal: Unequal,
}

/// What the words that are not options name.
pub(super) struct Asked {
    pub(super) inputs: Vec<PathBuf>,
    tests: Vec<String>,
    hosts: Vec<String>,
}

impl Args {
    /// What is different here from what Flent would do, a line each.
    ///
    /// # Errors
    /// When an option has no equal without which the result would be another.
    pub(super) fn warnings(&self) -> anyhow::Result<Vec<String>> {
        let mut warnings = self.unequal.warnings()?;
        if self.step_size.is_some_and(|step| step != STEP_S) {
            warnings.push(format!(
                "--step-size is ignored: data files have a step of {STEP_S} s"
            ));
        }
        Ok(warnings)
    }

    /// Tells files, tests and hosts from each other.
    pub(super) fn asked(&self) -> Asked {
        let mut asked = Asked {
            inputs: self.input.clone(),
            tests: Vec::new(),
            hosts: self.hosts.clone(),
        };
        for word in &self.named {
            if flent::TESTS.contains(&word.as_str()) {
                asked.tests.push(word.clone());
            } else if PathBuf::from(word).is_file() {
                asked.inputs.push(word.into());
            } else {
                asked.hosts.push(word.clone());
            }
        }
        asked
    }

    /// The test to run.
    pub(super) fn test(&self, asked: &Asked) -> anyhow::Result<String> {
        let test = match &asked.tests[..] {
            [test] => test,
            [] => {
                return Err(no_test(
                    asked.hosts.last().filter(|_| !self.named.is_empty()),
                ));
            }
            [one, other, ..] => {
                return Err(Usage::of(anyhow::anyhow!(
                    "{one} and {other} are both tests - run one at a time"
                )));
            }
        };
        if self.swap_up_down {
            return swapped(test);
        }
        Ok(test.clone())
    }

    pub(super) fn data_folder(&self) -> PathBuf {
        let beside = || self.output.as_ref()?.parent().map(PathBuf::from);
        let folder = self.data_dir.clone().or_else(beside).unwrap_or_default();
        if folder.as_os_str().is_empty() {
            PathBuf::from(".")
        } else {
            folder
        }
    }

    pub(super) const fn look(&self) -> flent::Look {
        flent::Look {
            size_in: (self.figure_width, self.figure_height),
            from_zero: self.zero_y,
        }
    }

    /// The command line of `isobath rrul` that measures what the test does.
    pub(super) fn measurement(&self, asked: &Asked, test: &str) -> anyhow::Result<rrul::Args> {
        let mut words = vec!["rrul".to_owned()];
        let mut option = |name: &str, value: Option<String>| {
            words.extend(value.map(|value| format!("--{name}={value}")));
        };
        option("plan", Some(test.to_owned()));
        option("duration", self.length.map(|s| format!("{s}s")));
        option("note", self.note.clone());
        option("lab", self.lab.clone());
        option("key", self.key.clone().filter(|_| self.lab.is_none()));
        option("streams", self.streams(test)?);
        for (is_on, switch) in [(self.ipv4, "-4"), (self.ipv6, "-6"), (self.quiet, "-q")] {
            words.extend(is_on.then(|| switch.to_owned()));
        }
        if asked.hosts.is_empty() && self.lab.is_none() {
            return Err(Usage::of(anyhow::anyhow!(
                "there is no far end - name a host with -H, or an emulated network with --lab"
            )));
        }
        words.push("--".to_owned());
        words.extend(asked.hosts.iter().filter(|_| self.lab.is_none()).cloned());
        rrul::Args::of(&words, self.idle(test)).map_err(|error| Usage::of(one_line(&error)))
    }

    /// How long it is idle before and after the load. Flent's tests without load have no such time.
    fn idle(&self, test: &str) -> Option<Span> {
        let has_load = ::rrul::catalogue::find(test).is_ok_and(|plan| !plan.load.is_empty());
        let seconds = if has_load { self.delay? } else { 0 };
        Some(Span(std::time::Duration::from_secs(seconds.into())))
    }

    /// How many streams a test has that leaves it open; Flent's has one.
    fn streams(&self, test: &str) -> anyhow::Result<Option<String>> {
        let wanted = match test {
            "tcp_nup" => Some("upload_streams"),
            "tcp_ndown" => Some("download_streams"),
            _ => None,
        };
        let mut streams = wanted.map(|_| "1".to_owned());
        for parameter in &self.test_parameter {
            let (key, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            if Some(key) != wanted {
                return Err(Usage::of(anyhow::anyhow!(
                    "test {test} has no parameter '{key}' here - only upload_streams (tcp_nup) and download_streams (tcp_ndown) are supported"
                )));
            }
            streams = Some(value.to_owned());
        }
        Ok(streams)
    }
}

fn no_test(word: Option<&String>) -> anyhow::Error {
    let tests = flent::TESTS.join(", ");
    Usage::of(match word {
        Some(word) => {
            anyhow::anyhow!("'{word}' is neither a test nor a file - use one of: {tests}")
        }
        None => anyhow::anyhow!("no test is named - use one of: {tests}"),
    })
}

/// The test with upload and download exchanged.
fn swapped(test: &str) -> anyhow::Result<String> {
    let is_both_ways = matches!(
        test,
        "rrul" | "rrul_be" | "rrul_cs8" | "rrul_noclassification" | "tcp_bidirectional"
    );
    let other = if test.contains("up") {
        test.replace("upload", "download").replace("up", "down")
    } else {
        test.replace("download", "upload").replace("down", "up")
    };
    // 'upload' has 'up' in it.
    let other = other.replace("downloaddown", "download");
    if is_both_ways || flent::TESTS.contains(&other.as_str()) && other != test {
        return Ok(other);
    }
    Err(Usage::of(anyhow::anyhow!(
        "--swap-up-down is not supported for {test} - leave it out"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_of_one_direction_have_one_of_the_other() {
        for (up, down) in [
            ("tcp_upload", "tcp_download"),
            ("tcp_nup", "tcp_ndown"),
            ("tcp_12up", "tcp_12down"),
            ("http-1up", "http-1down"),
            ("rrul", "rrul"),
        ] {
            assert_eq!(swapped(up).unwrap(), down);
            assert_eq!(swapped(down).unwrap(), up);
        }
        assert!(swapped("rrul_up").is_err());
        assert!(swapped("ping").is_err());
    }
}
