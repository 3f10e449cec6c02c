//! `isobath generate`: what packagers need.

use super::{Cli, Usage};
use clap::CommandFactory;
use clap_complete::Shell;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Verb {
    /// Completions for a shell.
    Completions {
        /// Which shell.
        shell: Shell,
    },
    /// The manual page of `isobath`, or of one verb.
    Man {
        /// Which verb.
        verb: Option<String>,
    },
}

pub(super) fn run(verb: &Verb) -> anyhow::Result<u8> {
    let mut command = Cli::command();
    let mut out = std::io::stdout().lock();
    match verb {
        Verb::Completions { shell } => {
            clap_complete::generate(*shell, &mut command, "isobath", &mut out);
        }
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
