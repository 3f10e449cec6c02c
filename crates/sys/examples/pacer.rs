//! How exact the gaps between paced datagrams are, as the receiver's kernel sees them.
//!
//! ```text
//! pacer send GAP COUNT [SIZE]         send to ourselves over loopback and measure
//! pacer receive PORT GAP TIME         measure whoever sends to this port (irtt, iperf3, ...)
//! ```
//!
//! Prints one JSON line: the distribution of |gap - planned gap| in nanoseconds by the kernel stamps
//! of the receiver, and the processor time used. The receiver looks only now and then, so that it
//! does not wake in the middle of the sender's gaps.

use isobath_sys as sys;
use std::error::Error;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use sys::pacer::{GapAudit, Pacer};
use sys::udp::{BATCH, Outgoing, RecvBatch, UdpSocket};
use sys::{clock, proc::OwnCpu};
use units::{Instant, Span, TrafficClass};

type Failure = Box<dyn Error + Send + Sync>;

/// How often the receiver empties its socket.
const LOOK: Duration = Duration::from_millis(10);
/// Room for 100 ms of small datagrams at a gap of 10 us.
const BUFFER: usize = 16 << 20;

fn main() -> Result<(), Failure> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["send", gap, count] => send(span(gap)?, count.parse()?, 172),
        ["send", gap, count, size] => send(span(gap)?, count.parse()?, size.parse()?),
        ["receive", port, gap, time] => receive(port.parse()?, span(gap)?, span(time)?),
        _ => Err("usage: pacer send GAP COUNT [SIZE] | pacer receive PORT GAP TIME".into()),
    }
}

fn span(text: &str) -> Result<Duration, Failure> {
    Ok(text.parse::<Span>()?.into())
}

/// Stamps of what has arrived on a port.
struct Receiver {
    socket: UdpSocket,
    stamps: Vec<u64>,
    batch: RecvBatch,
}

impl Receiver {
    fn bind(local: SocketAddr) -> Result<Self, Failure> {
        let socket = UdpSocket::bind(local)?;
        socket.set_buffers(BUFFER, BUFFER)?;
        Ok(Self {
            socket,
            stamps: Vec::new(),
            batch: RecvBatch::new(BATCH, 64),
        })
    }

    fn drain(&mut self) -> Result<(), Failure> {
        while self.socket.recv(&mut self.batch)? > 0 {
            self.stamps
                .extend(self.batch.iter().filter_map(|got| got.wall_ns));
        }
        Ok(())
    }

    /// Looks now and then until `done`, and once more.
    fn run(mut self, done: impl Fn() -> bool) -> Result<Self, Failure> {
        while !done() {
            clock::sleep_until(clock::now() + LOOK);
            self.drain()?;
        }
        self.drain()?;
        Ok(self)
    }

    /// The errors of the gaps in nanoseconds, smallest first.
    fn errors(&self, gap: Duration) -> Vec<f64> {
        let error = |pair: &[u64]| gap.abs_diff(Duration::from_nanos(pair[1].abs_diff(pair[0])));
        let errors = self.stamps.windows(2).map(error);
        let mut errors: Vec<f64> = errors.map(|error| error.as_secs_f64() * 1e9).collect();
        errors.sort_unstable_by(f64::total_cmp);
        errors
    }

    /// The figures as JSON members.
    fn figures(&self, gap: Duration) -> String {
        let errors = self.errors(gap);
        let at = |q| stats::quantile(&errors, q).unwrap_or(f64::NAN);
        format!(
            "\"count\":{},\"p50_ns\":{:.0},\"p90_ns\":{:.0},\"p99_ns\":{:.0},\"p999_ns\":{:.0},\"max_ns\":{:.0}",
            errors.len(),
            at(0.50),
            at(0.90),
            at(0.99),
            at(0.999),
            at(1.0)
        )
    }
}

fn send(gap: Duration, count: u64, size: usize) -> Result<(), Failure> {
    let receiver = Receiver::bind("127.0.0.1:0".parse()?)?;
    let to = receiver.socket.local_addr()?;
    let done = AtomicBool::new(false);
    let (receiver, paced) = std::thread::scope(|scope| {
        let receiving = scope.spawn(|| receiver.run(|| done.load(Ordering::Acquire)));
        let paced = pace(to, gap, count, size);
        done.store(true, Ordering::Release);
        (receiving.join(), paced)
    });
    let receiver = receiver.map_err(|_| "the receiver panicked")??;
    let Paced { audit, margin, cpu } = paced?;
    let lateness = audit.lateness().ok_or("nothing was sent")?;
    println!(
        "{{\"mode\":\"send\",\"gap_us\":{},{},\"sender\":{{\"gap_error_p50_ns\":{},\
         \"gap_error_p99_ns\":{},\"late_p50_ns\":{},\"late_p99_ns\":{},\"missed\":{},\
         \"margin_us\":{},\"cpu_pct\":{:.1}}}}}",
        gap.as_secs_f64() * 1e6,
        receiver.figures(gap),
        audit.error_quantile(0.50).as_nanos(),
        audit.error_quantile(0.99).as_nanos(),
        lateness.p50,
        lateness.p99,
        audit.missed(),
        margin.as_micros(),
        cpu
    );
    Ok(())
}

/// How the sending thread did.
struct Paced {
    audit: GapAudit,
    margin: Duration,
    /// Processor time in percent of the time that passed.
    cpu: f64,
}

fn pace(to: SocketAddr, gap: Duration, count: u64, size: usize) -> Result<Paced, Failure> {
    let mut socket = UdpSocket::bind("127.0.0.1:0".parse()?)?;
    socket.connect(to)?;
    let payload = vec![0; size];
    let datagram = Outgoing {
        payload: &payload,
        to: None,
        from: None,
        class: TrafficClass::default(),
    };
    let mut pacer = Pacer::calibrate()?;
    let mut audit = GapAudit::new(Duration::from_micros(5));
    let (cpu, start) = (clock::thread_cpu(), clock::now() + Duration::from_millis(1));
    let mut deadline = start;
    for _ in 0..count {
        let actual = pacer.wait_until(deadline);
        socket.send(&[datagram])?;
        audit.record(deadline, actual);
        deadline += gap;
    }
    Ok(Paced {
        audit,
        margin: pacer.margin(),
        cpu: percent(clock::thread_cpu().saturating_sub(cpu), start),
    })
}

fn receive(port: u16, gap: Duration, time: Duration) -> Result<(), Failure> {
    let receiver = Receiver::bind(([127, 0, 0, 1], port).into())?;
    let (cpu, start) = (OwnCpu::now()?, clock::now());
    let end = start + time;
    let receiver = receiver.run(|| clock::now() >= end)?;
    println!(
        "{{\"mode\":\"receive\",\"gap_us\":{},{},\"receiver_cpu_pct\":{:.1}}}",
        gap.as_secs_f64() * 1e6,
        receiver.figures(gap),
        percent(OwnCpu::now()?.since(&cpu).total(), start)
    );
    Ok(())
}

fn percent(used: Duration, start: Instant) -> f64 {
    100.0 * used.as_secs_f64() / clock::now().since(start).as_secs_f64()
}
