//! What every measurement between two hosts asks of the command line: where the far end is, and what becomes of what is found.

use crate::begin::Opened;
use crate::ending::Ending;
use crate::lab_server::Far;
use crate::usage::{Usage, print};
use jiff::Timestamp;
use record::Run;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::json;
use session::{AccessKey, Client, Family};
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

/// Exit status after an interrupt.
pub const INTERRUPTED: u8 = 130;
/// How long the far end may take to welcome us.
const CONNECT: Duration = Duration::from_secs(10);

/// The key that `option` gives; none for an empty text, which the environment may have. An error does not repeat it.
///
/// # Errors
/// When it is none.
pub fn shared_key<K>(option: &str, text: Option<&str>) -> anyhow::Result<Option<K>>
where
    K: FromStr<Err: Display>,
{
    let text = text.filter(|text| !text.is_empty());
    let key = text.map(str::parse).transpose();
    key.map_err(|what| Usage::of(anyhow::anyhow!("{option} cannot be read: {what}")))
}

/// The far end, and how it is reached.
#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("far-end").required(true).args(["host", "lab"])))]
pub struct Towards {
    /// Far end that runs 'isobath serve': HOST or HOST:PORT, an IPv6 address in brackets.
    pub host: Option<String>,
    /// Measure in an emulated network instead: a name from 'isobath lab list', or a TOML file.
    #[arg(long, value_name = "NAME")]
    pub lab: Option<String>,
    /// How it is reached.
    #[command(flatten)]
    pub reach: Reach,
}

/// How a far end lets us in, and over which protocol.
#[derive(Debug, clap::Args)]
pub struct Reach {
    /// Access key printed by 'isobath serve'.
    #[arg(long, env = "ISOBATH_KEY", hide_env_values = true)]
    key: Option<AccessKey>,
    #[command(flatten)]
    version: IpVersion,
}

/// The version of IP.
#[derive(Debug, clap::Args)]
pub struct IpVersion {
    /// Use IPv4 only.
    #[arg(short = '4', long, conflicts_with = "ipv6")]
    ipv4: bool,
    /// Use IPv6 only.
    #[arg(short = '6', long)]
    ipv6: bool,
}

impl IpVersion {
    /// The version, if only one is wanted.
    pub const fn family(&self) -> Option<Family> {
        match (self.ipv4, self.ipv6) {
            (true, _) => Some(Family::V4),
            (_, true) => Some(Family::V6),
            _ => None,
        }
    }
}

impl Reach {
    /// The version of IP, if only one is wanted.
    pub const fn family(&self) -> Option<Family> {
        self.version.family()
    }

    /// Whether only IPv6 is wanted.
    pub const fn is_v6(&self) -> bool {
        self.version.ipv6
    }

    /// Connects with `host`, by its own `key` if it is one of a lab.
    ///
    /// # Errors
    /// When the far end cannot be reached or refuses.
    pub fn connect(&self, host: &str, key: Option<&AccessKey>) -> anyhow::Result<Client> {
        Ok(session::connect(
            host,
            self.family(),
            key.or(self.key.as_ref()),
            CONNECT,
        )?)
    }
}

impl Towards {
    /// What is measured, as it was typed.
    pub fn name(&self) -> &str {
        let name = self.lab.as_ref().or(self.host.as_ref());
        name.map_or("", String::as_str)
    }

    /// Connects with the host that was named, or with the `far` end of a lab.
    ///
    /// # Errors
    /// When the far end cannot be reached or refuses.
    pub fn connect(&self, far: Option<&Far>) -> anyhow::Result<Client> {
        let host = far.map(Far::host).or_else(|| self.host.clone());
        self.reach
            .connect(&host.unwrap_or_default(), far.map(Far::key))
    }
}

/// What becomes of what is found.
#[derive(Debug, clap::Args)]
pub struct Output {
    /// Folder for the record [default: a new one in isobath-runs, named after time, verb and path].
    #[arg(short, long)]
    pub out: Option<PathBuf>,
    /// Print the record's run.json instead of the scorecard.
    #[arg(long)]
    pub json: bool,
    /// Hide the progress bar.
    #[arg(short, long)]
    pub quiet: bool,
    /// Remark to keep in the record.
    #[arg(long, value_name = "TEXT")]
    pub note: Option<String>,
}

impl Output {
    /// What is known of a run of `test` before anything else: its plan, with the user's note.
    ///
    /// # Errors
    /// When the plan cannot be written as JSON.
    pub fn begun(&self, test: &str, plan: &impl Serialize) -> anyhow::Result<Run> {
        let mut plan = serde_json::to_value(plan)?;
        plan["note"] = json!(self.note);
        Ok(Run::new(test, Timestamp::now(), plan))
    }

    /// Begins the record of `run`, which measures `towards`.
    ///
    /// # Errors
    /// When the folder holds something else, or cannot be written.
    pub fn open(&self, towards: &str, run: &Run) -> anyhow::Result<Opened> {
        Opened::create(self.out.as_deref(), towards, run)
    }

    /// Ends the record of `run` and tells what came of it, by a `scorecard` made of the run and its summary, or as JSON. Returns the
    /// exit status.
    ///
    /// # Errors
    /// When the record cannot be written, nobody can be told, or the summary is no summary.
    pub fn close<S: DeserializeOwned>(
        &self,
        run: &Run,
        ending: &Ending,
        opened: Opened,
        scorecard: impl FnOnce(&Run, &S) -> String,
    ) -> anyhow::Result<u8> {
        let dir = opened.writer.dir().to_owned();
        opened.writer.finish(run)?;
        self.tell(run, &dir, || {
            Ok(scorecard(run, &Deserialize::deserialize(&run.summary)?))
        })?;
        Ok(exit_status(run, ending))
    }

    /// Tells what came of `run`, whose record is in `dir`: by its `scorecard`, or as JSON.
    ///
    /// # Errors
    /// When nobody can be told, or there is no scorecard.
    pub fn tell(
        &self,
        run: &Run,
        dir: &Path,
        scorecard: impl FnOnce() -> anyhow::Result<String>,
    ) -> anyhow::Result<()> {
        if self.json {
            return print(&serde_json::to_string_pretty(run)?);
        }
        print(&format!("{}record        {}", scorecard()?, dir.display()))
    }
}

/// The exit status of a run that ended so.
pub fn exit_status(run: &Run, ending: &Ending) -> u8 {
    match ending {
        Ending::Interrupted => INTERRUPTED,
        _ => run.exit_status(),
    }
}
