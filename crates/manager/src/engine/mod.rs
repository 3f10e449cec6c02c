//! The thread that moves packets: between the interface, the [`machine`](super::machine) and the peers' sockets.
//!
//! There is one, and it alone has the machine, so nothing is locked. Others ask it by [`Command`]s. It sleeps in the kernel until a
//! packet, a command or a deadline comes. While a transaction is under way it is exact: before a probe is due it stops sleeping and waits on the
//! clock ([`sys::pacer`]), and between two probes that are close it moves one packet each way at a time, so that
//! no batch makes a probe late.

mod command;
mod inside;
mod line;
mod obey;

pub(crate) use command::{Command, Handle};
pub(crate) use line::{Joined, Keys};

use super::config::Config;
use super::machine::Machine;
use command::Orders;
use inside::Interface;
use line::Line;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use sys::pacer::Pacer;
use sys::poll::any_readable;
use sys::tun::Tun;
use sys::udp::{BATCH, RecvBatch};
use sys::{Error, clock, handle};
use units::{Instant, Stamp};

/// Bursts that are read from the interface before the sockets are looked at again, and batches from one socket.
const TURNS: usize = 8;
/// `stop` is looked at this often.
const TICK: Duration = Duration::from_millis(100);
/// The clocks are compared again after this long: by then slewing has moved them apart by half a microsecond at most.
const STAMP: Duration = Duration::from_millis(1);
/// With more time than this before a probe, packets are moved in batches, which take a few milliseconds at most.
const FAR: Duration = Duration::from_millis(10);
/// Within this time of a probe nothing sleeps in the kernel.
const NEAR: Duration = Duration::from_micros(200);
/// Within this time of a probe nothing else is done: moving a packet each way takes some 15 us. A burst that is read from the interface takes
/// longer, and makes a probe late that is due sooner; the audit tells.
const STILL: Duration = Duration::from_micros(40);

/// See the [module](self).
pub(crate) struct Engine {
    machine: Machine,
    interface: Interface,
    /// By peer, where there is a session.
    lines: Vec<Option<Line>>,
    orders: Orders,
    stamp: Stamp,
    batch: RecvBatch,
    single: RecvBatch,
}

impl Engine {
    /// An engine with no sessions yet, and the way to give it commands.
    ///
    /// # Errors
    ///
    /// When the system gives no descriptors.
    pub(crate) fn new(config: &Config, tun: Tun) -> std::io::Result<(Self, Handle)> {
        let (handle, orders) = command::channel()?;
        // No datagram is longer than the packet that it is in.
        let longest = usize::from(config.mtu);
        let engine = Self {
            machine: Machine::new(config, clock::now()),
            interface: Interface::new(tun),
            lines: config.peers.iter().map(|_| None).collect(),
            orders,
            stamp: clock::stamp(),
            batch: RecvBatch::new(BATCH, longest),
            single: RecvBatch::new(1, longest),
        };
        Ok((engine, handle))
    }

    /// Moves packets until `stop` is raised.
    ///
    /// # Errors
    ///
    /// When the interface or the system's timers are gone.
    pub(crate) fn run(mut self, stop: &AtomicBool) -> Result<(), Error> {
        let mut pacer = Pacer::calibrate()?;
        while !stop.load(Ordering::Relaxed) {
            self.transmit();
            let now = clock::now();
            let due = self.machine.next_timeout();
            if self.machine.keeps_time() {
                self.be_exact(due, now, &mut pacer)?;
            } else {
                // What wakes is late by some tens of microseconds, which only probes mind.
                self.wait(due.min(now + TICK));
                self.obey();
                self.serve()?;
            }
        }
        Ok(())
    }

    /// Does a little while there is time for it, and is there when a probe is due.
    fn be_exact(&mut self, due: Instant, now: Instant, pacer: &mut Pacer) -> Result<(), Error> {
        if due <= now + STILL {
            pacer.wait_until(due);
            return Ok(());
        }
        if due > now + NEAR {
            self.wait((due - NEAR).min(now + TICK));
        }
        self.obey();
        if due > clock::now() + FAR {
            self.serve()
        } else {
            self.serve_little()
        }
    }

    /// Sleeps until something can be read, or until `deadline`. A socket that is full of what the path says of single datagrams does not
    /// work, so that is read, too.
    fn wait(&mut self, deadline: Instant) {
        let sockets = self.lines.iter().flatten();
        let sockets = sockets.map(|line| handle(&line.socket));
        let others = [self.interface.handle(), handle(&self.orders.woken)];
        let all = others.into_iter().chain(sockets);
        if any_readable(all, deadline.since(clock::now())) {
            self.take_events();
        }
    }

    /// Takes what paths have said of single datagrams.
    fn take_events(&mut self) {
        for (index, line) in self.lines.iter().enumerate() {
            if line.as_ref().is_some_and(Line::is_too_long) {
                self.machine.too_long(index, clock::now());
            }
        }
    }

    /// Takes what waits on the interface and on all sockets, in turns.
    fn serve(&mut self) -> Result<(), Error> {
        self.compare_clocks();
        for index in 0..self.lines.len() {
            for _ in 0..TURNS {
                if self.receive(index, BATCH) < BATCH {
                    break;
                }
            }
        }
        for _ in 0..TURNS {
            if !self.read()? {
                break;
            }
            self.transmit();
            // What was read has begun a train.
            if self.machine.keeps_time() {
                break;
            }
        }
        Ok(())
    }

    /// Takes one packet from the interface and one datagram from each socket.
    fn serve_little(&mut self) -> Result<(), Error> {
        self.compare_clocks();
        for index in 0..self.lines.len() {
            self.receive(index, 1);
        }
        self.read().map(|_| ())
    }

    fn compare_clocks(&mut self) {
        if clock::now().since(self.stamp.mono) >= STAMP {
            self.stamp = clock::stamp();
        }
    }

    /// Reads from the interface once, and offers what there is; false when nothing is there.
    fn read(&mut self) -> Result<bool, Error> {
        let (now, machine) = (clock::now(), &mut self.machine);
        let count = self
            .interface
            .read(now, |packet| machine.offer(packet, now))?;
        let Some(count) = count else { return Ok(false) };
        let counters = machine.inside();
        counters.read += count as u64;
        counters.malformed += u64::from(count == 0);
        Ok(true)
    }

    /// Takes up to `most` datagrams from a peer; how many there were.
    fn receive(&mut self, index: usize, most: usize) -> usize {
        let Some(Some(line)) = self.lines.get_mut(index) else {
            return 0;
        };
        let batch = if most == 1 {
            &mut self.single
        } else {
            &mut self.batch
        };
        // A socket that fails is replaced with its session.
        let count = line.socket.recv(batch).unwrap_or(0);
        let now = clock::now();
        for datagram in batch.iter() {
            let octets = datagram.payload;
            if line.takes_word(octets, now) {
                continue;
            }
            let arrived = datagram.wall_ns.unwrap_or_else(|| self.stamp.wall_at(now));
            let tag = |before: &[u8], after: &[u8]| line.tag(before, after);
            // What is refused is counted there.
            let Ok(packet) = self.machine.receive(index, octets, arrived, now, tag) else {
                continue;
            };
            line.hear(now);
            if let Some(packet) = packet {
                self.interface.push(packet, now);
            }
        }
        let [written, undelivered] = self.interface.flush();
        self.machine.inside().written += written;
        let overflows = if count > 0 {
            line.overflowed(batch.overflows())
        } else {
            0
        };
        if let Some(carriage) = self.machine.carriage(index) {
            carriage.undelivered += undelivered;
            carriage.overflows += overflows;
        }
        count
    }

    /// Sends what is due, and tells tools what came of their transactions.
    fn transmit(&mut self) {
        let is_exact = self.machine.keeps_time();
        for (index, line) in self.lines.iter_mut().enumerate() {
            let Some(line) = line else { continue };
            line.transmit(&mut self.machine, index, is_exact, self.stamp);
            self.machine.settle(index);
        }
    }
}
