//! `isobath generate`: what packagers need.

mod share;

use super::Cli;
use clap::CommandFactory;
use clap_complete::Shell;
use kit::usage::Usage;
use std::io::Write as _;
use std::path::PathBuf;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Verb {
    /// Print completions for a shell.
    Completions {
        /// Shell.
        shell: Shell,
    },
    /// Print the manual page of 'isobath', or of one verb.
    Man {
        /// Verb [default: the whole program].
        verb: Option<String>,
    },
    /// Print the Wireshark and tshark dissector for Isobath's datagrams.
    Dissector,
    /// Write all of them into a folder that is laid out as /usr/share is.
    Share {
        /// Folder; it is made if it is missing.
        folder: PathBuf,
    },
}

/// In Lua; Wireshark looks for it in its folder of personal plugins.
const DISSECTOR: &str = include_str!("../../../../../share/wireshark/isobath.lua");

pub(super) fn run(verb: &Verb) -> anyhow::Result<u8> {
    let mut command = Cli::command();
    let mut out = std::io::stdout().lock();
    match verb {
        Verb::Dissector => out.write_all(DISSECTOR.as_bytes())?,
        Verb::Completions { shell } => {
            clap_complete::generate(*shell, &mut command, "isobath", &mut out);
        }
        Verb::Share { folder } => share::write(command, folder)?,
        Verb::Man { verb: None } => clap_mangen::Man::new(command).render(&mut out)?,
        Verb::Man { verb: Some(name) } => {
            let unknown = || {
                Usage::of(anyhow::anyhow!(
                    "there is no verb '{name}' - see 'isobath --help'"
                ))
            };
            let verb = command.find_subcommand(name).ok_or_else(unknown)?;
            clap_mangen::Man::new(verb.clone()).render(&mut out)?;
        }
    }
    Ok(0)
}
