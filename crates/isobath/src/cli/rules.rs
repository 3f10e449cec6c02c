//! The rules of a transfer, as `btc` and `sim btc` let them be chosen.

use kit::usage::Usage;
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

/// The rules.
#[derive(Debug, clap::Args)]
pub(crate) struct Rules {
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
    /// Those of the switches, then those that were written out.
    ///
    /// # Errors
    /// When a rule is unknown, or cannot have such a value.
    pub(super) fn options(&self) -> anyhow::Result<Options> {
        let mut options = Options {
            congestion_control: match self.cc {
                Cc::Cubic => CongestionControl::Cubic,
                Cc::Reno => CongestionControl::Reno,
            },
            max_window: self.window,
            ..Options::default()
        };
        options.initial_window = self.initial_window.unwrap_or(options.initial_window);
        if let Some(interval) = self.delayed_ack {
            options.delayed_ack.interval = interval;
            if interval.0.is_zero() {
                options.delayed_ack.every = 1;
            }
        }
        let mut table = toml::Table::try_from(&options)?;
        for option in &self.option {
            set(&mut table, option).map_err(Usage::of)?;
        }
        let known = table.try_into();
        known.map_err(|error: toml::de::Error| {
            let message = error.message().to_owned();
            Usage::of(anyhow::anyhow!("--option: {message}"))
        })
    }
}

/// Sets `key.in.tables=value` in `table`; a value that is no TOML is a text.
fn set(table: &mut toml::Table, option: &str) -> anyhow::Result<()> {
    let form = || anyhow::anyhow!("--option '{option}' is not KEY=VALUE");
    let (key, value) = option.split_once('=').ok_or_else(form)?;
    let value = toml::from_str::<toml::Table>(&format!("value = {value}"))
        .ok()
        .and_then(|mut parsed| parsed.remove("value"))
        .unwrap_or_else(|| toml::Value::String(value.to_owned()));
    let mut path: Vec<&str> = key.split('.').collect();
    let last = path.pop().ok_or_else(form)?;
    let mut place = table;
    for part in path {
        let inner = place.get_mut(part).and_then(toml::Value::as_table_mut);
        place = inner.ok_or_else(|| anyhow::anyhow!("--option: there is no table '{part}'"))?;
    }
    place.insert(last.to_owned(), value);
    Ok(())
}
