//! The native loader: what a browser does on the network when it opens a page, and nothing else.
//!
//! It looks up every host, connects, by TCP or QUIC, agrees on TLS 1.3 without resumption, and asks for the objects in the order
//! in which a browser finds them, with a browser's limits and priorities. It neither parses nor paints: where an object is
//! named is known from the page model. So a load takes what the network takes.
//!
//! - `page.rs` knows what has been found and what is awaited; `queue.rs` which request goes next, and over which
//!   connection; `loading.rs` puts them together and writes down when what happened. These are state machines without I/O, and
//!   drive loads in virtual time as well.
//! - `resolve.rs`, `connect.rs` and `exchange.rs` each do one thing with a socket.
//! - `run.rs` lets these meet, in one thread.
//!
//! The address that a look-up gives is not used: behind a translator the far end knows only its inner one.
//! Everything is asked of [`Target::peer`].

mod connect;
mod exchange;
mod loading;
mod page;
mod probe;
mod queue;
mod resolve;
mod run;

pub(crate) use exchange::AGENT;
pub use loading::{Loading, Outcome, Phase};
pub use probe::{probe, probe_host};
pub use queue::{Step, host_of};
pub use resolve::DNS_PATIENCE;

use crate::model::PageModel;
use crate::result::PageLoad;
use run::Run;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use units::HttpVersion;
use units::{Dscp, Ecn, TrafficClass};

/// How often it is looked whether to stop.
const TICK: Duration = Duration::from_millis(20);

/// Where pages are loaded from.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Target {
    /// The server, of all hosts.
    pub peer: SocketAddr,
    /// Where the hosts' names are looked up, over UDP.
    pub resolver: SocketAddr,
    /// The session whose pages are meant.
    pub token: u64,
    /// SHA-256 over the server's certificate in DER form.
    pub fingerprint: [u8; 32],
    /// The mark of all packets that are sent.
    pub dscp: Dscp,
}

impl Target {
    const fn class(&self) -> TrafficClass {
        TrafficClass {
            dscp: self.dscp,
            ecn: Ecn::NotEct,
        }
    }
}

/// Loads a page, as one who has never been there: nothing is cached or resumed.
///
/// Blocks until all of the page is there, `timeout` is over or `abort` is set. Sockets are made by this thread,
/// so in its network namespace. What goes wrong is told in [`PageLoad::error`]; what was measured until then is kept.
pub fn load(
    model: &PageModel,
    target: &Target,
    protocol: HttpVersion,
    timeout: Duration,
    abort: &AtomicBool,
) -> PageLoad {
    let mut run = match Run::new(model, target, protocol) {
        Ok(run) => run,
        Err(why) => return failed(protocol, why),
    };
    let ended = block_on(async {
        let ended = within(timeout, abort, run.drive()).await;
        run.close().await;
        ended
    });
    run.finish(ended.err())
}

fn failed(protocol: HttpVersion, why: String) -> PageLoad {
    PageLoad {
        error: Some(why),
        ..PageLoad::begun(protocol, sys::clock::now())
    }
}

/// Runs `work` on this thread. All tasks that it began end with it.
fn block_on<T>(work: impl Future<Output = Result<T, String>>) -> Result<T, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("cannot load pages: {error}"))?;
    runtime.block_on(work)
}

/// What `work` comes to within this time, unless it is to stop before.
async fn within<T>(
    timeout: Duration,
    abort: &AtomicBool,
    work: impl Future<Output = T>,
) -> Result<T, String> {
    tokio::select! {
        done = work => Ok(done),
        () = tokio::time::sleep(timeout) => Err(format!("not done within {timeout:?}")),
        () = aborted(abort) => Err("stopped".to_owned()),
    }
}

async fn aborted(abort: &AtomicBool) {
    while !abort.load(Ordering::Relaxed) {
        tokio::time::sleep(TICK).await;
    }
}
