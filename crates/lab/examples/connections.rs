//! How many small packets a lab carries: TCP connections of one request and one response, as many at once as are asked for.
//!
//! ```console
//! $ cargo run --release -p isobath-lab --example connections -- --at-once 2000 --round-trip 40 --seconds 10
//! ```
//!
//! Both ends are played by one thread, so that on two processors the lab has one for itself. Each connection is given its
//! round trip before its SYN, spread evenly over half to one and a half times the one asked for; with none, all take the
//! shortest way through the lab. `--monitors` turns the log of signals and the capture of 80 octets a packet on.

use isobath_lab::{Network, Options, profiles};
use packet::flow;
use path::Assigned;
use rustix::event::{Timespec, epoll};
use socket2::{Domain, Socket, Type};
use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::os::fd::AsFd;
use std::time::Duration;
use sys::clock;
use units::{FlowId, Instant};

type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

const REQUEST: [u8; 200] = [1; 200];
const RESPONSE: [u8; 1_200] = [2; 1_200];
const LISTENER: u64 = u64::MAX;
/// Tokens from here on are those of the far ends.
const FAR: u64 = 1 << 32;

struct Near {
    socket: Socket,
    flows: [FlowId; 2],
    has_asked: bool,
}

struct Bench {
    poll: rustix::fd::OwnedFd,
    listener: TcpListener,
    from: SocketAddr,
    delays: Option<(Assigned, Duration)>,
    near: HashMap<u64, Near>,
    far: HashMap<u64, Socket>,
    accepted: u64,
    next_port: u16,
    done: u64,
}

fn main() -> Outcome<()> {
    let number = |name: &str, default: u64| {
        let mut words = std::env::args().skip_while(|word| word != name).skip(1);
        words.next().map_or(Ok(default), |word| word.parse())
    };
    let (at_once, seconds) = (number("--at-once", 200)?, number("--seconds", 10)?);
    let round_trip = Duration::from_millis(number("--round-trip", 0)?);
    let monitors = std::env::args().any(|word| word == "--monitors");
    let delays = Assigned::default();
    let options = Options {
        delays: Some(delays.clone()),
        arrivals: monitors,
        signals: monitors,
        capture: monitors.then_some(80),
        busy_hosts: true,
        ..Options::default()
    };
    let network = Network::up_with(profiles::find("dumbbell")?, 1, &options)?;
    let delays = (!round_trip.is_zero()).then_some((delays, round_trip));
    let report = std::thread::scope(|scope| {
        let work = || play(&network, delays, at_once, Duration::from_secs(seconds));
        scope.spawn(work).join().expect("the bench does not panic")
    })?;
    print(&report)
}

/// Plays connections on both hosts for `span`, after a second of warming up.
fn play(
    network: &Network,
    delays: Option<(Assigned, Duration)>,
    at_once: u64,
    span: Duration,
) -> Outcome<String> {
    let address = |node: &str, port| Some(SocketAddr::new(network.address(node, false)?, port));
    let to = address("right", 80).ok_or("no right host")?;
    let bind = || {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
        socket.bind(&to.into())?;
        socket.listen(65_535)?;
        Ok::<_, Box<dyn std::error::Error + Send + Sync>>(socket)
    };
    let listener: TcpListener = network.node("right")?.run(bind)?.into();
    listener.set_nonblocking(true)?;
    network.node("left")?.enter()?;
    let poll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    let listening = epoll::EventData::new_u64(LISTENER);
    epoll::add(&poll, &listener, listening, epoll::EventFlags::IN)?;
    let mut bench = Bench {
        poll,
        listener,
        from: address("left", 0).ok_or("no left host")?,
        delays,
        near: HashMap::new(),
        far: HashMap::new(),
        accepted: 0,
        next_port: 1_024,
        done: 0,
    };
    for slot in 0..at_once {
        bench.begin(slot)?;
    }
    bench.run(clock::now() + Duration::from_secs(1))?;
    let before = (Figures::of(network), bench.done);
    bench.run(clock::now() + span)?;
    let after = Figures::of(network);
    Ok(after.since(&before.0, bench.done - before.1))
}

impl Bench {
    fn run(&mut self, until: Instant) -> Outcome<()> {
        let mut events = Vec::with_capacity(512);
        while clock::now() < until {
            let timeout = Timespec {
                tv_sec: 0,
                tv_nsec: 10_000_000,
            };
            epoll::wait(
                &self.poll,
                rustix::buffer::spare_capacity(&mut events),
                Some(&timeout),
            )?;
            for event in events.drain(..) {
                match event.data.u64() {
                    LISTENER => self.accept()?,
                    token if token >= FAR => self.answer(token),
                    slot => self.go_on(slot)?,
                }
            }
        }
        Ok(())
    }

    /// A new connection in `slot`.
    fn begin(&mut self, slot: u64) -> Outcome<()> {
        let to = self.listener.local_addr()?;
        let socket = Socket::new(Domain::IPV4, Type::STREAM.nonblocking(), None)?;
        socket.set_reuse_address(true)?;
        loop {
            self.next_port = self.next_port.checked_add(1).unwrap_or(1_024);
            self.from.set_port(self.next_port);
            if socket.bind(&self.from.into()).is_ok() {
                break;
            }
        }
        let flows = [flow(self.from, to), flow(to, self.from)];
        if let Some((delays, round_trip)) = &self.delays {
            let share = 0.5 + f64::from(self.next_port % 1_000) / 1_000.0;
            for flow in flows {
                delays.set(flow, round_trip.mul_f64(share / 2.0));
            }
        }
        // What is in progress is no error.
        let _ = socket.connect(&to.into());
        let flags = epoll::EventFlags::IN | epoll::EventFlags::OUT | epoll::EventFlags::ET;
        epoll::add(&self.poll, &socket, epoll::EventData::new_u64(slot), flags)?;
        let near = Near {
            socket,
            flows,
            has_asked: false,
        };
        self.near.insert(slot, near);
        Ok(())
    }

    fn accept(&mut self) -> Outcome<()> {
        while let Ok((stream, _)) = self.listener.accept() {
            stream.set_nonblocking(true)?;
            self.accepted += 1;
            let data = epoll::EventData::new_u64(FAR + self.accepted);
            epoll::add(&self.poll, stream.as_fd(), data, epoll::EventFlags::IN)?;
            self.far.insert(FAR + self.accepted, stream.into());
        }
        Ok(())
    }

    /// The far end answers and is done.
    fn answer(&mut self, token: u64) {
        if let Some(mut socket) = self.far.remove(&token) {
            let mut buffer = [0; 1_024];
            let _ = socket.read(&mut buffer);
            let _ = socket.write(&RESPONSE);
        }
    }

    /// The near end asks, or hears the end of the answer and begins anew.
    fn go_on(&mut self, slot: u64) -> Outcome<()> {
        let Some(near) = self.near.get_mut(&slot) else {
            return Ok(());
        };
        if !near.has_asked {
            near.has_asked = near.socket.write(&REQUEST).is_ok();
        }
        let mut buffer = [0; 4_096];
        loop {
            match near.socket.read(&mut buffer) {
                Ok(0) => break,
                Ok(_) => {}
                Err(e) if e.kind() == std::io::ErrorKind::WouldBlock => return Ok(()),
                Err(_) => break,
            }
        }
        if let Some((delays, _)) = &self.delays {
            for flow in near.flows {
                delays.clear(flow);
            }
        }
        self.near.remove(&slot);
        self.done += 1;
        self.begin(slot)
    }
}

/// What has been used so far.
struct Figures {
    at: Instant,
    emulator: Duration,
    bench: Duration,
    packets: u64,
    late: [Duration; 2],
    unwritten: u64,
}

impl Figures {
    fn of(network: &Network) -> Self {
        // The counters are published every 10 ms.
        clock::sleep_until(clock::now() + Duration::from_millis(20));
        let counters: Vec<_> = network
            .links()
            .iter()
            .map(|link| link.take_log().quality)
            .collect();
        let worst = |of: fn(&isobath_lab::Quality) -> Duration| {
            counters.iter().map(of).max().unwrap_or_default()
        };
        Self {
            at: clock::now(),
            emulator: network.cpu(),
            bench: clock::thread_cpu(),
            packets: counters.iter().map(|quality| quality.packets).sum(),
            late: [
                worst(|quality| quality.late_p50),
                worst(|quality| quality.late_p99),
            ],
            unwritten: counters.iter().map(|quality| quality.unwritten).sum(),
        }
    }

    fn since(&self, before: &Self, connections: u64) -> String {
        let seconds = self.at.since(before.at).as_secs_f64();
        let packets = (self.packets - before.packets) as f64;
        let emulator = self.emulator.saturating_sub(before.emulator).as_secs_f64();
        let bench = self.bench.saturating_sub(before.bench).as_secs_f64();
        format!(
            "{:.0} packets/s, {:.0} connections/s; emulator {:.0} % of a processor, {:.2} us a packet; ends {:.0} %; \
             late {:?} median, {:?} 99 %; unwritten {}",
            packets / seconds,
            connections as f64 / seconds,
            emulator / seconds * 100.0,
            emulator / packets * 1e6,
            bench / seconds * 100.0,
            self.late[0],
            self.late[1],
            self.unwritten,
        )
    }
}

fn print(report: &str) -> Outcome<()> {
    writeln!(std::io::stdout(), "{report}")?;
    Ok(())
}
