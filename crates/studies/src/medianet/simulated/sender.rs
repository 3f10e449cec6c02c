//! The sending end: streams and the local scheduler, as [`sender`](crate::medianet::sender) has them over a socket.

use super::Told;
use crate::dumbbell::simulated::Application;
use crate::medianet::frames::Stream;
use crate::medianet::global::STREAMS;
use crate::medianet::local::LocalScheduler;
use crate::medianet::news::News;
use crate::medianet::sender::{APART, Times};
use sim::NodeId;
use sim::tcp::{Connection, Key, Stack, Terms};
use units::{FlowId, Instant};

/// The connection's flow.
const FLOW: FlowId = FlowId(2);

/// See the [module](self).
pub(super) struct Sender {
    to: NodeId,
    seed: u64,
    times: Times,
    told: Told,
    key: Option<Key>,
    streams: [Stream; STREAMS],
    local: LocalScheduler,
    /// Octets of the frame that is being sent which the connection has not taken, and of all frames up to its end.
    left: u64,
    said: u64,
    report_due: Instant,
    is_over: bool,
}

impl Sender {
    pub(super) fn new(to: NodeId, times: Times, told: Told, seed: u64) -> Self {
        let stream = |id: u8| Stream::new(id, times.begin + APART * u32::from(id));
        Self {
            to,
            seed,
            told,
            key: None,
            streams: [0, 1, 2].map(stream),
            local: LocalScheduler::new(times.begin),
            left: 0,
            said: 0,
            report_due: times.begin + times.interval,
            is_over: false,
            times,
        }
    }

    fn take_frames(&mut self, now: Instant) {
        for configuration in self.told.configurations.borrow_mut().drain(..) {
            for (stream, level) in self.streams.iter_mut().zip(configuration) {
                stream.set(level);
            }
        }
        for stream in &mut self.streams {
            while let Some(frame) = stream.poll_frame(now) {
                self.told.tell(News::Due(frame));
                for dropped in self.local.handle_frame(frame) {
                    self.told.tell(News::Dropped(dropped, now));
                }
            }
        }
    }

    /// Gives the connection what it takes.
    fn send(&mut self, stack: &mut Stack) {
        let Some(key) = self.key else { return };
        if !stack.get(key).is_some_and(Connection::is_established) {
            return;
        }
        loop {
            if self.left == 0 {
                let Some(frame) = self.local.poll_frame() else {
                    return;
                };
                self.left = u64::from(frame.kind.octets());
                self.said += self.left;
                self.told.frames.borrow_mut().push_back((self.said, frame));
            }
            let taken = stack.write(key, self.left);
            self.left -= taken;
            self.local.handle_sent(taken);
            if self.left > 0 {
                return;
            }
        }
    }

    fn go_on(&mut self, stack: &mut Stack, now: Instant) {
        if self.is_over {
            return;
        }
        if now >= self.times.end {
            self.is_over = true;
            self.told.tell(News::Report(self.local.report(now)));
            // Frames that have not left the buffer are under way for ever.
            if let Some(key) = self.key {
                stack.close(key);
            }
            return;
        }
        self.take_frames(now);
        self.send(stack);
        if now >= self.report_due {
            self.report_due = now + self.times.interval;
            self.told.tell(News::Report(self.local.report(now)));
        }
    }
}

impl Application for Sender {
    fn handle_change(&mut self, key: Key, stack: &mut Stack, now: Instant) {
        if stack.get(key).is_some_and(Connection::is_broken) && !self.is_over {
            self.is_over = true;
            let reason = "the sender: the connection was reset";
            self.told.tell(News::Broken(reason.to_owned()));
        }
        self.go_on(stack, now);
    }

    fn handle_asked(&mut self, from: NodeId, flow: FlowId, stack: &mut Stack, _: Instant) {
        stack.refuse(from, flow);
    }

    fn handle_timeout(&mut self, stack: &mut Stack, now: Instant) {
        if self.key.is_none() {
            let terms = Terms {
                seed: self.seed,
                window: None,
                peer_window: None,
            };
            self.key = Some(stack.open(self.to, FLOW, terms, now));
        }
        self.go_on(stack, now);
    }

    fn next_timeout(&self) -> Option<Instant> {
        if self.key.is_none() {
            return Some(Instant::ZERO);
        }
        let frames = self.streams.iter().map(Stream::next_timeout);
        let next = frames.fold(self.report_due.min(self.times.end), Instant::min);
        (!self.is_over).then_some(next)
    }
}
