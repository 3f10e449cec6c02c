//! The far end of a run: what `isobath serve` does for one client.
//!
//! A transfer of ours has a thread and a socket of its own here. The client asks by UDP on the port that all share; where
//! its request came from is where the transfer's socket is connected to, so one port is enough, the kernel itself keeps
//! other senders out, and nothing is sent to an address that has not asked for it. How fast it is sent to is decided by
//! congestion control, whose rules are checked ([`plan::check_options`]), and by the session's limit of datagrams.

mod rows;

use self::rows::{MOST_ROWS, Rows};
use super::link::{Link, Terms};
use super::log::{Log, MOST_PASSED};
use super::messages::{Done, Far, FarResult, Near, STREAM_KIND, Setup, TransferSetup};
use super::plan::{self, LONGEST, MOST_TRACED, Mode, Tool};
use super::results::{Outcome, SenderResult};
use super::watch::Watch;
use super::{kernel, receiving, secret, sending};
use kit::far::{Equipment, StopOnDrop, start};
use kit::mailbox::{HELLO, Opened};
use kit::sampler::Sampler;
use kit::stream::{PATIENCE, prepare_accepted};
use session::{Control, DataStream, Error, Session};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use sys::clock;
use sys::proc::OwnCpu;
use sys::tcp::try_congestion;
use sys::udp::UdpSocket;
use transport::wire;
use units::{Ecn, Instant, TrafficClass};

/// A client that has set up a run says within this time what is next.
const NEXT: Duration = Duration::from_secs(30);
/// How often the control connection is looked at.
const LOOK: Duration = Duration::from_millis(10);
/// Beyond the time of a transfer the client has this long to end it.
const GRACE: Duration = Duration::from_secs(60);

/// A run at its far end.
struct Run<'a> {
    session: &'a Session,
    equipment: &'a Equipment,
    origin: Instant,
    rows: &'a Rows,
}

/// A transfer of a round, ready to begin.
struct Prepared<'a> {
    setup: &'a TransferSetup,
    /// Of ours alone.
    socket: Option<UdpSocket>,
}

/// Serves the run that the client of `session` set up. Returns when it is over or the client is gone.
///
/// # Errors
///
/// Those of the control connection.
pub fn serve(
    control: &mut Control,
    session: &Session,
    setup: Setup,
    equipment: &Equipment,
) -> Result<(), Error> {
    let cpu_before = OwnCpu::now().ok();
    let rows = Rows::default();
    let run = Run {
        session,
        equipment,
        origin: Instant::from_nanos(setup.origin_ns),
        rows: &rows,
    };
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        // However this ends, a thread that was not told would hold the session for ever.
        let _stop = StopOnDrop(&stop);
        let sampler = Sampler::new(run.origin, "server", &rows);
        let stop = &stop;
        start(scope, session, move || sampler.run(stop));
        loop {
            match control.recv(NEXT)? {
                Near::Round(transfers) => run.round(control, &transfers)?,
                Near::End | Near::Go => {}
                Near::Finish => break,
            }
        }
        let used = OwnCpu::now()
            .ok()
            .zip(cpu_before)
            .map(|(now, before)| now.since(&before).total());
        control.send(&Far::Done(Done {
            process_cpu_s: used.unwrap_or_default().as_secs_f64(),
            rows_lost: rows.lost(),
        }))
    })
}

impl Run<'_> {
    /// One round, from the client's plan of it to the counters.
    fn round(&self, control: &mut Control, transfers: &[TransferSetup]) -> Result<(), Error> {
        if let Err(reason) = self.check(transfers) {
            return control.send(&Far::Refused(reason));
        }
        let prepared = match self.prepare(transfers) {
            Ok(prepared) => prepared,
            Err(reason) => return control.send(&Far::Refused(reason)),
        };
        control.send(&Far::Ready)?;
        let counters = self.transfer(control, prepared)?;
        self.rows.hand_over(control)?;
        control.send(&Far::Results(counters))
    }

    /// What can be found wrong before the round. The client has the key, which is no reason to believe its numbers.
    fn check(&self, transfers: &[TransferSetup]) -> Result<(), String> {
        let allowed = self.session.limits.streams as usize;
        if transfers.is_empty() || transfers.len() > allowed {
            return Err(format!(
                "{} transfers at once - this server allows {allowed} to a session",
                transfers.len()
            ));
        }
        plan::check_windows(transfers.iter().map(|transfer| &transfer.options))?;
        let left = self.session.ends.since(clock::now());
        for transfer in transfers {
            plan::check_options(&transfer.options)?;
            plan::check_limit(transfer.limit)?;
            if transfer.trace > MOST_TRACED / transfers.len() as u64 {
                return Err(format!("a trace of more than {MOST_TRACED} datagrams"));
            }
            if transfer.limit.duration().is_some_and(|time| time > left) {
                return Err(format!(
                    "a transfer longer than the {:.0} s that this server gives a session",
                    left.as_secs_f64()
                ));
            }
            if transfer.tool == Tool::Kernel && transfer.sends {
                try_congestion(transfer.options.congestion_control.name())
                    .map_err(|e| e.to_string())?;
            }
        }
        Ok(())
    }

    /// Waits until each transfer of ours has shown where it comes from, and opens its socket.
    fn prepare<'t>(&self, transfers: &'t [TransferSetup]) -> Result<Vec<Prepared<'t>>, String> {
        let open = |transfer: &TransferSetup| {
            let mailboxes = &self.equipment.mailboxes;
            (transfer.tool == Tool::Ours).then(|| mailboxes.open(self.session.id, transfer.id, 0))
        };
        let opened: Vec<_> = transfers.iter().map(open).collect();
        let deadline = clock::now() + HELLO;
        let prepare = |(setup, mailbox): (&'t TransferSetup, &Option<Opened>)| {
            let socket = mailbox.as_ref().map(|mailbox| {
                let peer = mailbox.wait_for_peer(self.session, deadline)?;
                let beside = self.equipment.socket.beside(peer.address, peer.local);
                let beside = beside.map_err(|error| error.to_string())?;
                Ok::<_, String>(beside.metered(&self.session.meter))
            });
            Ok(Prepared {
                setup,
                socket: socket.transpose()?,
            })
        };
        transfers.iter().zip(&opened).map(prepare).collect()
    }

    /// Lets the transfers go until the client ends them.
    fn transfer(
        &self,
        control: &mut Control,
        prepared: Vec<Prepared<'_>>,
    ) -> Result<Vec<FarResult>, Error> {
        let (go, stop) = (AtomicBool::new(false), AtomicBool::new(false));
        let longest = prepared
            .iter()
            .filter_map(|transfer| transfer.setup.limit.duration());
        let deadline = clock::now() + longest.max().unwrap_or(LONGEST) + GRACE;
        let senders = prepared.iter().filter(|t| t.setup.sends).count();
        let sending = AtomicUsize::new(senders);
        let counters = Mutex::new(Vec::new());
        let kernels = Mutex::new(Vec::new());
        let share = MOST_PASSED.min(MOST_ROWS as u64 / 2 / prepared.len().max(1) as u64);
        let end = |book: FarResult| {
            if matches!(book, FarResult::Sender(_)) {
                sending.fetch_sub(1, Ordering::Relaxed);
            }
            counters
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(book);
        };
        let ended: Result<(), Error> = std::thread::scope(|scope| {
            let _stop = StopOnDrop(&stop);
            let (go, stop, end) = (&go, &stop, &end);
            for Prepared { setup, socket } in prepared {
                match socket {
                    Some(socket) => {
                        let work = move || end(self.ours(setup, socket, share, go, stop));
                        start(scope, self.session, work);
                    }
                    None => kernels
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .push(setup),
                }
            }
            let kernels = &kernels;
            start(scope, self.session, move || {
                while !self.is_over(stop) {
                    let Some(stream) = self.session.next_stream(PATIENCE) else {
                        continue;
                    };
                    if let Some(setup) = claim(kernels, &stream) {
                        let work = move || end(self.kernel(setup, stream, go, stop));
                        start(scope, self.session, work);
                    }
                }
            });
            Self::follow(control, go, &sending, senders > 0, deadline)
        });
        ended?;
        Ok(counters
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner))
    }

    /// Does what the client says until it ends the round, and tells it when nothing is sent from here any more.
    fn follow(
        control: &mut Control,
        go: &AtomicBool,
        sending: &AtomicUsize,
        mut tells: bool,
        deadline: Instant,
    ) -> Result<(), Error> {
        loop {
            match control.recv(LOOK) {
                Ok(Near::Go) => go.store(true, Ordering::Relaxed),
                Ok(Near::End | Near::Finish | Near::Round(_)) => return Ok(()),
                Err(Error::Timeout { .. }) if clock::now() < deadline => {}
                Err(error) => return Err(error),
            }
            if tells && sending.load(Ordering::Relaxed) == 0 {
                tells = false;
                control.send(&Far::Over)?;
            }
        }
    }

    fn is_over(&self, stop: &AtomicBool) -> bool {
        stop.load(Ordering::Relaxed) || self.session.is_closed()
    }

    fn wait_for(&self, go: &AtomicBool, stop: &AtomicBool) {
        while !go.load(Ordering::Relaxed) && !self.is_over(stop) {
            clock::sleep_until(clock::now() + Duration::from_millis(1));
        }
    }

    /// Our part of a transfer of ours.
    fn ours(
        &self,
        setup: &TransferSetup,
        socket: UdpSocket,
        share: u64,
        go: &AtomicBool,
        stop: &AtomicBool,
    ) -> FarResult {
        let keys = &self.session.keys;
        let terms = Terms {
            address: wire::Address {
                session: self.session.id,
                stream: setup.id,
            },
            key_out: keys.to_client,
            key_in: keys.to_server,
            class: class(setup),
            limit: Some(self.session.limits.datagrams_per_s),
            longest: wire::segment_length(setup.options.mss),
        };
        let log = Log::new(self.rows, self.origin, setup.id, setup.sends, share);
        let abort = || self.is_over(stop);
        let watch = Watch::default();
        let mut link = match Link::new(socket, terms, log) {
            Ok(link) => link.traced(setup.trace),
            Err(error) => return failed(setup, error.to_string()),
        };
        if !setup.sends {
            let counters = receiving::run(setup.id, &setup.options, &mut link, &watch, &abort);
            self.rows.keep_trace(setup.id, link.take_trace());
            return FarResult::Receiver(counters);
        }
        self.wait_for(go, stop);
        let job = sending::Job {
            options: &setup.options,
            limit: setup.limit,
            mode: Mode::Cooperative,
            patience: setup.patience.0,
            secret: secret(),
            watch: &watch,
            abort: &abort,
        };
        let counters = sending::run(setup.id, &job, &mut link);
        self.rows.keep_trace(setup.id, link.take_trace());
        FarResult::Sender(counters)
    }

    /// Our part of a transfer of the kernel's.
    fn kernel(
        &self,
        setup: &TransferSetup,
        stream: DataStream,
        go: &AtomicBool,
        stop: &AtomicBool,
    ) -> FarResult {
        let DataStream { socket, slot, .. } = stream;
        let abort = || self.is_over(stop);
        let cc = setup.options.congestion_control.name();
        prepare_accepted(&socket, setup.class, setup.sends.then_some(cc));
        if !setup.sends {
            // The preamble is a segment, too.
            let counters = kernel::receive(setup.id, &setup.options, &socket, 1, &abort);
            slot.count(&socket);
            return FarResult::Receiver(counters);
        }
        self.wait_for(go, stop);
        let watch = Watch::default();
        let job = kernel::Job {
            limit: setup.limit,
            mss: setup.options.mss,
            window: setup.options.max_window,
            pace: None,
            patience: setup.patience.0,
            watch: &watch,
            abort: &abort,
        };
        let mut log = Log::new(self.rows, self.origin, setup.id, true, 0);
        let sent = kernel::send(setup.id, &job, &socket, &mut log);
        slot.count(&socket);
        FarResult::Sender(sent)
    }
}

/// The transfer that `stream` is for: each is begun once, and anything else is closed.
fn claim<'t>(
    waiting: &Mutex<Vec<&'t TransferSetup>>,
    stream: &DataStream,
) -> Option<&'t TransferSetup> {
    let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
    let preamble = &stream.preamble;
    let is_it = |setup: &&TransferSetup| setup.id == preamble.stream;
    let index = waiting.iter().position(is_it)?;
    (preamble.kind == STREAM_KIND).then(|| waiting.swap_remove(index))
}

/// How the data is marked.
fn class(setup: &TransferSetup) -> TrafficClass {
    TrafficClass {
        dscp: setup.class,
        ecn: if setup.options.ecn {
            Ecn::Ect0
        } else {
            Ecn::NotEct
        },
    }
}

fn failed(setup: &TransferSetup, reason: String) -> FarResult {
    let counters = SenderResult {
        id: setup.id,
        outcome: Outcome::Failed,
        reason: Some(reason),
        ..SenderResult::default()
    };
    if setup.sends {
        FarResult::Sender(counters)
    } else {
        FarResult::Receiver(super::results::ReceiverResult {
            id: setup.id,
            ..Default::default()
        })
    }
}
