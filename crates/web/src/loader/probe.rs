//! One small request on a new connection: the foreign probe of draft-ietf-ippm-responsiveness section 4.3.

use super::connect::Dialer;
use super::exchange::{Wish, exchange};
use super::{Target, block_on, within};
use crate::names::host_name;
use crate::result::{Kind, Probe};
use crate::server::{PROBE_ANSWER, PROBE_PATH};
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use units::HttpVersion;

/// A host that every page has, whatever its model.
const HOST: &str = "probe";

/// The name of the host that probes ask in the session `token`.
pub fn probe_host(token: u64) -> String {
    host_name(HOST, token)
}

/// Connects, agrees on TLS and asks for a few octets over HTTP/2, each timed. There is no look-up. Blocks until that is done,
/// `timeout` is over or `abort` is set.
pub fn probe(target: &Target, timeout: Duration, abort: &AtomicBool) -> Probe {
    let mut probe = Probe {
        started: sys::clock::now(),
        connect: None,
        tls: None,
        http: None,
        error: None,
    };
    let ended = block_on(within(timeout, abort, measure(target, &mut probe)));
    probe.error = ended.and_then(|done| done).err();
    probe
}

async fn measure(target: &Target, probe: &mut Probe) -> Result<(), String> {
    let dialer = Dialer::new(target, HttpVersion::H2)?;
    let host = probe_host(target.token);
    let (stream, connect) = dialer.connect().await?;
    probe.connect = Some(connect.length());
    let (stream, tls) = dialer.handshake(&host, stream).await?;
    probe.tls = Some(tls.length());
    let sender = dialer.speak(stream).await;
    let mut sender = sender.map_err(|error| format!("HTTP/2 to {host} failed: {error}"))?;
    let wish = Wish {
        authority: format!("{host}:{}", target.peer.port()),
        path: PROBE_PATH.to_owned(),
        kind: Kind::Fetch,
        size: PROBE_ANSWER.len() as u64,
    };
    let outcome = exchange(&mut sender, &wish, |_| ()).await;
    probe.http = outcome.last.map(|last| last.since(outcome.sent));
    outcome.error.map_or(Ok(()), Err)
}
