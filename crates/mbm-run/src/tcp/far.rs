//! The far end's part in a test that TCP carries.

use super::super::far::{Run, path_rtt};
use super::super::messages::{Far, FarResult, TestSetup};
use super::super::results::{ReceiverResult, SenderResult};
use super::super::sending::{Job, Together};
use super::{CONGESTION, STREAM_KIND, receiving, sending};
use kit::datagrams::Quality;
use kit::far::{StopOnDrop, start};
use kit::stream::{PATIENCE, prepare_accepted};
use mbm::loss::{Counts, LossReport};
use schema::Direction;
use session::{Control, DataStream, Error};
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use sys::clock;

/// The client opens its connection within this time.
const OPEN: Duration = Duration::from_secs(15);

impl Run<'_> {
    /// One test, from the client's word of it to the counters.
    pub(in super::super) fn by_tcp(
        &self,
        control: &mut Control,
        setup: TestSetup,
    ) -> Result<(), Error> {
        let sends = self.plan.direction == Direction::Down;
        let checked = self.check(setup).and_then(|()| {
            let congestion = sends.then(|| sys::tcp::try_congestion(CONGESTION));
            congestion.transpose().map_err(|error| error.to_string())
        });
        if let Err(reason) = checked {
            return control.send(&Far::Refused(reason));
        }
        control.send(&Far::Ready)?;
        let Some(stream) = self.accept(setup) else {
            return control.send(&Far::Refused("no connection came for it".to_owned()));
        };
        prepare_accepted(&stream.socket, self.plan.class, sends.then_some(CONGESTION));
        let served = if sends {
            self.send_by_tcp(control, setup, &stream)
        } else {
            self.receive_by_tcp(control, setup, &stream)
        };
        stream.slot.count(&stream.socket);
        served
    }

    fn accept(&self, setup: TestSetup) -> Option<DataStream> {
        let deadline = clock::now() + OPEN;
        while clock::now() < deadline && !self.session.is_closed() {
            // Any other connection is closed.
            let stream = self.session.next_stream(PATIENCE);
            let is_it = |stream: &DataStream| {
                let said = &stream.preamble;
                said.kind == STREAM_KIND && said.stream == setup.stream
            };
            if let Some(stream) = stream.filter(is_it) {
                return Some(stream);
            }
        }
        None
    }

    fn receive_by_tcp(
        &self,
        control: &mut Control,
        setup: TestSetup,
        stream: &DataStream,
    ) -> Result<(), Error> {
        let socket = &stream.socket;
        let shape = self.plan.setup(path_rtt(setup)).by_tcp(setup.test).ok();
        let window = shape.and_then(|shape| receiving::window(socket, shape, self.plan));
        let stop = AtomicBool::new(false);
        let abort = || self.is_over(&stop);
        let sent = std::thread::scope(|scope| {
            let _stop = StopOnDrop(&stop);
            start(scope, self.session, || {
                receiving::run(socket, window, &abort);
            });
            self.end(control)
        })?;
        // What was lost only the sender knows.
        let packets = Counts {
            packets: sent.first().copied().unwrap_or(0),
            ..Counts::default()
        };
        control.send(&Far::Results(FarResult::Receiver(Box::new(
            ReceiverResult {
                loss: LossReport::of_counts(packets),
                quality: Quality::default(),
            },
        ))))
    }

    fn send_by_tcp(
        &self,
        control: &mut Control,
        setup: TestSetup,
        stream: &DataStream,
    ) -> Result<(), Error> {
        if !Self::wait_for_go(control)? {
            return Ok(());
        }
        let stop = AtomicBool::new(false);
        let abort = || self.is_over(&stop);
        let watch = Mutex::new(Counts::default());
        let together = Together::of(1);
        let job = Job {
            plan: self.plan,
            test: setup.test,
            path_rtt: path_rtt(setup),
            together: &together,
            abort: &abort,
            watch: &watch,
        };
        let send = || sending::run(&job, &stream.socket);
        for sent in Self::until_sent(control, &stop, vec![send])? {
            match sent {
                Ok(counters) => tell(control, counters)?,
                Err(reason) => return control.send(&Far::Refused(reason)),
            }
        }
        Ok(())
    }
}

fn tell(control: &mut Control, counters: SenderResult) -> Result<(), Error> {
    control.send(&Far::Results(FarResult::Sender(Box::new(counters))))
}
