//! The monitors on the bottleneck beyond those that every lab has (D, section 4.1.3): what comes to its queue, who is alive, and the
//! packets themselves.

use super::active::{Seconds, Signal};
use super::capture::{CAPTURE, Capture};
use super::nanos;
use super::plan::Plan;
use super::tables::{Active, Offered};
use kit::lab_counters::Extra;
use std::io;
use std::path::Path;
use std::time::Duration;
use sys::clock;
use units::Instant;

/// The two directions of a link are logged one after the other; what is younger than this waits for the other's.
const SETTLE: Duration = Duration::from_millis(50);

/// All of them.
pub struct Monitors {
    origin: Instant,
    /// The link that is watched.
    link: Option<String>,
    seconds: Seconds,
    signals: Vec<lab::Signal>,
    packets: Vec<Kept>,
    tap: Option<Capture>,
}

/// Rows for the record.
#[derive(Default)]
pub struct Rows {
    /// What came to the queues of the bottleneck, in bins.
    pub offered: Vec<Offered>,
    /// Connections alive, second by second.
    pub active: Vec<Active>,
}

/// A packet that waits to be written.
struct Kept {
    at: Instant,
    is_up: bool,
    length: u32,
    octets: Box<[u8]>,
}

impl Monitors {
    /// Monitors on the links whose names are `link`, for a run that starts at `origin`; a capture goes to `folder`, if the plan wants one.
    ///
    /// # Errors
    /// When the capture cannot be begun.
    pub fn new(
        plan: &Plan,
        link: Option<String>,
        origin: Instant,
        folder: &Path,
    ) -> io::Result<Self> {
        let tap = (plan.capture).then(|| Capture::create(&folder.join(CAPTURE), clock::stamp()));
        Ok(Self {
            origin,
            link,
            seconds: Seconds::default(),
            signals: Vec::new(),
            packets: Vec::new(),
            tap: tap.transpose()?,
        })
    }

    /// Takes what a direction of a link has logged.
    pub fn enter(&mut self, extra: Extra, rows: &mut Rows) {
        if self.link.as_ref() != Some(&extra.link) {
            return;
        }
        let is_up = extra.direction == "up";
        let origin = self.origin;
        let bins = extra.arrivals.iter().filter(|bin| bin.at >= origin);
        rows.offered.extend(bins.map(|bin| Offered {
            t_ns: nanos(bin.at.since(origin)),
            link: extra.link.clone().into(),
            direction: extra.direction.into(),
            packets: bin.packets.into(),
            bytes: bin.bytes.into(),
        }));
        self.signals.extend(extra.signals);
        if let Some(tap) = &mut self.tap {
            tap.lost(is_up, extra.uncaptured);
            self.packets.extend(extra.capture.iter().map(|packet| Kept {
                at: packet.at,
                is_up,
                length: packet.length,
                octets: packet.octets.into(),
            }));
        }
    }

    /// Makes rows and packets of what is certain at `now`.
    ///
    /// # Errors
    /// When the capture cannot be written.
    pub fn settle(&mut self, now: Instant, rows: &mut Rows) -> io::Result<()> {
        let until = now - SETTLE;
        self.signals.sort_by_key(|signal| signal.at);
        let ready = self.signals.partition_point(|signal| signal.at < until);
        for signal in self.signals.drain(..ready) {
            let second = signal.at.since(self.origin).as_secs();
            self.seconds.advance(second, &mut rows.active);
            let said = Signal {
                syn: signal.syn(),
                fin: signal.fin(),
                rst: signal.rst(),
            };
            self.seconds.enter(signal.connection, said);
        }
        let second = until.since(self.origin).as_secs();
        self.seconds.advance(second, &mut rows.active);
        self.packets.sort_by_key(|packet| packet.at);
        let ready = self.packets.partition_point(|packet| packet.at < until);
        if let Some(tap) = &mut self.tap {
            for packet in self.packets.drain(..ready) {
                tap.write(packet.is_up, packet.at, &packet.octets, packet.length)?;
            }
        }
        Ok(())
    }

    /// Ends the capture; the packets that are not in it.
    ///
    /// # Errors
    /// When the capture cannot be written.
    pub fn finish(mut self, now: Instant, rows: &mut Rows) -> io::Result<u64> {
        self.settle(now + SETTLE, rows)?;
        self.tap.map_or(Ok(0), |tap| tap.finish(now))
    }
}
