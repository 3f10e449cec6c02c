//! Keys shared with other people's servers.

use far_ends::address::Keys;
use kit::options::shared_key;

/// What signs packets to and from those servers.
#[derive(Debug, clap::Args)]
pub(crate) struct KeyArgs {
    /// Key shared with a stamp:// server in authenticated mode: text, or hex: and hexadecimal digits.
    #[arg(
        long,
        value_name = "KEY",
        env = "ISOBATH_STAMP_KEY",
        hide_env_values = true
    )]
    stamp_key: Option<String>,
    /// Key shared with an irtt:// server (its --hmac): text, or hex: and hexadecimal digits.
    #[arg(
        long,
        value_name = "KEY",
        env = "ISOBATH_IRTT_KEY",
        hide_env_values = true
    )]
    irtt_key: Option<String>,
}

impl KeyArgs {
    /// The keys.
    ///
    /// # Errors
    /// When one cannot be read.
    pub(crate) fn keys(&self) -> anyhow::Result<Keys> {
        Ok(Keys {
            stamp: shared_key("--stamp-key", self.stamp_key.as_deref())?,
            irtt: shared_key("--irtt-key", self.irtt_key.as_deref())?,
        })
    }
}
