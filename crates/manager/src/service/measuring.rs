//! A measurement for the service: an estimator in a thread of its own, as a tool of this manager.

use super::command::{Command, Handle};
use estimate::riding::{self, Failed};
use kit::tool;
use kit::tool::Target;
use schema::estimate::Plan;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;

/// What is to be measured.
pub(super) struct Job {
    pub(super) path: usize,
    pub(super) plan: Plan,
    /// The manager's control socket.
    pub(super) socket: PathBuf,
    /// An address behind the peer.
    pub(super) to: IpAddr,
    /// Of those under way; each has channels of its own.
    pub(super) place: u8,
    pub(super) most_octets: Option<u64>,
    /// At which rate in Mbit/s a long train has held.
    pub(super) held_mbps: f64,
    /// Raised when nobody wants to know any more.
    pub(super) stop: Arc<AtomicBool>,
}

/// Begins; the desk is told when it is over.
///
/// # Errors
/// When the system gives no thread.
pub(super) fn begin(job: Job, desk: Handle) -> Result<(), String> {
    let work = move || {
        let path = job.path;
        let result = measure(&job);
        // Where there is no desk any more, nobody wants to know.
        desk.tell(Command::Measured { path, result });
    };
    let thread = thread::Builder::new().name("measure".to_owned());
    let begun = sys::threads::spawn(thread, work);
    begun.map_err(|error| format!("start a thread: {error}"))
}

fn measure(job: &Job) -> Result<riding::Measured, Failed> {
    let socket = tool::connect(&job.socket).map_err(|error| Failed::Lost(error.to_string()))?;
    let target = Target::of_manager(job.to, job.place);
    riding::measure(
        &job.plan,
        socket,
        target,
        job.most_octets,
        job.held_mbps,
        &job.stop,
    )
}
