//! A load by UDP: datagrams at a rate, whatever arrives, as video or a tunnel sends them.
//!
//! Each is a [`Probe`] that wants no reply, with its number and the session's tag. Up to some 10 Mbit/s each datagram leaves in its own moment; above,
//! those of a millisecond leave together. What could not be sent in time is left out: made up for, it would be a burst.

use super::line::Line;
use kit::sampler::DatagramCounters;
use kit::stream::{PATIENCE, wait_until};
use session::TagKey;
use session::wire::{Kind, Probe};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use sys::udp::{BATCH, RecvBatch};
use sys::{Error, clock};
use units::{Instant, Rate};

/// Payload of a datagram, octets: with all headers it fits every path of the Internet.
pub(crate) const PAYLOAD: usize = 1_200;
/// No two wake-ups are nearer.
const QUANTUM: Duration = Duration::from_millis(1);
/// What is later than this is left out.
const BEHIND: Duration = Duration::from_millis(10);
/// Until the other end sends it is asked this often; its first datagrams open what stands between.
const ASK: Duration = Duration::from_millis(100);
/// What comes so long after the load's end has waited in a longer queue than any; it counts as lost.
pub(crate) const LATE: Duration = Duration::from_secs(5);
/// Octets that the kernel keeps for whoever receives, where it may.
const ROOM: usize = 4 << 20;

/// From one datagram to the next at `rate` of payload.
pub(crate) fn interval(rate: Rate) -> Duration {
    Duration::from_secs_f64(PAYLOAD as f64 * 8.0 / rate.as_bps() as f64)
}

/// The number of the datagram whose moment is the latest at `passed` after the start.
fn latest(passed: Duration, interval: Duration) -> u32 {
    u32::try_from(passed.as_nanos() / interval.as_nanos().max(1)).unwrap_or(u32::MAX)
}

/// Sends at `rate` from `start` until `until`, and counts what it has sent.
///
/// # Errors
/// When nothing could be sent for the whole time, for the last reason.
pub(crate) fn send(
    line: &Line<'_>,
    rate: Rate,
    (start, until): (Instant, Instant),
    counters: &DatagramCounters,
    abort: &dyn Fn() -> bool,
) -> Result<(), Error> {
    // Without it every wake-up would be 50 us late; it only fails where /proc is closed.
    let _ = clock::timer_slack(1);
    let interval = interval(rate);
    let late = latest(BEHIND, interval).max(1);
    let mut buffers = vec![[0; PAYLOAD]; BATCH];
    let (mut next, mut failure) = (0_u32, None);
    let mut due = start;
    while due < until && wait_until(due, abort) {
        let now = clock::now();
        // Whoever wakes up after the end sends what was due before it.
        let last = latest(now.min(until).since(start), interval);
        next = next.max(last.saturating_sub(late));
        let count = (last.saturating_add(1).saturating_sub(next) as usize).min(BATCH);
        let sent = send_from(line, next, &mut buffers[..count]).unwrap_or_else(|error| {
            // No route for the moment.
            failure = Some(error);
            0
        });
        counters.sent.fetch_add(u64::from(sent), Ordering::Relaxed);
        next += sent;
        let is_behind = next <= last && sent > 0;
        due = if is_behind {
            now
        } else {
            (start + interval * next).max(now + QUANTUM)
        };
    }
    match failure {
        Some(error) if counters.sent.load(Ordering::Relaxed) == 0 => Err(error),
        _ => Ok(()),
    }
}

/// Sends datagrams from number `first` on, as many as there are buffers; how many the system took.
fn send_from(line: &Line<'_>, first: u32, buffers: &mut [[u8; PAYLOAD]]) -> Result<u32, Error> {
    for (sequence, buffer) in (first..).zip(buffers.iter_mut()) {
        line.emit(sequence, Kind::OneWay, buffer);
    }
    let batch: Vec<_> = buffers.iter().map(|buffer| line.outgoing(buffer)).collect();
    let sent = line.socket.send(&batch)?;
    Ok(u32::try_from(sent.count).unwrap_or(0))
}

/// Asks the far end to send (by `ask`, whose socket is connected to it), and counts what comes until `until`.
///
/// # Errors
/// When the socket cannot be used.
pub(crate) fn receive(
    ask: &Line<'_>,
    key: &TagKey,
    until: Instant,
    counters: &DatagramCounters,
    abort: &dyn Fn() -> bool,
) -> Result<(), Error> {
    // Where the system grants less, some may find no room at high rates: that is told.
    let _ = ask.socket.set_buffers(ROOM, ROOM);
    let mut batch = RecvBatch::new(BATCH, 2_048);
    let mut request = vec![0; Probe::LEN];
    let (mut asked, mut ask_at) = (0, clock::now());
    loop {
        let now = clock::now();
        if now >= until || abort() {
            let overflows = batch.overflows();
            counters
                .overflows
                .store(overflows.into(), Ordering::Relaxed);
            return Ok(());
        }
        if counters.first.get().is_none() && now >= ask_at {
            ask.emit(asked, Kind::Request, &mut request);
            // Whether it could be sent or not: it is tried again.
            let _ = ask.socket.send(&[ask.outgoing(&request)]);
            (asked, ask_at) = (asked + 1, now + ASK);
        }
        let ready = ask.socket.wait(until.since(now).min(PATIENCE))?;
        if ready.event {
            while ask.socket.poll_event()?.is_some() {}
        }
        while ask.socket.recv(&mut batch)? > 0 {
            let ours = batch
                .iter()
                .filter(|datagram| ask.ours(datagram.payload, key).is_some());
            for datagram in ours {
                counters.receives(datagram.payload.len());
            }
        }
    }
}

/// Octets of what was sent.
pub(crate) fn octets(sent: &AtomicU64) -> u64 {
    sent.load(Ordering::Relaxed).saturating_mul(PAYLOAD as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use session::{DataKey, DataKeys};
    use std::net::Ipv4Addr;
    use std::sync::OnceLock;
    use sys::udp::UdpSocket;
    use units::TrafficClass;

    #[test]
    fn a_load_has_its_rate() {
        let of = |bps| interval(Rate::from_bps(bps).unwrap());
        assert_eq!(of(9_600), Duration::from_secs(1));
        assert_eq!(of(96_000_000), Duration::from_micros(100));
        let ten = of(960_000);
        assert_eq!(latest(Duration::ZERO, ten), 0);
        assert_eq!(latest(Duration::from_millis(25), ten), 2);
    }

    #[test]
    fn datagrams_are_counted_where_they_arrive_and_others_are_not() {
        let bind = || UdpSocket::bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
        let (near, far) = (bind(), bind());
        let mut near = near;
        near.connect(far.local_addr().unwrap()).unwrap();
        let keys = DataKeys::from(DataKey::new([7; 32]));
        let line = |socket, to, key| Line {
            socket,
            to,
            from: None,
            key,
            session: 7,
            stream: 3,
            class: TrafficClass::default(),
        };
        let sent = DatagramCounters::default();
        let received = DatagramCounters::default();
        let ended = OnceLock::new();
        let start = clock::now();
        let to = near.local_addr().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let rate = Rate::from_bps(19_200_000).unwrap();
                // From now on: a busy machine begins late.
                let start = clock::now();
                let until = start + Duration::from_millis(300);
                let own = line(&far, Some(to), &keys.to_client);
                send(&own, rate, (start, until), &sent, &|| false).unwrap();
                // Of another stream, and with a tag of nobody's.
                let mut other = line(&far, Some(to), &keys.to_client);
                other.stream = 4;
                let forged = line(&far, Some(to), &keys.to_server);
                for line in [other, forged] {
                    send_from(&line, 0, &mut [[0; PAYLOAD]]).unwrap();
                }
                let _ = ended.set(clock::now());
            });
            let ask = line(&near, None, &keys.to_server);
            let count = |of: &AtomicU64| of.load(Ordering::Relaxed);
            // All has come, and nothing of nobody's has after it; or it never will.
            let over = || {
                let all = count(&received.received) == count(&sent.sent);
                let wait = Duration::from_millis(if all { 100 } else { 5_000 });
                ended.get().is_some_and(|at| clock::now() >= *at + wait)
            };
            let long = start + Duration::from_secs(60);
            receive(&ask, &keys.to_client, long, &received, &over).unwrap();
            assert!(received.first.get().is_some());
        });
        let [sent, came] = [&sent.sent, &received.received].map(|n| n.load(Ordering::Relaxed));
        // 600 at that rate; a busy machine sends fewer, and loopback loses none.
        assert!((1..=601).contains(&sent), "{sent}");
        assert_eq!(came, sent);
        assert_eq!(
            octets(&received.received),
            received.octets.load(Ordering::Relaxed)
        );
    }
}
