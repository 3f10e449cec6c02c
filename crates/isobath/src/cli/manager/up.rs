//! `isobath manager up`.

use kit::usage::{Usage, print};
use manager::Manager;
use manager::config::Config;
use session::{AccessKey, Identity};
use std::collections::BTreeMap;
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
    /// Print the access key for this peer to connect with, and exit.
    #[arg(long, value_name = "PEER", conflicts_with = "check")]
    show_key: Option<String>,
    /// Print the address and the peers' keys as one JSON object.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    let wrong = |what: String| Usage::of(anyhow::anyhow!(what));
    let config = Config::load(&args.config).map_err(wrong)?;
    if args.check {
        return Ok(0);
    }
    if let Some(name) = &args.show_key {
        print(&key(&config, name)?)?;
        return Ok(0);
    }
    let listens = config.listen().is_some();
    let identity = listens.then(|| identity(&config)).transpose()?;
    let stop = process::interrupt_flag()?;
    let (name, interface) = (config.name.clone(), config.interface.clone());
    let manager = Manager::new(config, identity)?;
    if args.json {
        let (address, keys) = manager.listening().unzip();
        let named = |(name, key): &(String, AccessKey)| (name.clone(), key.to_string());
        let keys: BTreeMap<_, _> = keys.unwrap_or_default().iter().map(named).collect();
        let metrics = manager.metrics();
        let line = serde_json::json!({ "interface": interface, "address": address, "keys": keys, "metrics": metrics,
            "service": manager.endpoints().socket });
        print(&line.to_string())?;
    } else {
        print(&format!("{name}: interface {interface} is up"))?;
        if let Some((address, keys)) = manager.listening() {
            print(&format!("listening on {address}, TCP and UDP"))?;
            for (peer, key) in keys {
                print(&format!("key of {peer}: {key}"))?;
            }
        }
    }
    manager.run(&stop)?;
    Ok(0)
}

/// The key by which the peer called `name` connects.
fn key(config: &Config, name: &str) -> anyhow::Result<String> {
    let keys = config.keys(&identity(config)?);
    let found = keys.iter().find(|(peer, _)| peer == name);
    let (_, key) = found.ok_or_else(|| {
        let names: Vec<&str> = keys.iter().map(|(peer, _)| peer.as_str()).collect();
        let those = names.join(", ");
        Usage::of(anyhow::anyhow!(
            "no peer '{name}' connects to this manager - those that do: {those}"
        ))
    })?;
    Ok(key.to_string())
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
