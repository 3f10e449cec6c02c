//! The control connection of a test, and the claim that it is.

use crate::plan::Plan;
use crate::streams::{Kind, StreamPlan};
use far_ends::iperf3::{COOKIE, Client, Event, Params, Results, cookie};
use kit::secret::secret;
use kit::stream::{PATIENCE, is_timeout};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;
use sys::clock;
use units::{Ecn, Instant, Rate, TrafficClass};

/// How long the server may take to answer while nothing is under way.
pub(super) const ANSWER: Duration = Duration::from_secs(10);
/// Octets of a block that the server sends at once.
const BLOCK: usize = 128 << 10;

/// A server that waits for our streams: nobody else's test loads the path until they have ended.
pub struct Claim {
    socket: TcpStream,
    client: Client,
    pub(super) to: SocketAddr,
    pub(super) cookie: [u8; COOKIE],
}

impl Claim {
    /// Claims the server at `to` for the load of `plan`; none where it has no load.
    ///
    /// # Errors
    /// When the server cannot be reached, is busy, or does not do it.
    pub fn make(
        to: SocketAddr,
        plan: &Plan,
        streams: &[StreamPlan],
    ) -> anyhow::Result<Option<Self>> {
        let Some(params) = params(plan, streams) else {
            return Ok(None);
        };
        let socket = TcpStream::connect_timeout(&to, ANSWER).map_err(|error| {
            anyhow::anyhow!("no iperf3 server at {to}: {error} - run 'iperf3 -s' there")
        })?;
        socket.set_nodelay(true)?;
        socket.set_read_timeout(Some(PATIENCE))?;
        socket.set_write_timeout(Some(ANSWER))?;
        let cookie = cookie([secret(), secret(), secret(), secret()]);
        let mut claim = Self {
            socket,
            client: Client::new(cookie, params),
            to,
            cookie,
        };
        match claim.next(clock::now() + ANSWER, &|| false) {
            Ok(Some(Event::OpenStreams)) => Ok(Some(claim)),
            Ok(Some(Event::Busy)) => anyhow::bail!(
                "{to}: the server is busy running a test - try again when that has ended"
            ),
            Ok(Some(Event::Failed(reason))) => {
                anyhow::bail!("{to} does not do such a test: {reason}")
            }
            Ok(_) => anyhow::bail!("{to} does not answer as an iperf3 server does"),
            Err(reason) => anyhow::bail!("{to}: {reason}"),
        }
    }

    /// The next event; none when `deadline` has passed or `abort` says so.
    pub(super) fn next(
        &mut self,
        deadline: Instant,
        abort: &dyn Fn() -> bool,
    ) -> Result<Option<Event>, String> {
        let mut octets = [0; 4_096];
        loop {
            if let Some(event) = self.client.poll_event() {
                self.flush()?;
                return Ok(Some(event));
            }
            self.flush()?;
            if clock::now() >= deadline || abort() {
                return Ok(None);
            }
            match self.socket.read(&mut octets) {
                Ok(0) => return Err("the server closed the control connection".to_owned()),
                Ok(length) => self.client.handle(&octets[..length]),
                Err(error) if is_timeout(&error) => {}
                Err(error) => return Err(format!("the control connection broke: {error}")),
            }
        }
    }

    /// The time of the load is over.
    pub(super) fn end(&mut self, results: Results) {
        self.client.end(results);
    }

    /// Leaves the server to others.
    pub(super) fn give_up(mut self) {
        self.client.give_up();
        // It finds out in any case.
        let _ = self.flush();
    }

    fn flush(&mut self) -> Result<(), String> {
        let output = self.client.take_output();
        let written = self.socket.write_all(&output);
        written.map_err(|error| format!("the control connection broke: {error}"))
    }
}

/// The streams of the load in the order in which they are opened: those that we send on are the first.
pub(super) fn ordered(streams: &[StreamPlan]) -> impl Iterator<Item = &StreamPlan> {
    let of = |kind| streams.iter().filter(move |plan| plan.kind == kind);
    of(Kind::Up).chain(of(Kind::Down))
}

/// What the load is to a server of iperf3.
fn params(plan: &Plan, streams: &[StreamPlan]) -> Option<Params> {
    let count = |kind| streams.iter().filter(|plan| plan.kind == kind).count();
    let (up, down) = (count(Kind::Up), count(Kind::Down));
    let first = ordered(streams).next()?;
    let class = TrafficClass {
        dscp: first.class,
        ecn: Ecn::NotEct,
    };
    // Whole seconds, and one more for the streams to be opened: the end is said.
    let seconds = plan.duration.0.as_secs_f64().ceil();
    Some(Params {
        // The plan was made to fit.
        parallel: u16::try_from(up.max(down)).unwrap_or(u16::MAX),
        up: up > 0,
        down: down > 0,
        time: Duration::from_secs_f64(seconds) + Duration::from_secs(1),
        block: BLOCK,
        class: class.octet(),
        congestion: first.congestion().map(str::to_owned),
        rate_bps: first.rate.map_or(0, Rate::as_bps),
        ..Params::default()
    })
}
