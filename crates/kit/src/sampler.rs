//! Looks at every stream at the end of every bin of 100 ms, and at the processors every second.
//!
//! Both ends run one. What was *delivered* in a bin is counted by the receiver's kernel as it arrives ([`Arrivals`]), whenever
//! the program came round to reading it; of QUIC, which the program has to read to know, as it is read. What was written by a sender is
//! nowhere counted.

use crate::arrivals::{Arrivals, Segments};
use crate::stream::wait_until;
use schema::tables::{Cpu, Series};
use serde::{Deserialize, Serialize};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use sys::cgroup::{Home, Throttling};
use sys::proc::{CpuSample, OwnCpu};
use sys::tcp::TcpInfo;
use sys::{clock, tcp};
use units::Instant;

/// Width of a bin.
pub const BIN: Duration = Duration::from_millis(100);
/// Bins between two looks at the processors.
const CPU_EVERY: u64 = 10;

/// How a stream went, at one end.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct StreamEnd {
    /// Which.
    pub id: u16,
    /// When the first octet came, after the run's start.
    pub first_byte_ns: Option<u64>,
    /// Payload that arrived in order here.
    pub received_bytes: Option<u64>,
    /// Segments retransmitted from here.
    pub retransmits: Option<u64>,
    /// Congestion control of this end.
    pub cc: Option<String>,
    /// Traffic-class octet of the other end's handshake as it arrived here.
    pub class_seen: Option<u8>,
    /// Whether both ends of the connection agreed on ECN.
    #[serde(default)]
    pub ecn: Option<bool>,
    /// Datagrams of a call that there were to send from here; those of a load by UDP that were.
    pub sent: Option<u32>,
    /// Numbers of those that were not sent, from the first of each pair to below the second: the moment of each had passed
    /// before this end could send.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unsent: Vec<(u32, u32)>,
    /// Datagrams of a load by UDP that came to this end and found no room in its kernel.
    #[serde(default, skip_serializing_if = "is_none")]
    pub overflows: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
const fn is_none(count: &u64) -> bool {
    *count == 0
}

/// What a sampler finds.
pub trait Sink: Send + Sync {
    /// One stream in one bin.
    fn series(&self, row: Series);
    /// The processors in one second.
    fn cpu(&self, row: Cpu);
    /// A stream has ended.
    fn ended(&self, end: StreamEnd);
}

/// The streams of one end, shared by the threads that serve them.
pub struct Sampler<S> {
    origin: Instant,
    end: &'static str,
    live: Mutex<Vec<Live>>,
    sink: S,
}

/// What carries a stream.
#[derive(Clone, Debug)]
pub enum Carrier {
    /// The kernel's TCP.
    Tcp(Arc<TcpStream>),
    /// QUIC.
    Quic(web::bulk::Watch),
    /// Datagrams.
    Udp(Arc<DatagramCounters>),
}

/// What there was of a stream of datagrams, so far.
#[derive(Debug, Default)]
pub struct DatagramCounters {
    /// Datagrams that were sent from here.
    pub sent: AtomicU64,
    /// Datagrams that came here.
    pub received: AtomicU64,
    /// Octets of their payload.
    pub octets: AtomicU64,
    /// When the first came.
    pub first: OnceLock<Instant>,
    /// Datagrams that came and found no room in the kernel.
    pub overflows: AtomicU64,
}

impl DatagramCounters {
    /// One came, with so many octets of payload.
    pub fn receives(&self, octets: usize) {
        self.received.fetch_add(1, Ordering::Relaxed);
        self.octets.fetch_add(octets as u64, Ordering::Relaxed);
        self.first.get_or_init(clock::now);
    }

    fn info(&self) -> TcpInfo {
        let count = |of: &AtomicU64| u32::try_from(of.load(Ordering::Relaxed)).ok();
        let (sent, received) = (count(&self.sent), count(&self.received));
        TcpInfo {
            bytes_received: Some(self.octets.load(Ordering::Relaxed)),
            segs_in: received,
            segs_out: sent,
            data_segs_in: received,
            data_segs_out: sent,
            ..TcpInfo::default()
        }
    }
}

impl Carrier {
    fn info(&self) -> Option<TcpInfo> {
        match self {
            Self::Tcp(socket) => tcp::info(&**socket).ok(),
            Self::Quic(watch) => Some(watch.info()),
            Self::Udp(counters) => Some(counters.info()),
        }
    }

    fn congestion(&self) -> Option<String> {
        match self {
            Self::Tcp(socket) => tcp::congestion(&**socket).ok(),
            Self::Quic(_) => Some(web::bulk::CONGESTION.to_owned()),
            Self::Udp(_) => None,
        }
    }
}

impl From<&Arc<TcpStream>> for Carrier {
    fn from(socket: &Arc<TcpStream>) -> Self {
        Self::Tcp(Arc::clone(socket))
    }
}

/// A stream under observation.
struct Live {
    id: u16,
    direction: &'static str,
    carrier: Carrier,
    received: Arrivals,
    /// Bytes acknowledged at the last sample.
    acked: u64,
    last: Instant,
    /// Octets that the program has read.
    read: Arc<AtomicU64>,
}

impl<S: Sink> Sampler<S> {
    /// A sampler at `end` (`client` or `server`) for a run that starts at `origin`.
    pub const fn new(origin: Instant, end: &'static str, sink: S) -> Self {
        Self {
            origin,
            end,
            live: Mutex::new(Vec::new()),
            sink,
        }
    }

    /// When the run started.
    pub const fn origin(&self) -> Instant {
        self.origin
    }

    /// Time since the run's start, in nanoseconds.
    pub fn since_origin(&self, at: Instant) -> u64 {
        u64::try_from(at.since(self.origin).as_nanos()).unwrap_or(u64::MAX)
    }

    /// Where the findings go.
    pub const fn sink(&self) -> &S {
        &self.sink
    }

    /// The findings, when the run is over.
    pub fn into_sink(self) -> S {
        self.sink
    }

    /// Begins to observe stream `id`, whose data goes `up`, `down` or `both` ways. Whoever receives on it counts what was read by
    /// what this returns: that is what has arrived where TCP itself does not tell, as on other systems than Linux, and of QUIC.
    pub fn begin(
        &self,
        id: u16,
        direction: &'static str,
        carrier: impl Into<Carrier>,
    ) -> Arc<AtomicU64> {
        let read: Arc<AtomicU64> = Arc::default();
        self.lock().push(Live {
            id,
            direction,
            carrier: carrier.into(),
            received: Arrivals::default(),
            acked: 0,
            last: clock::now(),
            read: Arc::clone(&read),
        });
        read
    }

    /// Ends the observation of stream `end.id` with a last sample, and reports how it went.
    pub fn end(&self, mut end: StreamEnd) {
        let mut streams = self.lock();
        let Some(index) = streams.iter().position(|live| live.id == end.id) else {
            return;
        };
        let mut live = streams.swap_remove(index);
        drop(streams);
        if let Some(info) = live.carrier.info() {
            self.sink
                .series(live.row(self.origin, self.end, &info, true));
            let read = live.read.load(Ordering::Relaxed);
            end.received_bytes = info.bytes_received.or(Some(read));
            end.retransmits = info.total_retrans.map(u64::from);
            end.ecn = info.ecn;
        }
        end.cc = live.carrier.congestion();
        self.sink.ended(end);
    }

    /// Samples at the end of every bin until `stop` is raised. For a thread of its own.
    pub fn run(&self, stop: &AtomicBool) {
        // Late samples would shift bytes between bins; the slack only fails where /proc is closed.
        let _ = clock::timer_slack(1);
        let mut cpu = Processors::new();
        let mut looks = 0_u64;
        loop {
            // From the clock each time: bins that were slept through are not made up for.
            let bin = clock::now().since(self.origin).as_nanos() / BIN.as_nanos() + 1;
            let due = Duration::from_nanos(u64::try_from(bin * BIN.as_nanos()).unwrap_or(u64::MAX));
            if !wait_until(self.origin + due, &|| stop.load(Ordering::Relaxed)) {
                return;
            }
            self.sample();
            looks += 1;
            if looks.is_multiple_of(CPU_EVERY)
                && let Some(row) = cpu.row(self.end, self.since_origin(clock::now()))
            {
                self.sink.cpu(row);
            }
        }
    }

    fn sample(&self) {
        let mut streams = self.lock();
        for live in streams.iter_mut() {
            if let Some(info) = live.carrier.info() {
                self.sink
                    .series(live.row(self.origin, self.end, &info, false));
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Live>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Live {
    fn row(&mut self, origin: Instant, end: &'static str, info: &TcpInfo, last: bool) -> Series {
        let now = clock::now();
        let nanos = |span: Duration| u64::try_from(span.as_nanos()).unwrap_or(u64::MAX);
        let micros = |span: Duration| u64::try_from(span.as_micros()).unwrap_or(u64::MAX);
        let narrow = |span: Duration| u32::try_from(span.as_micros()).unwrap_or(u32::MAX);
        let grown = |total: Option<u64>, last: &mut u64| {
            total.map(|total| total.saturating_sub(std::mem::replace(last, total)))
        };
        let segments = info.data_segs_in.map(u64::from);
        let waited = info.rcv_ooopack.map(u64::from);
        let counts = segments.zip(waited);
        let counts = counts.map(|(all, out_of_order)| Segments { all, out_of_order });
        let received = &mut self.received;
        let bytes = info
            .bytes_received
            .unwrap_or_else(|| self.read.load(Ordering::Relaxed));
        let delivered = Some(received.bin(bytes, counts, last));
        let row = Series {
            t_ns: nanos(now.since(origin)),
            bin_ns: nanos(now.since(self.last)),
            stream: self.id,
            direction: self.direction.into(),
            end: end.into(),
            delivered_bytes: delivered,
            acked_bytes: grown(info.bytes_acked, &mut self.acked),
            rtt_us: info.rtt.map(narrow),
            min_rtt_us: info.min_rtt.map(narrow),
            cwnd_segments: info.snd_cwnd,
            ssthresh_segments: info.ssthresh,
            retransmits: info.total_retrans.map(u64::from),
            delivery_rate_bps: info.delivery_rate.map(units::Rate::as_bps),
            pacing_rate_bps: info.pacing_rate.map(units::Rate::as_bps),
            busy_us: info.busy.map(micros),
            rwnd_limited_us: info.rwnd_limited.map(micros),
            sndbuf_limited_us: info.sndbuf_limited.map(micros),
            segs_in: info.segs_in.map(u64::from),
            segs_out: info.segs_out.map(u64::from),
            data_segs_in: segments,
            data_segs_out: info.data_segs_out.map(u64::from),
            ce_segs_in: info.received_ce.map(u64::from),
            echoed_segs_out: info.delivered_ce.map(u64::from),
        };
        self.last = now;
        row
    }
}

/// The processors at the last look.
struct Processors {
    machine: Option<CpuSample>,
    own: Option<OwnCpu>,
    quota: Option<Throttling>,
    at: Instant,
}

impl Processors {
    fn new() -> Self {
        Self {
            machine: CpuSample::now().ok(),
            own: OwnCpu::now().ok(),
            // That of the group of this thread: a host's, or a container's.
            quota: Home::find().ok().and_then(|home| home.throttling()),
            at: clock::now(),
        }
    }

    /// How busy they were since the last look; nothing where the system does not tell.
    fn row(&mut self, end: &'static str, t_ns: u64) -> Option<Cpu> {
        let next = Self::new();
        let machine = next.machine.as_ref().zip(self.machine.as_ref());
        let used = machine.map(|(now, then)| now.since(then))?;
        let own = next.own.as_ref().zip(self.own.as_ref());
        let own = own
            .map(|(now, then)| now.since(then).total())
            .unwrap_or_default();
        let throttled_pct = next.quota.zip(self.quota).map(|(now, then)| {
            let periods = now.periods.saturating_sub(then.periods).max(1);
            now.throttled.saturating_sub(then.throttled) as f64 / periods as f64 * 100.0
        });
        let elapsed = next.at.since(self.at).max(Duration::from_millis(1));
        *self = next;
        Some(Cpu {
            t_ns,
            host: end.into(),
            busy_pct: used.busy_pct,
            max_pct: used.max_pct,
            steal_pct: used.steal_pct,
            process_pct: own.as_secs_f64() / elapsed.as_secs_f64() * 100.0,
            throttled_pct,
        })
    }
}
