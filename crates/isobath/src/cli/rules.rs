//! The rules of a transfer, as `btc` and `sim btc` let them be chosen.

mod cap_2001;

use kit::usage::Usage;
use serde::Deserialize;
use serde_json::Value;
use transport::{CongestionControl, Options};
use units::Span;

/// Congestion controls that both our sender and a kernel have.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Cc {
    /// Reno (RFC 5681).
    Reno,
    /// CUBIC (RFC 9438).
    Cubic,
}

/// Rules that were measured by before.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Preset {
    /// The measurements of M. Allman's paper of 2001.
    #[value(name = "cap-2001")]
    Cap2001,
}

/// The rules.
#[derive(Debug, clap::Args)]
pub(crate) struct Rules {
    /// Use the rules and transfer length of a published study; other options override single rules.
    #[arg(long, value_name = "NAME", value_enum)]
    preset: Option<Preset>,
    /// Congestion control.
    #[arg(long, value_name = "NAME", value_enum, default_value_t = Cc::Reno)]
    cc: Cc,
    /// Maximum segments in flight, for kernel transfers too.
    #[arg(long, value_name = "SEGMENTS")]
    window: Option<u32>,
    /// Initial window in segments.
    #[arg(long, value_name = "SEGMENTS")]
    initial_window: Option<u32>,
    /// Maximum acknowledgement delay at the receiver; 0s acknowledges every segment.
    #[arg(long, value_name = "TIME")]
    delayed_ack: Option<Span>,
    /// Set any other transport rule, such as 'mss=1200', 'recovery=newreno' or 'cubic.beta=0.5'; may be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    option: Vec<String>,
}

impl Rules {
    /// Segments of a transfer, where the preset has them.
    pub(super) fn segments(&self) -> Option<u32> {
        self.preset.map(|Preset::Cap2001| cap_2001::SEGMENTS)
    }

    /// Those of the preset, then those of the switches, then those that were written out.
    ///
    /// # Errors
    /// When a rule is unknown, or cannot have such a value.
    pub(super) fn options(&self) -> anyhow::Result<Options> {
        let preset = self.preset.map(|Preset::Cap2001| cap_2001::options());
        let mut options = preset.unwrap_or_default();
        options.congestion_control = match self.cc {
            Cc::Cubic => CongestionControl::Cubic,
            Cc::Reno => CongestionControl::Reno,
        };
        options.max_window = self.window.or(options.max_window);
        options.initial_window = self.initial_window.unwrap_or(options.initial_window);
        if let Some(interval) = self.delayed_ack {
            options.delayed_ack.interval = interval;
            if interval.0.is_zero() {
                options.delayed_ack.every = 1;
            }
        }
        let mut rules = serde_json::to_value(&options)?;
        for option in &self.option {
            set(&mut rules, option).map_err(Usage::of)?;
        }
        Deserialize::deserialize(&rules)
            .map_err(|error| Usage::of(anyhow::anyhow!("--option: {error}")))
    }
}

/// Sets `key.in.tables=value` in `rules`; a value that is no TOML is a text, and `none` is no value.
fn set(rules: &mut Value, option: &str) -> anyhow::Result<()> {
    let form = || anyhow::anyhow!("--option '{option}' is not KEY=VALUE");
    let (key, value) = option.split_once('=').ok_or_else(form)?;
    let parsed = toml::from_str::<toml::Table>(&format!("value = {value}"))
        .ok()
        .and_then(|mut parsed| parsed.remove("value"));
    let value = match parsed {
        Some(value) => serde_json::to_value(value)?,
        None if value == "none" => Value::Null,
        None => Value::String(value.to_owned()),
    };
    let mut path: Vec<&str> = key.split('.').collect();
    let last = path.pop().ok_or_else(form)?;
    let mut place = rules;
    for part in path {
        let inner = place.get_mut(part).filter(|inner| inner.is_object());
        place = inner.ok_or_else(|| anyhow::anyhow!("--option: there is no table '{part}'"))?;
    }
    place[last] = value;
    Ok(())
}
