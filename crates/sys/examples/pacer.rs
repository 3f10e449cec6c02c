//! How exact the gaps between paced datagrams are, as the receiver's kernel sees them.
//!
//! ```text
//! pacer send GAP COUNT [SIZE]         send to ourselves over loopback and measure
//! pacer pace PORT GAP COUNT           only send, to this port on loopback, for somebody who watches
//! pacer watch PORT GAP TIME           measure whoever sends to this port (irtt, iperf3; as root)
//! ```
//!
//! Prints one JSON line: the distribution of |gap - planned gap| in nanoseconds by the kernel stamps
//! of the receiver, and the processor time used. The receiver looks only now and then, so that it
//! does not wake in the middle of the sender's gaps.

use isobath_sys as sys;
use socket2::{Domain, Protocol, Socket, Type};
use std::error::Error;
use std::io::{self, Read};
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use sys::pacer::{GapAudit, Pacer};
use sys::udp::{BATCH, Outgoing, RecvBatch, UdpSocket};
use sys::{clock, proc::OwnCpu};
use units::{Instant, Span, TrafficClass};

type Failure = Box<dyn Error + Send + Sync>;

/// How often the receiver empties its socket.
const LOOK: Duration = Duration::from_millis(100);
/// Room for that long of small datagrams at a gap of 10 us.
const BUFFER: usize = 16 << 20;

/// Asks for the stamp of the packet that was read last (`include/uapi/asm-generic/sockios.h`).
const SIOCGSTAMPNS: libc::c_ulong = 0x8907;

fn main() -> Result<(), Failure> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["send", gap, count] => send(span(gap)?, count.parse()?, 172),
        ["send", gap, count, size] => send(span(gap)?, count.parse()?, size.parse()?),
        ["pace", port, gap, count] => {
            let to = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port.parse()?);
            pace(to, span(gap)?, count.parse()?, 172).map(drop)
        }
        ["watch", port, gap, time] => watch(port.parse()?, span(gap)?, span(time)?),
        _ => Err(
            "usage: pacer send GAP COUNT [SIZE] | pacer pace PORT GAP COUNT | pacer watch PORT GAP TIME".into(),
        ),
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
}

/// The distribution of |gap - planned gap| as JSON members.
fn figures(stamps: &[u64], gap: Duration) -> String {
    let error = |pair: &[u64]| gap.abs_diff(Duration::from_nanos(pair[1].abs_diff(pair[0])));
    let errors = stamps.windows(2).map(error);
    let mut errors: Vec<f64> = errors.map(|error| error.as_secs_f64() * 1e9).collect();
    errors.sort_unstable_by(f64::total_cmp);
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
        figures(&receiver.stamps, gap),
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

fn watch(port: u16, gap: Duration, time: Duration) -> Result<(), Failure> {
    let mut watcher = Watcher::open(port)?;
    let (cpu, start) = (OwnCpu::now()?, clock::now());
    while clock::now().since(start) < time {
        clock::sleep_until(clock::now() + LOOK);
        watcher.drain()?;
    }
    println!(
        "{{\"mode\":\"watch\",\"gap_us\":{},{},\"watcher_cpu_pct\":{:.1}}}",
        gap.as_secs_f64() * 1e6,
        figures(&watcher.stamps, gap),
        percent(OwnCpu::now()?.since(&cpu).total(), start)
    );
    Ok(())
}

/// Sees the IPv4 datagrams to a port without being their receiver: a packet socket for one protocol
/// gets what comes in, not what goes out, so each datagram on loopback once.
struct Watcher {
    socket: Socket,
    port: u16,
    stamps: Vec<u64>,
}

impl Watcher {
    fn open(port: u16) -> Result<Self, Failure> {
        // ETH_P_IP in network order.
        let protocol = i32::from(0x0800_u16.to_be());
        let socket = Socket::new(Domain::PACKET, Type::DGRAM, Some(Protocol::from(protocol)))
            .map_err(|e| format!("open packet socket: {e} - run as root"))?;
        socket.set_nonblocking(true)?;
        socket.set_recv_buffer_size(BUFFER)?;
        let mut watcher = Self {
            socket,
            port,
            stamps: Vec::new(),
        };
        // The first question makes the kernel stamp what this socket gets from now on.
        let _ = watcher.last_stamp();
        watcher.drain()?;
        watcher.stamps.clear();
        Ok(watcher)
    }

    fn drain(&mut self) -> Result<(), Failure> {
        let mut octets = [0; 64];
        loop {
            match self.socket.read(&mut octets) {
                Ok(length) if is_to_port(&octets[..length], self.port) => {
                    let stamp = self.last_stamp()?;
                    self.stamps.push(stamp);
                }
                Ok(_) => {}
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(e) => return Err(e.into()),
            }
        }
    }

    /// The kernel's stamp of the datagram that was read last, in nanoseconds.
    fn last_stamp(&self) -> io::Result<u64> {
        let mut time = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        #[expect(unsafe_code, reason = "an ioctl that no crate wraps")]
        // SAFETY: the ioctl writes one timespec to the pointer.
        let status = unsafe { libc::ioctl(self.socket.as_raw_fd(), SIOCGSTAMPNS, &raw mut time) };
        if status != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned())
    }
}

/// Whether an IPv4 packet is a UDP datagram to `port`.
fn is_to_port(packet: &[u8], port: u16) -> bool {
    let Some(&first) = packet.first() else {
        return false;
    };
    let udp = usize::from(first & 15) * 4;
    packet.get(9) == Some(&17) && packet.get(udp + 2..udp + 4) == Some(&port.to_be_bytes()[..])
}

fn percent(used: Duration, start: Instant) -> f64 {
    100.0 * used.as_secs_f64() / clock::now().since(start).as_secs_f64()
}
