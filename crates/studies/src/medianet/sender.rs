//! The sending end: streams and the local scheduler, over a connection of the kernel.

use super::frames::Stream;
use super::global::{Configuration, STREAMS};
use super::local::LocalScheduler;
use super::news::{News, Teller};
use super::wire;
use std::io::{self, ErrorKind, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::time::Duration;
use sys::{clock, poll, tcp};
use units::Instant;

/// Octets that may wait in the kernel beside those in flight: what waits longer is the local scheduler's to drop.
const UNSENT: u32 = 16_384;
/// How long connecting may take.
const CONNECT: Duration = Duration::from_secs(5);
/// From one stream's first frame to the next one's, so that they do not all come at once.
pub(super) const APART: Duration = Duration::from_millis(11);
/// How often the stop flag is looked at.
const LOOK: Duration = Duration::from_millis(50);

/// The sending end.
pub(super) struct Sender<'a> {
    socket: TcpStream,
    streams: [Stream; STREAMS],
    local: LocalScheduler,
    /// The frame that is being sent, and how far.
    outgoing: Vec<u8>,
    done: usize,
    interval: Duration,
    report_due: Instant,
    end: Instant,
    configurations: Receiver<Configuration>,
    news: Teller,
    stop: &'a AtomicBool,
}

/// When a run's frames begin and end, and how long the intervals of reports are.
#[derive(Clone, Copy)]
pub(super) struct Times {
    pub begin: Instant,
    pub end: Instant,
    pub interval: Duration,
}

impl<'a> Sender<'a> {
    /// Connects with the receiver at `to`.
    ///
    /// # Errors
    /// When it does not answer.
    pub(super) fn connect(
        to: SocketAddr,
        times: Times,
        configurations: Receiver<Configuration>,
        news: Teller,
        stop: &'a AtomicBool,
    ) -> io::Result<Self> {
        let socket = tcp::connect(to, CONNECT)?;
        let set = |done: Result<(), sys::Error>| done.map_err(io::Error::other);
        set(tcp::set_nodelay(&socket, true))?;
        set(tcp::set_unsent_limit(&socket, UNSENT))?;
        socket.set_nonblocking(true)?;
        let stream = |id: u8| Stream::new(id, times.begin + APART * u32::from(id));
        Ok(Self {
            socket,
            streams: [0, 1, 2].map(stream),
            local: LocalScheduler::new(times.begin),
            outgoing: Vec::new(),
            done: 0,
            interval: times.interval,
            report_due: times.begin + times.interval,
            end: times.end,
            configurations,
            news,
            stop,
        })
    }

    /// Sends until the end.
    ///
    /// # Errors
    /// When the connection breaks.
    pub(super) fn run(mut self) -> io::Result<()> {
        loop {
            let now = clock::now();
            if now >= self.end || self.stop.load(Ordering::Relaxed) {
                self.news.tell(News::Report(self.local.report(now)));
                // Frames that have not left the buffer are under way for ever.
                return self.socket.shutdown(Shutdown::Write);
            }
            for configuration in self.configurations.try_iter() {
                for (stream, level) in self.streams.iter_mut().zip(configuration) {
                    stream.set(level);
                }
            }
            self.take_frames(now);
            self.send()?;
            if now >= self.report_due {
                self.report_due = now + self.interval;
                self.news.tell(News::Report(self.local.report(now)));
            }
            self.wait()?;
        }
    }

    fn take_frames(&mut self, now: Instant) {
        for stream in &mut self.streams {
            while let Some(frame) = stream.poll_frame(now) {
                self.news.tell(News::Due(frame));
                for dropped in self.local.handle_frame(frame) {
                    self.news.tell(News::Dropped(dropped, now));
                }
            }
        }
    }

    /// Gives TCP what it takes.
    fn send(&mut self) -> io::Result<()> {
        loop {
            if self.done == self.outgoing.len() {
                let Some(frame) = self.local.poll_frame() else {
                    return Ok(());
                };
                (self.outgoing, self.done) = (wire::emit(&frame), 0);
            }
            let left = self.outgoing.get(self.done..).unwrap_or_default();
            match self.socket.write(left) {
                Ok(count) => {
                    self.done += count;
                    self.local.handle_sent(count as u64);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Until something is due, or TCP takes more of what waits.
    fn wait(&self) -> io::Result<()> {
        let frames = self.streams.iter().map(Stream::next_timeout);
        let due = frames.fold(self.report_due.min(self.end), Instant::min);
        let patience = due.since(clock::now()).min(LOOK);
        let is_waiting = self.done < self.outgoing.len() || self.local.waiting() > 0;
        if !is_waiting {
            clock::sleep_until(clock::now() + patience);
            return Ok(());
        }
        poll::wait_for_room(&self.socket, patience)
    }
}
