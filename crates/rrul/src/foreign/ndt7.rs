//! The load of an ndt7 server: one connection each way.
//!
//! Neither waits for the other, and nobody is claimed: such a server has many clients. What it tells of its TCP while it sends becomes
//! rows of the far end.

use super::Load;
use crate::collector::Finding;
use crate::streams::{Kind, StreamPlan};
use far_ends::ndt7::{Measurement, MessageSize, TcpInfo, Test};
use kit::sampler::StreamEnd;
use kit::secret::secret;
use kit::{load, stream};
use schema::tables::Series;
use socket2::{Domain, Protocol, SockRef, Socket, Type};
use std::cell::RefCell;
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use sys::clock;
use units::Instant;
use web::Trust;
use web::ndt7::client::{self, Dialer, Event};
use web::websocket::filler;

/// How long the server may take to accept a connection.
const ANSWER: Duration = Duration::from_secs(10);
/// Octets that wait unsent in TCP: gone at once when the load ends.
const MOST_UNSENT: u32 = 128 << 10;

/// Looks of a server's are so far apart at least; it is asked not to tell more than ten times a second.
const LEAST_STEP: Duration = Duration::from_millis(20);
/// A server's test may have begun so long before ours: its answer was on the way.
const AHEAD: Duration = Duration::from_secs(5);

/// A server that has been reached.
pub struct Ndt7 {
    dialer: Dialer,
    to: SocketAddr,
}

/// A connection under load.
struct Carried<'a> {
    plan: &'a StreamPlan,
    socket: Arc<TcpStream>,
    state: RefCell<State>,
}

/// What has become of it so far.
#[derive(Default)]
struct State {
    begun: Option<Instant>,
    first: Option<Instant>,
    read: Arc<AtomicU64>,
    told: TcpInfo,
}

impl Ndt7 {
    /// The server `host` at `to`.
    ///
    /// # Errors
    /// When there is none, or one that is not trusted.
    pub fn reach(to: SocketAddr, host: &str, trust: &Trust) -> anyhow::Result<Self> {
        let dialer = Dialer::new(host, trust).map_err(anyhow::Error::msg)?;
        let stream = TcpStream::connect_timeout(&to, ANSWER).map_err(|error| {
            anyhow::anyhow!(
                "no ndt7 server at {to}: {error} - run 'isobath serve --also ndt7' there"
            )
        })?;
        dialer.try_out(stream).map_err(|what| {
            anyhow::anyhow!("{what} - give its authority's certificate by --ca, or say --insecure")
        })?;
        Ok(Self { dialer, to })
    }
}

impl Load<'_> {
    /// Waits for the load's time and has it: the far end of each stream, as far as the server tells.
    pub(super) fn by_ndt7(&self, server: &Ndt7) -> Result<Vec<StreamEnd>, String> {
        let abort = || self.is_stopped();
        if !stream::wait_until(self.sampler.origin() + self.plan.load_start(), &abort) {
            return Ok(Vec::new());
        }
        let (mut carried, mut connections) = (Vec::new(), Vec::new());
        let load = |plan: &&StreamPlan| matches!(plan.kind, Kind::Up | Kind::Down);
        for plan in self.streams.iter().filter(load) {
            let opened = open(server.to, plan).and_then(|socket| Ok((socket.try_clone()?, socket)));
            let (own, socket) = opened.map_err(|error| format!("{}: {error}", plan.name))?;
            connections.push((test(plan), own));
            carried.push(Carried {
                plan,
                socket: Arc::new(socket),
                state: RefCell::default(),
            });
        }
        let filler = filler(secret(), MessageSize::LONGEST);
        let load = client::Load {
            until: self.sampler.origin() + self.plan.load_end(),
            abort: &abort,
            tell: &|number, event| {
                if let Some(carried) = carried.get(number) {
                    carried.hear(self, event);
                }
            },
            filler: &filler,
        };
        let ended = server.dialer.carry(connections, load)?;
        let ends = carried.iter().zip(ended);
        Ok(ends
            .filter_map(|(carried, how)| carried.end(self, how))
            .collect())
    }
}

impl Carried<'_> {
    fn hear(&self, load: &Load<'_>, event: Event) {
        let mut state = self.state.borrow_mut();
        let (id, direction) = (self.plan.id, self.plan.kind.direction());
        match event {
            Event::Begun => {
                let now = clock::now();
                state.begun = Some(now);
                state.read = load.sampler.begin(id, direction, &self.socket);
                load.tell(Finding::Opened {
                    stream: id,
                    connected_ns: load.sampler.since_origin(now),
                });
            }
            Event::Received(octets) => {
                state.first = state.first.or_else(|| Some(clock::now()));
                state.read.fetch_add(octets as u64, Ordering::Relaxed);
            }
            Event::Told(told) => {
                // A server that receives tells no round trips of its load.
                let info = info(&told).filter(|_| self.plan.kind == Kind::Down);
                let Some((begun, info)) = state.begun.zip(info) else {
                    return;
                };
                if is_news(&state.told, &info, clock::now().since(begun)) {
                    let since = load.sampler.since_origin(begun);
                    load.tell(Finding::Series(row(id, since, &state.told, &info)));
                    state.told = info;
                }
            }
        }
    }

    /// The last of a connection.
    fn end(&self, load: &Load<'_>, how: Result<(), String>) -> Option<StreamEnd> {
        let Carried {
            plan,
            socket,
            state,
        } = self;
        let state = state.borrow();
        // What is still unsent would load the path while it should be seen to calm down.
        let _ = SockRef::from(&**socket).set_linger(Some(Duration::ZERO));
        let first = state.first;
        load.sampler.end(StreamEnd {
            id: plan.id,
            first_byte_ns: first.map(|first| load.sampler.since_origin(first)),
            ..StreamEnd::default()
        });
        if let Err(reason) = how
            && !load.is_stopped()
        {
            let stream = plan.id;
            load.tell(Finding::Failed { stream, reason });
        }
        let retransmits = state.told.total_retrans?;
        Some(StreamEnd {
            id: plan.id,
            retransmits: Some(retransmits),
            ..StreamEnd::default()
        })
    }
}

const fn test(plan: &StreamPlan) -> Test {
    match plan.kind {
        Kind::Up => Test::Upload,
        _ => Test::Download,
    }
}

fn open(to: SocketAddr, plan: &StreamPlan) -> io::Result<TcpStream> {
    let socket = Socket::new(Domain::for_address(to), Type::STREAM, Some(Protocol::TCP))?;
    stream::prepare(&socket, plan.class, plan.cc())?;
    socket.connect_timeout(&to.into(), ANSWER)?;
    socket.set_tcp_nodelay(true)?;
    let socket = TcpStream::from(socket);
    load::limit(&socket, plan.rate).map_err(io::Error::other)?;
    // Where the kernel does not know it, the end of the load is less sharp.
    let _ = sys::tcp::set_unsent_limit(&socket, MOST_UNSENT);
    Ok(socket)
}

/// What a server tells of its TCP, and when.
fn info(told: &Measurement) -> Option<TcpInfo> {
    let mut info = told.tcp_info?;
    let elapsed = told.app_info.map(|app| app.elapsed_time);
    info.elapsed_time = info.elapsed_time.or(elapsed);
    info.elapsed_time.map(|_| info)
}

/// Whether `now` is later than `before` by what is worth a row, and not later than can be, `since` the test began.
fn is_news(before: &TcpInfo, now: &TcpInfo, since: Duration) -> bool {
    let at = |info: &TcpInfo| Duration::from_micros(info.elapsed_time.unwrap_or_default());
    at(now) >= at(before) + LEAST_STEP && at(now) <= since + AHEAD
}

/// A look of the server's at the stream that it sends, after the one `before`. The test began at `since`, nanoseconds after the run.
fn row(stream: u16, since: u64, before: &TcpInfo, now: &TcpInfo) -> Series {
    let narrow = |value: Option<u64>| value.map(|value| u32::try_from(value).unwrap_or(u32::MAX));
    let at = |info: &TcpInfo| info.elapsed_time.unwrap_or_default().saturating_mul(1_000);
    let acked = now.bytes_acked.zip(before.bytes_acked.or(Some(0)));
    Series {
        t_ns: since.saturating_add(at(now)),
        bin_ns: at(now).saturating_sub(at(before)),
        stream,
        direction: "down".into(),
        end: "server".into(),
        acked_bytes: acked.map(|(now, before)| now.saturating_sub(before)),
        rtt_us: narrow(now.rtt),
        min_rtt_us: narrow(now.min_rtt),
        cwnd_segments: narrow(now.snd_cwnd),
        retransmits: now.total_retrans,
        busy_us: now.busy_time,
        rwnd_limited_us: now.rwnd_limited,
        sndbuf_limited_us: now.snd_buf_limited,
        ..Series::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_tells_becomes_rows_with_what_was_acknowledged_since_the_last() {
        let told = |text: &str| info(&Measurement::read(text.as_bytes()).unwrap());
        let first = told(r#"{"TCPInfo": {"ElapsedTime": 250000, "BytesAcked": 1000, "RTT": 24000, "TotalRetrans": 1}}"#).unwrap();
        // One that tells the time only once.
        let second = told(r#"{"AppInfo": {"ElapsedTime": 500000}, "TCPInfo": {"BytesAcked": 4000, "RTT": 99000000000}}"#).unwrap();
        assert_eq!(told(r#"{"TCPInfo": {"RTT": 1}}"#), None);
        let row_1 = row(3, 5_000_000_000, &TcpInfo::default(), &first);
        assert_eq!((row_1.t_ns, row_1.bin_ns), (5_250_000_000, 250_000_000));
        assert_eq!(
            (row_1.acked_bytes, row_1.rtt_us),
            (Some(1_000), Some(24_000))
        );
        let row_2 = row(3, 5_000_000_000, &first, &second);
        assert_eq!((row_2.t_ns, row_2.bin_ns), (5_500_000_000, 250_000_000));
        assert_eq!((row_2.acked_bytes, row_2.retransmits), (Some(3_000), None));
        assert_eq!(row_2.rtt_us, Some(u32::MAX));
        let ten = Duration::from_secs(10);
        assert!(is_news(&first, &second, ten));
        // The same again, an older one, and one of the future.
        assert!(!is_news(&first, &first, ten) && !is_news(&second, &first, ten));
        let never = TcpInfo {
            elapsed_time: Some(u64::MAX),
            ..TcpInfo::default()
        };
        assert!(!is_news(&first, &never, ten));
    }
}
