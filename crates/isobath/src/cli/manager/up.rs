//! `isobath manager up`.

use kit::usage::{Usage, print};
use manager::Manager;
use manager::config::Config;
use session::Identity;
use std::path::PathBuf;
use sys::process;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Configuration file: this manager and its peers (docs/manager.md).
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// Check the configuration file and exit.
    #[arg(long)]
    check: bool,
    /// Print the access key and exit.
    #[arg(long, conflicts_with = "check")]
    show_key: bool,
    /// Print the address and the key as one JSON object.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    let wrong = |what: String| Usage::of(anyhow::anyhow!(what));
    let config = Config::load(&args.config).map_err(wrong)?;
    if args.check {
        return Ok(0);
    }
    if args.show_key {
        print(&identity(&config)?.key().to_string())?;
        return Ok(0);
    }
    let listens = config.listen().is_some();
    let identity = listens.then(|| identity(&config)).transpose()?;
    let stop = process::interrupt_flag()?;
    let (name, interface) = (config.name.clone(), config.interface.clone());
    let manager = Manager::new(config, identity)?;
    if args.json {
        let (address, key) = manager.listening().unzip();
        let key = key.map(|key| key.to_string());
        let metrics = manager.metrics();
        let line = serde_json::json!({ "interface": interface, "address": address, "key": key, "metrics": metrics,
            "service": manager.endpoints().socket });
        print(&line.to_string())?;
    } else {
        print(&format!("{name}: interface {interface} is up"))?;
        if let Some((address, key)) = manager.listening() {
            print(&format!("listening on {address}, TCP and UDP\nkey {key}"))?;
        }
    }
    manager.run(&stop)?;
    Ok(0)
}

fn identity(config: &Config) -> anyhow::Result<Identity> {
    let path = config.identity.clone().or_else(session::default_path);
    let path = path.ok_or_else(|| {
        Usage::of(anyhow::anyhow!(
            "there is no home folder to keep the key in - add 'identity = FILE'"
        ))
    })?;
    Ok(Identity::load_or_create(&path)?)
}
