//! `isobath manager status`, `stats` and `buckets`: questions to a manager that runs.

use anyhow::Context;
use kit::control::plain;
use kit::usage::print;
use manager::config::{CarrierKind, SOCKET};
use manager::snapshot::{BucketsAnswer, PeerStatus, Question, StatsAnswer, StatusAnswer};
use manager::socket;
use serde_json::{Map, Value};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// Which manager.
#[derive(Debug, clap::Args)]
pub(super) struct Place {
    /// Control socket of the manager.
    #[arg(long, value_name = "FILE", default_value = SOCKET)]
    socket: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    place: Place,
    /// Print the answer as one JSON object.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, question: Question) -> anyhow::Result<u8> {
    let answer = args.place.ask(question)?;
    if args.json {
        print(&answer)?;
        return Ok(0);
    }
    let page = match question {
        Question::Buckets => buckets(&serde_json::from_str(&answer)?),
        Question::Stats => stats(&serde_json::from_str(&answer)?),
        Question::Status => status(&serde_json::from_str(&answer)?),
    };
    print(&page)?;
    Ok(0)
}

impl Place {
    /// The manager's answer, as JSON.
    ///
    /// # Errors
    ///
    /// One line, when there is none.
    pub(super) fn ask(&self, question: Question) -> anyhow::Result<String> {
        socket::ask(&self.socket, question).with_context(|| {
            let path = self.socket.display();
            format!("cannot ask the manager at {path} - is 'isobath manager up' running, and may you access its socket? (--socket FILE)")
        })
    }
}

fn status(answer: &StatusAnswer) -> String {
    let (name, clients) = (&answer.name, answer.clients);
    let running = span(answer.running_s);
    let mut lines = vec![format!(
        "{name}: up for {running}, tools connected: {clients}"
    )];
    for peer in &answer.peers {
        let (name, inside) = (&peer.name, peer.overlay_address);
        let linked = peer.address.zip(peer.linked_s);
        let how = linked.map_or_else(
            || {
                let reason = peer.reason.as_deref().unwrap_or("it has not come yet");
                format!("not linked: {}", plain(reason))
            },
            |(address, seconds)| {
                let by = by(peer, address);
                format!("linked for {}, at {by}", span(seconds))
            },
        );
        lines.push(format!("{name:16}{inside:<24}{how}"));
    }
    lines.join("\n")
}

/// Where a linked peer is, and how packets get there.
fn by(peer: &PeerStatus, address: SocketAddr) -> String {
    let mtu = peer.mtu.map(|mtu| format!(", packets up to {mtu} octets"));
    let mtu = mtu.unwrap_or_default();
    match (peer.carrier, &peer.reason) {
        (Some(CarrierKind::Raw), _) => format!("{} without UDP{mtu}", address.ip()),
        (_, None) => format!("{address}{mtu}"),
        (_, Some(reason)) => format!("{address}{mtu}, by UDP: {}", plain(reason)),
    }
}

fn span(seconds: f64) -> String {
    let whole = Duration::try_from_secs_f64(seconds).unwrap_or_default();
    match whole.as_secs() {
        secs @ 0..120 => format!("{secs} s"),
        secs @ 120..7_200 => format!("{} min", secs / 60),
        secs => format!("{} h", secs / 3_600),
    }
}

/// What is not zero.
fn stats(answer: &StatsAnswer) -> String {
    let mut lines = vec!["interface".to_owned()];
    lines.extend(counts(&answer.interface));
    for (name, peer) in &answer.peers {
        lines.push(format!("\npeer {name}"));
        lines.extend(peer.as_object().into_iter().flat_map(counts));
    }
    lines.join("\n")
}

fn counts(counts: &Map<String, Value>) -> impl Iterator<Item = String> {
    let counted = counts.iter().filter(|(_, count)| **count != 0);
    counted.map(|(name, count)| format!("  {name:28}{count}"))
}

fn buckets(answer: &BucketsAnswer) -> String {
    let head = format!(
        "{:16}{:>10}{:>10}{:>8}{:>8}{:>12}  state",
        "peer", "id", "protocol", "pieces", "octets", "age_ms"
    );
    let of = |(name, bucket): (&String, &manager::snapshot::Bucket)| {
        format!(
            "{name:16}{:>10}{:>10}{:>8}{:>8}{:>12.1}  {}",
            bucket.id, bucket.protocol, bucket.pieces, bucket.octets, bucket.age_ms, bucket.state
        )
    };
    let peers = answer.peers.iter();
    let rows = peers.flat_map(|peer| peer.buckets.iter().map(move |bucket| (&peer.name, bucket)));
    let lines: Vec<_> = std::iter::once(head).chain(rows.map(of)).collect();
    lines.join("\n")
}
