//! The near end of a load.

use super::{ALPN, Bulk, Engine, GREETING, WINDOW, over};
use crate::Target;
use crate::names::host_name;
use crate::quic::{self, Failed, Windows};
use crate::reason::reason;
use crate::tls;
use std::time::Duration;
use sys::clock;
use units::Instant;

/// A host that every session has.
const HOST: &str = "load";

const WINDOWS: Windows = Windows {
    of_stream: WINDOW,
    of_connection: WINDOW,
    // What waits here is not on the path, and has to be thrown away at the end.
    ahead: 128 << 10,
    has_datagrams: false,
};

/// A connection for a load with the server of `target`, which is greeted.
///
/// # Errors
/// In one line, when there is none within `timeout`, or `abort` says so before.
pub fn connect(
    target: &Target,
    greeting: &[u8; GREETING],
    timeout: Duration,
    abort: &dyn Fn() -> bool,
) -> Result<Bulk, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("cannot load by QUIC: {error}"))?;
    let work = open(target, greeting);
    let opened = runtime.block_on(async {
        tokio::select! {
            opened = work => opened,
            () = tokio::time::sleep(timeout) => Err(format!("QUIC with {}: nobody answers", target.peer)),
            () = over(abort) => Err("stopped".to_owned()),
        }
    });
    let (established, open, (sending, receiving)) = opened?;
    Ok(Bulk {
        engine: Engine::Own(runtime),
        established,
        open,
        sending,
        receiving,
        greeting: *greeting,
    })
}

type Streams = (quinn::SendStream, quinn::RecvStream);

async fn open(
    target: &Target,
    greeting: &[u8; GREETING],
) -> Result<(Instant, quic::Open, Streams), String> {
    let peer = target.peer;
    let failed = |why: String| format!("QUIC with {peer} failed: {why}");
    let config = tls::client_config(target.fingerprint, ALPN.to_vec());
    let config = config.map_err(|error| failed(error.to_string()))?;
    let host = host_name(HOST, target.token);
    let open = quic::connect(peer, &host, &config, WINDOWS, target.dscp).await;
    let open = open.map_err(|error| match error {
        Failed::Mistrusted(_) => format!("{peer} is not the host that the key was made for"),
        Failed::Otherwise(why) => failed(why),
    })?;
    let established = clock::now();
    let streams = open.0.open_bi().await;
    let (mut sending, receiving) = streams.map_err(|error| failed(reason(&error)))?;
    let greeted = sending.write_all(greeting).await;
    greeted.map_err(|error| failed(reason(&error)))?;
    quic::flush().await;
    Ok((established, open, (sending, receiving)))
}
