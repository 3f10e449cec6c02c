//! Others' connections: what a few people with browsers put on a link.
//!
//! T (section 5.1.2) has up to ten connections of the kernel's TCP at once, whose starts are Poisson distributed over intervals of 5 s, of
//! 64 KB to 5 MB, weighted towards 64 to 200 KB, from a fixed seed. Means it does not tell. Here five begin in 5 s on average; four in
//! five have an even distribution from 64 to 200 KB, and of the others the logarithm is even from there to 5 MB. That makes 3.4 Mbit/s
//! of payload on average, where 6 Mbit/s are left beside the application.

use super::source::{accept, drain, is_patience};
use lab::Network;
use stats::random::SplitMix64;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::Scope;
use std::time::Duration;
use sys::{clock, tcp};
use units::Instant;

/// Connections at once.
pub(super) const MOST: usize = 10;
/// Starts that belong together, and how many there are on average.
const INTERVAL: Duration = Duration::from_secs(5);
const MEAN: f64 = 5.0;
/// Octets of a connection.
const SMALLEST: f64 = 64e3;
const SMALL: f64 = 200e3;
const LARGEST: f64 = 5e6;
/// The share of those up to [`SMALL`].
const SMALL_SHARE: f64 = 0.8;
/// Where they go.
const PORT: u16 = 8_080;
const LOOK: Duration = Duration::from_millis(50);
const PATIENCE: Duration = Duration::from_secs(10);

/// A connection that is to be made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Flow {
    pub(super) start: Duration,
    pub(super) octets: u64,
}

/// The connections that begin within `duration`, in the order of their starts.
pub(super) fn draw(duration: Duration, seed: u64) -> Vec<Flow> {
    let mut chance = SplitMix64::new(seed ^ 0x7765_6200);
    let mut flows = Vec::new();
    let mut interval = Duration::ZERO;
    while interval < duration {
        // Exponential gaps until the interval is full: a Poisson number, evenly spread.
        let mut at = chance.exponential(INTERVAL.as_secs_f64() / MEAN);
        while at < INTERVAL.as_secs_f64() {
            let start = interval + Duration::from_secs_f64(at);
            let octets = octets(&mut chance);
            flows.push(Flow { start, octets });
            at += chance.exponential(INTERVAL.as_secs_f64() / MEAN);
        }
        interval += INTERVAL;
    }
    flows.retain(|flow| flow.start < duration);
    flows
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "between the smallest and the largest"
)]
fn octets(chance: &mut SplitMix64) -> u64 {
    let (is_small, share) = (chance.unit() < SMALL_SHARE, chance.unit());
    let octets = if is_small {
        SMALLEST + share * (SMALL - SMALLEST)
    } else {
        SMALL * (LARGEST / SMALL).powf(share)
    };
    octets.round() as u64
}

/// Has the connections made between two hosts, in threads that end when `over` is raised.
///
/// # Errors
/// When a host is missing or its port is taken.
pub(super) fn start<'scope>(
    scope: &'scope Scope<'scope, '_>,
    network: &'scope Network,
    ends: &'scope [String; 2],
    times: [Instant; 2],
    seed: u64,
    over: &'scope AtomicBool,
) -> anyhow::Result<()> {
    let [origin, end] = times;
    let [from, to] = [network.node(&ends[0])?, network.node(&ends[1])?];
    let listener = to.run(|| super::source::listen(PORT))?;
    let ip = network.address(&ends[1], false);
    let address = SocketAddr::new(
        ip.ok_or_else(|| anyhow::anyhow!("no IPv4 in this lab"))?,
        PORT,
    );
    scope.spawn(move || {
        while let Some(stream) = accept(&listener, over) {
            scope.spawn(move || drain(stream, over, |_| {}));
        }
    });
    let flows = std::sync::Arc::new((draw(end.since(origin), seed), AtomicUsize::new(0)));
    for _ in 0..MOST {
        let flows = std::sync::Arc::clone(&flows);
        scope.spawn(move || {
            if from.enter().is_ok() {
                let (flows, next) = &*flows;
                work(address, flows, next, origin, over);
            }
        });
    }
    Ok(())
}

/// Makes one connection after the other, each not before its time.
fn work(
    address: SocketAddr,
    flows: &[Flow],
    next: &AtomicUsize,
    origin: Instant,
    over: &AtomicBool,
) {
    while let Some(flow) = flows.get(next.fetch_add(1, Ordering::Relaxed)) {
        let start = origin + flow.start;
        while clock::now() < start && !over.load(Ordering::Relaxed) {
            clock::sleep_until(start.min(clock::now() + LOOK));
        }
        if over.load(Ordering::Relaxed) {
            return;
        }
        // A connection that does not come about is traffic that is not there.
        let _ = send(address, flow.octets, over);
    }
}

/// Sends so many octets, and waits until the other end has them.
fn send(address: SocketAddr, octets: u64, over: &AtomicBool) -> std::io::Result<()> {
    let mut stream = tcp::connect(address, PATIENCE)?;
    stream.set_write_timeout(Some(LOOK))?;
    stream.set_read_timeout(Some(LOOK))?;
    let chunk = [0; 16 << 10];
    let mut left = usize::try_from(octets).unwrap_or(usize::MAX);
    while left > 0 && !over.load(Ordering::Relaxed) {
        match stream.write(&chunk[..left.min(chunk.len())]) {
            Ok(count) => left -= count,
            Err(error) if is_patience(error.kind()) => {}
            Err(error) => return Err(error),
        }
    }
    stream.shutdown(Shutdown::Write)?;
    while !over.load(Ordering::Relaxed) {
        match stream.read(&mut [0; 1]) {
            Err(error) if is_patience(error.kind()) => {}
            _ => break,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Holds manager/cross-web.
    #[test]
    fn flows_are_as_many_and_as_large_as_told_and_the_same_again() {
        let flows = draw(Duration::from_secs(20_000), 1);
        assert_eq!(flows, draw(Duration::from_secs(20_000), 1));
        assert_ne!(flows, draw(Duration::from_secs(20_000), 2));
        assert!((19_500..20_500).contains(&flows.len()), "{}", flows.len());
        assert!(flows.is_sorted_by_key(|flow| flow.start));
        let all: u64 = flows.iter().map(|flow| flow.octets).sum();
        let mbps = all as f64 * 8e-6 / 20_000.0;
        assert!((3.2..3.6).contains(&mbps), "{mbps}");
        let small = flows.iter().filter(|flow| flow.octets <= 200_000).count();
        assert!((15_500..16_500).contains(&small), "{small}");
        assert!(
            flows
                .iter()
                .all(|flow| (64_000..=5_000_000).contains(&flow.octets))
        );
    }
}
