//! Being the far end: what `isobath serve` asks of the command line, and does.

use crate::also::{Also, Common, Other};
use crate::far::StopOnDrop;
use crate::log::Log;
use crate::options::shared_key;
use crate::register::Register;
use crate::server::Serving;
use crate::usage::{Usage, print};
use far_ends::address::Keys;
use far_ends::udpst::SharedKey;
use session::{DEFAULT_PORT, Identity, ServerConfig};
use std::net::IpAddr;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use sys::{process, tcp};
use web::Credentials;

/// File descriptors that are not streams.
const OTHER_FILES: u64 = 200;

/// How to be the far end.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "switches of a command line")]
pub struct Args {
    /// TCP and UDP port.
    #[arg(long, default_value_t = DEFAULT_PORT)]
    port: u16,
    /// Address to listen on [default: all, IPv6 and IPv4].
    #[arg(long)]
    address: Option<IpAddr>,
    /// Also serve other protocols, without an access key: stamp (RFC 8762), twamp (RFC 5357), irtt, iperf3, rpm (HTTP/2), ndt7, udpst (RFC 9946, with --udpst-key), page (a test page for browsers); PROTOCOL:PORT overrides the default ports 862 (stamp and twamp), 2112, 5201, 4043, 4443, 24601 and 4898.
    #[arg(long, value_name = "PROTOCOL", value_delimiter = ',')]
    also: Vec<Also>,
    /// Shared keys of UDPSTP clients for --also udpst, comma-separated: KEY (number 0) or NUMBER:KEY, each with its own number.
    #[arg(
        long,
        value_name = "KEY",
        env = "ISOBATH_UDPST_KEY",
        hide_env_values = true,
        value_delimiter = ','
    )]
    udpst_key: Vec<SharedKey>,
    /// Key shared with STAMP senders, for --also stamp: answer authenticated packets only; text, or hex: and hexadecimal digits.
    #[arg(
        long,
        value_name = "KEY",
        env = "ISOBATH_STAMP_KEY",
        hide_env_values = true
    )]
    stamp_key: Option<String>,
    /// For --also stamp: repeat the sender's sequence numbers instead of counting (a stateless reflector); losses have no direction then.
    #[arg(long, requires = "also")]
    stamp_stateless: bool,
    /// Key shared with IRTT clients (their --hmac), for --also irtt: answer signed packets only; text, or hex: and hexadecimal digits.
    #[arg(
        long,
        value_name = "KEY",
        env = "ISOBATH_IRTT_KEY",
        hide_env_values = true
    )]
    irtt_key: Option<String>,
    /// Folder for records of browsers, with --also page.
    #[arg(long, value_name = "DIR", default_value = "isobath-runs")]
    records: PathBuf,
    /// Certificate chain (PEM) for --also page, rpm and ndt7; the page is then served by HTTPS.
    #[arg(long, value_name = "FILE", requires = "private_key")]
    certificate: Option<PathBuf>,
    /// Private key (PEM) of --certificate.
    #[arg(long, value_name = "FILE", requires = "certificate")]
    private_key: Option<PathBuf>,
    /// Accept clients without a key, with tighter limits.
    #[arg(long)]
    open: bool,
    /// Maximum concurrent data streams per session [default: 512, with --open 32].
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    streams: Option<u32>,
    /// Maximum concurrent sessions [default: 16, with --open 4].
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=1_000))]
    sessions: Option<u16>,
    /// TCP congestion control where the client requests none, such as for page loads [default: the system's].
    #[arg(long, value_name = "NAME")]
    cc: Option<String>,
    /// Print the access key and exit.
    #[arg(long)]
    show_key: bool,
    /// File with the certificate and the secret [default: ~/.local/state/isobath/identity.json].
    #[arg(long, value_name = "FILE")]
    identity: Option<PathBuf>,
    /// Use a new identity for this run only, without saving it.
    #[arg(long, conflicts_with = "identity")]
    ephemeral: bool,
    /// Print the address and the key as one JSON object.
    #[arg(long)]
    json: bool,
    /// Do not log sessions and refusals to stderr.
    #[arg(long, short)]
    quiet: bool,
}

impl Args {
    /// What clients share with us.
    fn keys(&self) -> anyhow::Result<Keys> {
        Ok(Keys {
            stamp: shared_key("--stamp-key", self.stamp_key.as_deref())?,
            irtt: shared_key("--irtt-key", self.irtt_key.as_deref())?,
        })
    }
}

/// Serves until the program is interrupted; what it is the far end of, `register` says.
///
/// # Errors
/// When the port or the identity cannot be had.
pub fn run(args: &Args, register: &'static Register) -> anyhow::Result<u8> {
    let identity = identity(args)?;
    let key = identity.key();
    let shown = identity.clone();
    if args.show_key {
        print(&key.to_string())?;
        return Ok(0);
    }
    let credentials = credentials(args)?;
    let shared = args.keys()?;
    if args.udpst_key.is_empty() && args.also.iter().any(|also| also.wants_key()) {
        return Err(Usage::of(anyhow::anyhow!(
            "--also udpst needs a key that its clients share, since it sends a load to whoever asks - add --udpst-key KEY"
        )));
    }
    let mut numbers: Vec<u8> = args.udpst_key.iter().map(|key| key.id).collect();
    numbers.sort_unstable();
    if numbers.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(Usage::of(anyhow::anyhow!(
            "two keys of --udpst-key have the same number - give each its own, NUMBER:KEY"
        )));
    }
    let mut config = if args.open {
        ServerConfig::open(identity, args.port)
    } else {
        ServerConfig::keyed(identity, args.port)
    };
    if let Some(streams) = args.streams {
        config.limits.streams = streams;
    }
    if let Some(sessions) = args.sessions {
        config.admission.sessions = sessions.into();
        if !args.open {
            config.admission.sessions_per_source = sessions.into();
        }
    }
    make_room(&config, args.streams)?;
    if let Some(control) = &args.cc {
        tcp::try_congestion(control).map_err(Usage::of)?;
        tcp::pin_congestion(control);
    }
    process::return_freed_memory();
    let stop = process::interrupt_flag()?;
    let log = Arc::new(Log::new(args.quiet));
    let serving = Serving::bind(
        ServerConfig {
            address: args.address,
            ..config
        },
        register,
        Arc::clone(&log),
    )?;
    let address = serving.local_addr();
    let common = Common {
        address: args.address,
        identity: &shown,
        credentials: credentials.as_ref(),
        keys: &args.udpst_key,
        shared: &shared,
        is_stateless: args.stamp_stateless,
        records: &args.records,
        register,
        log: &log,
    };
    let others = Other::bind_all(&args.also, &common)?;
    let also: Vec<_> = others.iter().map(ToString::to_string).collect();
    if args.json {
        let line = serde_json::json!({ "address": address, "key": key.to_string(), "also": also });
        print(&line.to_string())?;
    } else {
        print(&format!(
            "listening on {address}, TCP and UDP\nkey {key}\non the other host: isobath rrul THIS-HOST{} --key {key}",
            if address.port() == DEFAULT_PORT {
                String::new()
            } else {
                format!(":{}", address.port())
            },
        ))?;
        for other in also {
            print(&format!("also listening on {other}"))?;
        }
    }
    thread::scope(|scope| {
        let _stop = StopOnDrop(&stop);
        let start = |other: Other| {
            let stop = &stop;
            thread::Builder::new().spawn_scoped(scope, move || {
                // Without it its clients would measure nothing; raised however this thread ends.
                let _stop = StopOnDrop(stop);
                other.run(stop)
            })
        };
        let others = others.into_iter().map(start);
        let others = others.collect::<Result<Vec<_>, _>>()?;
        serving.run(&stop)?;
        for other in others {
            other.join().unwrap_or_else(|panic| resume_unwind(panic))?;
        }
        anyhow::Ok(())
    })?;
    Ok(0)
}

/// Allows as many file descriptors as all sessions may have streams, or as many as the system lets; one session's are needed
/// where somebody asked for so many `streams`.
fn make_room(config: &ServerConfig, streams: Option<u32>) -> anyhow::Result<()> {
    let files = |sessions: u64| u64::from(config.limits.streams) * sessions + OTHER_FILES;
    let allowed = process::raise_file_limit(files(config.admission.sessions as u64));
    match streams {
        Some(streams) if allowed < files(1) => Err(Usage::of(anyhow::anyhow!(
            "{streams} streams take {} file descriptors, and {allowed} are allowed - raise the limit with 'ulimit -n {}'",
            files(1),
            files(1)
        ))),
        _ => Ok(()),
    }
}

/// What browsers and RPM clients are shown, if there is one for them.
fn credentials(args: &Args) -> anyhow::Result<Option<Credentials>> {
    let files = args.certificate.as_ref().zip(args.private_key.as_ref());
    if files.is_some() && !args.also.iter().any(|also| also.shows_certificate()) {
        return Err(Usage::of(anyhow::anyhow!(
            "--certificate is for --also page, rpm and ndt7, and none of them is there - add one, or leave it out"
        )));
    }
    let read = files.map(|(chain, key)| Credentials::from_pem(chain, key));
    read.transpose()
        .map_err(|line| Usage::of(anyhow::anyhow!(line)))
}

fn identity(args: &Args) -> anyhow::Result<Identity> {
    if args.ephemeral {
        return Ok(Identity::generate()?);
    }
    let path = args
        .identity
        .clone()
        .or_else(session::default_path)
        .ok_or_else(|| {
            Usage::of(anyhow::anyhow!(
                "there is no home folder to keep the key in - use --identity FILE"
            ))
        })?;
    Ok(Identity::load_or_create(&path)?)
}
