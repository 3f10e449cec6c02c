//! The far end of a run: what `isobath serve` does for one client.
//!
//! As in bulk transfers each test has a socket of its own here, connected to where the client's requests came from
//! (as of `btc`): nothing is sent to an address that has not asked for it. How fast is the target's rate, which the
//! session's limit of datagrams bounds.

use super::messages::{Done, Far, FarResult, Near, ROWS_PER_LINE, Setup, TestSetup};
use super::plan::{Carrier, Plan};
use super::sending::Together;
use super::{receiver, receiving, sending};
use kit::datagrams::{Link, Terms};
use kit::far::{Equipment, StopOnDrop, start_to_join};
use kit::mailbox::HELLO;
use mbm::loss::Counts;
use schema::Direction;
use session::wire::Kind;
use session::{Control, Error, Session};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;
use sys::clock;
use sys::proc::OwnCpu;
use sys::udp::UdpSocket;
use units::Instant;

/// A client that has set up a run says within this time what is next.
const NEXT: Duration = Duration::from_secs(30);
/// How often the control connection is looked at.
const LOOK: Duration = Duration::from_millis(10);
/// Beyond the time of a test the client has this long to end it.
pub(super) const GRACE: Duration = Duration::from_secs(60);

/// Serves the run that the client of `session` set up. Returns when it is over or the client is gone.
///
/// # Errors
///
/// Those of the control connection.
pub fn serve(
    control: &mut Control,
    session: &Session,
    setup: &Setup,
    equipment: &Equipment,
) -> Result<(), Error> {
    let cpu_before = OwnCpu::now().ok();
    let run = Run {
        session,
        equipment,
        plan: &setup.plan,
    };
    loop {
        match control.recv(NEXT)? {
            Near::Test(test) => run.test(control, test)?,
            Near::End(_) | Near::Go => {}
            Near::Finish => break,
        }
    }
    let used = OwnCpu::now()
        .ok()
        .zip(cpu_before)
        .map(|(now, before)| now.since(&before).total());
    control.send(&Far::Done(Done {
        process_cpu_s: used.unwrap_or_default().as_secs_f64(),
    }))
}

/// A run at its far end.
pub(super) struct Run<'a> {
    pub(super) session: &'a Session,
    equipment: &'a Equipment,
    pub(super) plan: &'a Plan,
}

impl Run<'_> {
    /// One test, from the client's word of it to the counters.
    fn test(&self, control: &mut Control, setup: TestSetup) -> Result<(), Error> {
        if self.plan.carrier == Carrier::Tcp {
            return self.by_tcp(control, setup);
        }
        let prepared = self.check(setup).and_then(|()| self.prepare(setup));
        let mut links = match prepared {
            Ok(links) => links,
            Err(reason) => return control.send(&Far::Refused(reason)),
        };
        control.send(&Far::Ready)?;
        match self.plan.direction {
            Direction::Up => self.receive(control, setup, &mut links),
            Direction::Down => self.send(control, setup, &mut links),
        }
    }

    /// What can be found wrong before the test. The client has the key, which is no reason to believe its numbers.
    pub(super) fn check(&self, setup: TestSetup) -> Result<(), String> {
        self.plan.check()?;
        self.plan.check_path(path_rtt(setup))?;
        let left = self.session.ends.since(clock::now());
        if self.plan.timeout.0 > left {
            return Err(format!(
                "a test longer than the {:.0} s that this server gives a session - use a shorter --timeout",
                left.as_secs_f64()
            ));
        }
        let limits = &self.session.limits;
        if u32::from(self.plan.streams) > limits.streams {
            return Err(format!(
                "{} streams at once - this server allows {}",
                self.plan.streams, limits.streams
            ));
        }
        let asked = self.rate(setup) * f64::from(self.plan.streams);
        let allowed = f64::from(limits.datagrams_per_s);
        if asked > allowed {
            return Err(format!(
                "{asked:.0} packets a second - this server allows {allowed:.0}"
            ));
        }
        Ok(())
    }

    fn rate(&self, setup: TestSetup) -> f64 {
        let pattern = self.plan.setup(path_rtt(setup)).pattern(setup.test);
        pattern.map_or_else(
            || self.plan.target.packets_per_s(),
            |pattern| pattern.packets_per_s(),
        )
    }

    /// Opens the sockets of the test's streams.
    fn prepare(&self, setup: TestSetup) -> Result<Vec<Link>, String> {
        let streams = (0..self.plan.streams).map(|number| setup.stream.saturating_add(number));
        streams.map(|stream| self.open(stream)).collect()
    }

    /// Waits until the client has shown where the stream comes from, and opens a socket for it.
    fn open(&self, stream: u16) -> Result<Link, String> {
        let mailbox = self.equipment.mailboxes.open(self.session.id, stream, 0);
        let peer = mailbox.wait_for_peer(self.session, clock::now() + HELLO)?;
        let socket = self.equipment.socket.beside(peer.address, peer.local);
        let socket: UdpSocket = socket.map_err(|error| error.to_string())?;
        let socket = socket.metered(&self.session.meter);
        let v6 = peer.address.ip().to_canonical().is_ipv6();
        let keys = &self.session.keys;
        let terms = Terms {
            session: self.session.id,
            stream,
            kind: Kind::OneWay,
            key_out: keys.to_client,
            key_in: keys.to_server,
            class: self.plan.class(),
            payload: self.plan.payload(v6),
        };
        Link::new(socket, terms).map_err(|error| error.to_string())
    }

    fn receive(
        &self,
        control: &mut Control,
        setup: TestSetup,
        links: &mut [Link],
    ) -> Result<(), Error> {
        let sent = links.iter().map(|_| AtomicU64::new(receiving::UNKNOWN));
        let sent: Vec<_> = sent.collect();
        let stop = AtomicBool::new(false);
        let abort = || self.is_over(&stop);
        let report_every = report_every(self.plan, setup);
        let counters = thread::scope(|scope| -> Result<Vec<_>, Error> {
            let _stop = StopOnDrop(&stop);
            let receiving = links.iter_mut().zip(&sent).map(|(link, sent)| {
                let job = receiving::Job {
                    plan: self.plan,
                    report_every,
                    sent,
                    abort: &abort,
                };
                start_to_join(scope, self.session, move || receiving::run(&job, link))
            });
            let receiving: Vec<_> = receiving.collect();
            let mut counts = self.end(control)?.into_iter();
            for sent in &sent {
                sent.store(counts.next().unwrap_or(0), Ordering::Relaxed);
            }
            let counters = receiving.into_iter();
            let join = |receiving: Option<ScopedJoinHandle<'_, _>>| receiving?.join().ok();
            Ok(counters.map(join).collect())
        })?;
        for counters in counters {
            let Some(counters) = counters else {
                return control.send(&Far::Refused("the receiver broke down".to_owned()));
            };
            control.send(&Far::Results(FarResult::Receiver(Box::new(counters))))?;
        }
        Ok(())
    }

    /// How many packets the client says each of its streams has sent, once it says so.
    pub(super) fn end(&self, control: &mut Control) -> Result<Vec<u64>, Error> {
        let deadline = clock::now() + self.plan.timeout.0 + GRACE;
        loop {
            match control.recv(LOOK) {
                Ok(Near::End(sent)) => {
                    let known = |sent: u64| sent.min(receiving::UNKNOWN - 1);
                    return Ok(sent.into_iter().map(known).collect());
                }
                Ok(Near::Finish) => return Ok(Vec::new()),
                Ok(Near::Go | Near::Test(_)) => {}
                Err(Error::Timeout { .. }) if clock::now() < deadline => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Whether the client lets the test begin.
    pub(super) fn wait_for_go(control: &mut Control) -> Result<bool, Error> {
        loop {
            match control.recv(NEXT)? {
                Near::Go => return Ok(true),
                Near::End(_) | Near::Test(_) => {}
                Near::Finish => return Ok(false),
            }
        }
    }

    /// What each of `sends` returns, which the client may have stopped.
    pub(super) fn until_sent<T: Send>(
        control: &mut Control,
        stop: &AtomicBool,
        sends: Vec<impl FnOnce() -> Result<T, String> + Send>,
    ) -> Result<Vec<Result<T, String>>, Error> {
        thread::scope(|scope| -> Result<_, Error> {
            let _stop = StopOnDrop(stop);
            let begin = |send| {
                let thread = thread::Builder::new().spawn_scoped(scope, send);
                thread.map_err(|error| format!("no thread for it: {error}"))
            };
            let sending: Vec<_> = sends.into_iter().map(begin).collect();
            while !sending.iter().flatten().all(ScopedJoinHandle::is_finished) {
                match control.recv(LOOK) {
                    Ok(Near::End(_) | Near::Finish) => stop.store(true, Ordering::Relaxed),
                    Ok(_) | Err(Error::Timeout { .. }) => {}
                    Err(error) => return Err(error),
                }
            }
            let broken = |_| Err("the sender broke down".to_owned());
            let sent = sending.into_iter();
            let join = |thread: ScopedJoinHandle<'_, _>| thread.join().unwrap_or_else(broken);
            Ok(sent.map(|sent| sent.and_then(join)).collect())
        })
    }

    fn send(
        &self,
        control: &mut Control,
        setup: TestSetup,
        links: &mut [Link],
    ) -> Result<(), Error> {
        if !Self::wait_for_go(control)? {
            return Ok(());
        }
        let stop = AtomicBool::new(false);
        let abort = || self.is_over(&stop);
        let watch = Mutex::new(Counts::default());
        let together = Together::of(links.len());
        let sends = links.iter_mut().map(|link| {
            let job = sending::Job {
                plan: self.plan,
                test: setup.test,
                path_rtt: path_rtt(setup),
                together: &together,
                abort: &abort,
                watch: &watch,
            };
            move || sending::run(&job, link)
        });
        for sent in Self::until_sent(control, &stop, sends.collect())? {
            match sent {
                Ok((counters, rows)) => {
                    control.send_rows(rows, ROWS_PER_LINE, Far::Rows)?;
                    control.send(&Far::Results(FarResult::Sender(Box::new(counters))))?;
                }
                Err(reason) => return control.send(&Far::Refused(reason)),
            }
        }
        Ok(())
    }

    pub(super) fn is_over(&self, stop: &AtomicBool) -> bool {
        stop.load(Ordering::Relaxed) || self.session.is_closed()
    }
}

pub(super) fn path_rtt(setup: TestSetup) -> Duration {
    Duration::from_nanos(setup.path_rtt_ns)
}

/// Which packets the receiver is to report.
pub(super) fn report_every(plan: &Plan, setup: TestSetup) -> u64 {
    let tests = plan.setup(path_rtt(setup));
    let Some(stream) = tests.stream(setup.test, Instant::ZERO) else {
        return 1;
    };
    let rate = plan.target.packets_per_s();
    receiver::report_every(&*stream, rate, setup.test.is_self_clocked())
}
