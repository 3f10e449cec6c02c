//! Flent's options that have no equal here: each says so in a line. Those without which the result is the same are passed over;
//! the others stop the run before it begins.

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, FromArgMatches};
use kit::usage::Usage;

/// An option without an equal.
#[derive(Debug)]
struct Option {
    long: &'static str,
    short: char,
    takes_value: bool,
    /// Whether the run goes on.
    is_harmless: bool,
    /// What there is instead.
    instead: &'static str,
}

/// Stands for 'no short form'.
const NONE: char = '\0';
const SERVER: &str = "the only far end is 'isobath serve'";
const HOSTS: &str = "the record says what is known of both hosts";
const LOOKS: &str = "figures have one look";
const BATCH: &str = "use 'isobath batch'";
const VIEWER: &str = "use 'isobath report', or 'isobath rrul --live'";
const AXES: &str = "figures have no such axes";
const PAGES: &str = "use 'isobath rrul --page'";

const fn ignored(
    long: &'static str,
    short: char,
    takes_value: bool,
    instead: &'static str,
) -> Option {
    let is_harmless = true;
    Option {
        long,
        short,
        takes_value,
        is_harmless,
        instead,
    }
}

const fn refused(
    long: &'static str,
    short: char,
    takes_value: bool,
    instead: &'static str,
) -> Option {
    let is_harmless = false;
    Option {
        long,
        short,
        takes_value,
        is_harmless,
        instead,
    }
}

/// All of them, in the order of Flent's help.
const OPTIONS: &[Option] = &[
    ignored("rcfile", 'r', true, "there is no such file here"),
    ignored("extended-metadata", 'x', false, HOSTS),
    ignored("remote-metadata", NONE, true, HOSTS),
    refused("gui", NONE, false, VIEWER),
    refused("new-gui-instance", NONE, false, VIEWER),
    refused("batch", 'b', true, BATCH),
    refused("batch-file", 'B', true, BATCH),
    refused("local-bind", NONE, true, "the route to the host decides"),
    refused(
        "remote-host",
        NONE,
        true,
        "name the test's hosts with -H, in its order",
    ),
    ignored(
        "socket-timeout",
        NONE,
        true,
        "lost datagrams are waited for as long as the path takes",
    ),
    refused(
        "send-size",
        NONE,
        true,
        "streams write as much as TCP takes",
    ),
    ignored("test-payload", NONE, true, "streams carry random octets"),
    ignored(
        "socket-stats",
        NONE,
        false,
        "TCP_INFO of all streams is always recorded",
    ),
    refused(
        "marking-name",
        NONE,
        true,
        "write a plan for 'isobath rrul --plan'",
    ),
    ignored("control-host", NONE, true, SERVER),
    ignored("control-local-bind", NONE, true, SERVER),
    ignored("netperf-control-port", NONE, true, SERVER),
    ignored("ditg-control-port", NONE, true, SERVER),
    ignored("ditg-control-secret", NONE, true, SERVER),
    refused("http-getter-urllist", NONE, true, PAGES),
    refused("http-getter-dns-servers", NONE, true, PAGES),
    ignored("http-getter-timeout", NONE, true, PAGES),
    ignored("http-getter-workers", NONE, true, PAGES),
    ignored(
        "irtt-sampling-interval",
        NONE,
        true,
        "the plan says how often it probes",
    ),
    ignored(
        "log-file",
        'L',
        true,
        "'--ndjson' of 'isobath rrul' writes all rows",
    ),
    ignored("cache-file", NONE, true, "there is nothing to look up"),
    ignored("verbose", 'v', false, "the record holds the details"),
    ignored("debug-error", NONE, false, "the record holds the details"),
    refused("label-x", NONE, true, AXES),
    refused("label-y", NONE, true, AXES),
    refused("bounds-x", NONE, true, AXES),
    refused("bounds-y", NONE, true, AXES),
    refused("invert-latency-y", 'I', false, AXES),
    refused("log-scale-y", NONE, true, AXES),
    refused("norm-factor", NONE, true, AXES),
    refused("data-cutoff", NONE, true, AXES),
    refused("absolute-time", NONE, false, AXES),
    refused("scale-mode", 'S', false, AXES),
    refused("scale-data", NONE, true, AXES),
    refused("concatenate", NONE, false, "draw the files together"),
    refused("subplot-combine", NONE, false, "draw the files one by one"),
    ignored("no-annotation", NONE, false, LOOKS),
    ignored("no-title", NONE, false, LOOKS),
    ignored("no-legend", NONE, false, LOOKS),
    ignored("no-markers", NONE, false, "figures have no markers"),
    ignored("no-labels", NONE, false, LOOKS),
    ignored("no-hover-highlight", NONE, false, LOOKS),
    ignored("no-matplotlibrc", NONE, false, LOOKS),
    ignored("fallback-layout", NONE, false, LOOKS),
    ignored("horizontal-legend", NONE, false, LOOKS),
    ignored("legend-placement", NONE, true, LOOKS),
    ignored("legend-columns", NONE, true, LOOKS),
    ignored("colours", NONE, true, LOOKS),
];

/// Those that were given.
#[derive(Debug)]
pub(super) struct Unequal(Vec<&'static Option>);

impl Unequal {
    /// A line for each that is passed over.
    ///
    /// # Errors
    /// For the first that is not.
    pub(super) fn warnings(&self) -> anyhow::Result<Vec<String>> {
        if let Some(option) = self.0.iter().find(|option| !option.is_harmless) {
            return Err(Usage::of(anyhow::anyhow!(
                "--{} is not supported here - {}",
                option.long,
                option.instead
            )));
        }
        let line = |option: &&Option| format!("--{} is ignored: {}", option.long, option.instead);
        Ok(self.0.iter().map(line).collect())
    }
}

impl Option {
    fn arg(&self) -> Arg {
        let action = if self.takes_value {
            ArgAction::Append
        } else {
            ArgAction::SetTrue
        };
        let arg = Arg::new(self.long)
            .long(self.long)
            .action(action)
            .hide(true);
        if self.short == NONE {
            arg
        } else {
            arg.short(self.short)
        }
    }
}

impl clap::Args for Unequal {
    fn augment_args(command: Command) -> Command {
        command.args(OPTIONS.iter().map(Option::arg))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Unequal {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let is_given =
            |option: &&Option| matches.value_source(option.long) == Some(ValueSource::CommandLine);
        Ok(Self(OPTIONS.iter().filter(is_given).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
