//! One test: the conversation with its client.

use super::TICK;
use super::hall::{Hall, Seat};
use super::streams::{Connection, Course};
use crate::stream::{PATIENCE, is_timeout};
use far_ends::iperf3::{Asked, COOKIE, Params, Results, Server, Stream, Transport, stream_id};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;
use sys::proc::OwnCpu;
use sys::{clock, tcp};
use units::Instant;

/// How long the client may take to answer, and to open its streams.
const ANSWER: Duration = Duration::from_secs(15);
/// The longest test, with what is omitted of it.
const LONGEST: Duration = Duration::from_secs(600);
/// A client may be late by so much with the end of its test.
const GRACE: Duration = Duration::from_secs(40);
/// iperf3's numbers of what is refused: too long, no such congestion control, no streams, over time.
const TOO_LONG: u32 = 5;
const NO_CONGESTION: u32 = 134;
const NO_STREAMS: u32 = 204;
const OVER_TIME: u32 = 160;

/// A test at work.
pub(super) struct Test<'a> {
    hall: &'a Hall,
    seat: &'a Seat<'a>,
    control: TcpStream,
    stop: &'a AtomicBool,
    server: Server,
}

/// Why there is no more to be done.
struct Gone;

impl<'a> Test<'a> {
    pub(super) fn new(
        hall: &'a Hall,
        seat: &'a Seat<'a>,
        control: TcpStream,
        stop: &'a AtomicBool,
    ) -> Self {
        Self {
            hall,
            seat,
            control,
            stop,
            server: Server::default(),
        }
    }

    /// Has the conversation, from the cookie that the client has shown to its end.
    pub(super) fn run(mut self, cookie: &[u8; COOKIE]) {
        self.server.handle(cookie);
        // Whoever does not keep to the protocol is told so where there is a number for it, and left.
        let _ = self.converse();
    }

    fn converse(&mut self) -> Result<(), Gone> {
        let _ = self.control.set_nodelay(true);
        let patience = self.control.set_read_timeout(Some(PATIENCE));
        patience.map_err(|_| Gone)?;
        let asked = self.next(clock::now() + ANSWER, &|| false)?;
        let Some(Asked::Test(cookie, params)) = asked else {
            return Ok(());
        };
        if let Some(number) = refusal(&params) {
            return self.refuse(number);
        }
        let Some(streams) = self.streams(&cookie, &params)? else {
            return self.refuse(NO_STREAMS);
        };
        if let Some(number) = streams.iter().find_map(|s| s.prepare(&params).err()) {
            return self.refuse(number);
        }
        self.server.run();
        self.flush()?;
        let Some(results) = self.have(&params, &streams)? else {
            return self.refuse(OVER_TIME);
        };
        self.server.tell(&results);
        // The streams stay open until the client has read it: it may still read from them.
        while self.next(clock::now() + ANSWER, &|| false)?.is_some() {}
        Ok(())
    }

    /// The streams of the test in the order in which they came; none where the client does not open them.
    fn streams(
        &mut self,
        cookie: &[u8; COOKIE],
        params: &Params,
    ) -> Result<Option<Vec<Connection>>, Gone> {
        let (sender, receiver) = mpsc::channel();
        let client = self.seat.client;
        let datagrams_of = (params.transport == Transport::Udp).then_some(client);
        let deadline = clock::now() + ANSWER;
        let hall = self.hall;
        let place = loop {
            match hall.wait(cookie, datagrams_of, params.streams(), &sender) {
                Some(place) => break place,
                None if clock::now() < deadline => clock::sleep_until(clock::now() + TICK),
                None => return Ok(None),
            }
        };
        self.server.accept();
        self.flush()?;
        let mut streams = Vec::new();
        while streams.len() < params.streams() {
            match receiver.recv_timeout(TICK) {
                Ok(stream) => streams.push(stream),
                Err(RecvTimeoutError::Timeout) if clock::now() < deadline => {
                    // A client that is gone opens none.
                    let soon = clock::now() + Duration::from_millis(1);
                    if self.next(soon, &|| false)?.is_some() {
                        return Err(Gone);
                    }
                }
                Err(_) => return Ok(None),
            }
        }
        drop(place);
        streams.sort_by_key(|(number, _)| *number);
        Ok(Some(
            streams.into_iter().map(|(_, stream)| stream).collect(),
        ))
    }

    /// Has the streams until the client ends the test; none where it does not.
    fn have(&mut self, params: &Params, streams: &[Connection]) -> Result<Option<Results>, Gone> {
        let over = AtomicBool::new(false);
        let begun = clock::now();
        let cpu = OwnCpu::now().unwrap_or_default();
        let most = if params.time.is_zero() {
            LONGEST
        } else {
            params.time + params.omit + GRACE
        };
        let (ended, ends) = thread::scope(|scope| {
            let _over = crate::far::StopOnDrop(&over);
            let mut started = Vec::new();
            for (index, connection) in streams.iter().enumerate() {
                let course = Course {
                    connection,
                    params,
                    sends: !params.is_up(index),
                    begun,
                    over: &over,
                };
                let thread = thread::Builder::new().spawn_scoped(scope, move || course.run());
                started.push(thread.map_err(|_| Gone)?);
            }
            let ended = self.next(begun + most, &|| false);
            over.store(true, Ordering::Relaxed);
            let ends = started.into_iter().map(|thread| {
                let end = thread.join();
                end.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            });
            Ok((ended?, ends.collect::<Vec<_>>()))
        })?;
        if ended != Some(Asked::End) {
            return if ended.is_none() { Ok(None) } else { Err(Gone) };
        }
        Ok(Some(Results {
            cpu_pct: shares(cpu, begun),
            congestion: streams.iter().find_map(Connection::congestion),
            streams: number(ends),
        }))
    }

    /// The next event; none when `deadline` has passed or `abort` says so.
    fn next(&mut self, deadline: Instant, abort: &dyn Fn() -> bool) -> Result<Option<Asked>, Gone> {
        let mut octets = [0; 4_096];
        loop {
            let event = self.server.poll_event();
            self.flush()?;
            if event.is_some() {
                return Ok(event);
            }
            if self.stop.load(Ordering::Relaxed) {
                return Err(Gone);
            }
            if clock::now() >= deadline || abort() {
                return Ok(None);
            }
            match self.control.read(&mut octets) {
                Ok(0) => return Err(Gone),
                Ok(length) => self.server.handle(&octets[..length]),
                Err(error) if is_timeout(&error) => {}
                Err(_) => return Err(Gone),
            }
        }
    }

    fn refuse(&mut self, number: u32) -> Result<(), Gone> {
        self.server.refuse(number);
        self.flush()
    }

    fn flush(&mut self) -> Result<(), Gone> {
        let output = self.server.take_output();
        self.control.write_all(&output).map_err(|_| Gone)
    }
}

/// Why such a test is not had, by iperf3's number.
fn refusal(params: &Params) -> Option<u32> {
    if params.time + params.omit > LONGEST {
        return Some(TOO_LONG);
    }
    let congestion = params.congestion.as_deref();
    congestion
        .is_some_and(|name| tcp::try_congestion(name).is_err())
        .then_some(NO_CONGESTION)
}

/// Processor time since the test began, by the time that it took, in per cent. It is the whole server's.
fn shares(before: OwnCpu, begun: Instant) -> [f64; 3] {
    let used = OwnCpu::now().unwrap_or(before).since(&before);
    let time = clock::now().since(begun).as_secs_f64().max(1e-3);
    [used.total(), used.user, used.system].map(|used| used.as_secs_f64() / time * 100.0)
}

fn number(ends: Vec<Stream>) -> Vec<Stream> {
    let numbered = ends.into_iter().enumerate().map(|(index, end)| Stream {
        id: stream_id(index),
        ..end
    });
    numbered.collect()
}
