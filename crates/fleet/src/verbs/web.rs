//! `isobath fleet web`.

use super::{OPERATOR, Program, wait};
use crate::bus::{Access, Bus};
use crate::web::{Served, serve};
use anyhow::Context as _;
use kit::usage::{Usage, print};
use std::io::Write as _;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use units::Span;

/// What to show, and where.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    access: Access,
    /// Address and port to serve the page on; everybody who reaches it may read it.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:4896")]
    listen: SocketAddr,
    /// How far back the page goes.
    #[arg(long, value_name = "TIME", default_value = "24h")]
    last: Span,
}

pub(super) fn run(args: &Args, program: Program) -> anyhow::Result<u8> {
    let listener = listen(args.listen)?;
    let end = sys::process::interrupt_flag()?;
    let address = listener.local_addr()?;
    wait(async {
        let bus = Bus::open(&args.access, OPERATOR).await?;
        print(&format!("http://{address}/"))?;
        let last = args.last.0;
        let served = Served { bus, program, last };
        serve(served, listener, &end).await
    })?;
    Ok(0)
}

/// The page in a thread of its own, in the network namespace of who makes it; it ends when this is dropped.
pub(super) struct Aside {
    end: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Aside {
    /// Serves what NATS at `access` has of the last hour on `listener`.
    pub(super) fn serve(access: Access, program: Program, listener: TcpListener) -> Self {
        let end = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&end);
        let thread = std::thread::spawn(move || {
            let done = wait(async {
                let bus = Bus::open(&access, OPERATOR).await?;
                let last = Duration::from_secs(3_600);
                let served = Served { bus, program, last };
                serve(served, listener, &seen).await
            });
            if let Err(error) = done {
                // With stderr closed there is nobody to tell.
                let _ = writeln!(std::io::stderr(), "the page is not served: {error:#}");
            }
        });
        let thread = Some(thread);
        Self { end, thread }
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        self.end.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // One that has failed has nothing to say.
            let _ = thread.join();
        }
    }
}

/// A place to be asked at.
pub(super) fn listen(address: SocketAddr) -> anyhow::Result<TcpListener> {
    let listener = TcpListener::bind(address);
    let told = || format!("cannot listen on {address} - choose another with --listen");
    listener.with_context(told).map_err(Usage::of)
}
