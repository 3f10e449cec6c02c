//! The near end's part in a test that TCP carries.

use super::super::messages::{Far, FarResult, Near as Say, TestSetup};
use super::super::results::ReceiverResult;
use super::super::run::{Halves, Run};
use super::super::sending::{Job, Together};
use super::{STREAM_KIND, prepare, receiving, sending};
use kit::control::Broken;
use kit::far::StopOnDrop;
use mbm::loss::{Counts, LossReport};
use schema::Direction;
use std::net::TcpStream;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(10);

impl Run<'_> {
    /// One test, from the word of it to the counters.
    pub(in super::super) fn by_tcp(
        &mut self,
        setup: TestSetup,
        index: usize,
    ) -> Result<Halves, Broken> {
        self.say(&Say::Test(setup))?;
        match self.hear()? {
            Far::Ready => {}
            Far::Refused(reason) => return Err(Broken::refused(&reason)),
            _ => return Err(Broken::out_of_turn()),
        }
        let socket = self.open(setup)?;
        match self.context.plan.direction {
            Direction::Up => self.send_by_tcp(setup, index, &socket),
            Direction::Down => self.receive_by_tcp(setup, index, &socket),
        }
    }

    fn open(&self, setup: TestSetup) -> Result<TcpStream, Broken> {
        let plan = self.context.plan;
        let sends = plan.direction == Direction::Up;
        let (peer, dialer) = (self.client.peer, &self.client.dialer);
        let open = dialer.open(peer, setup.stream, STREAM_KIND, CONNECT, |socket| {
            prepare(socket, plan, peer.is_ipv6(), sends)
        })?;
        Ok(open.socket)
    }

    fn send_by_tcp(
        &mut self,
        setup: TestSetup,
        index: usize,
        socket: &TcpStream,
    ) -> Result<Halves, Broken> {
        let stop = AtomicBool::new(false);
        let abort = || stop.load(Ordering::Relaxed);
        let watches = [Mutex::new(Counts::default())];
        let together = Together::of(1);
        let job = Job {
            plan: self.context.plan,
            test: setup.test,
            path_rtt: Duration::from_nanos(setup.path_rtt_ns),
            together: &together,
            abort: &abort,
            watch: &watches[0],
        };
        let one = vec![|| sending::run(&job, socket)];
        let sent = self.watched(setup.test, index, &watches, &stop, one)?;
        let counters = sent.into_iter().next().ok_or_else(Broken::out_of_turn)?;
        self.say(&Say::End(vec![counters.sent]))?;
        match self.hear()? {
            Far::Results(FarResult::Receiver(_)) => {}
            Far::Refused(reason) => return Err(Broken::refused(&reason)),
            _ => return Err(Broken::out_of_turn()),
        }
        let receiver = as_sent(&counters);
        Ok((counters, Some(receiver), Vec::new()))
    }

    fn receive_by_tcp(
        &mut self,
        setup: TestSetup,
        index: usize,
        socket: &TcpStream,
    ) -> Result<Halves, Broken> {
        let stop = AtomicBool::new(false);
        let abort = || stop.load(Ordering::Relaxed);
        let plan = self.context.plan;
        let shape = plan.setup(Duration::from_nanos(setup.path_rtt_ns));
        let shape = shape.by_tcp(setup.test).ok();
        let window = shape.and_then(|shape| receiving::window(socket, shape, plan));
        self.say(&Say::Go)?;
        std::thread::scope(|scope| {
            let _stop = StopOnDrop(&stop);
            scope.spawn(|| receiving::run(socket, window, &abort));
            let (sender, _) = self.told(setup.test, index)?;
            let receiver = as_sent(&sender);
            Ok((sender, Some(receiver), Vec::new()))
        })
    }
}

/// What became of all packets: by TCP only the sender knows, and what it sent again counts as lost.
fn as_sent(counters: &super::super::results::SenderResult) -> ReceiverResult {
    let all = counters.tcp.as_ref().map_or(counters.told, |tcp| Counts {
        packets: tcp.segments,
        lost: tcp.retransmits,
        ce: 0,
    });
    ReceiverResult {
        loss: LossReport::of_counts(all),
        quality: kit::datagrams::Quality::default(),
    }
}
