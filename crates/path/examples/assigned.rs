//! What a packet costs in a delay that is assigned by connection: 100,000 flows, while another thread sets and clears.
//!
//! ```console
//! $ cargo run --release -p isobath-path --example assigned
//! ```

use isobath_path::{Assigned, ConnectionDelay, Delay, DelayModel, Element, Family, Fixed, Packet};
use std::collections::VecDeque;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use units::{Dscp, Ecn, FlowId, Instant};

const FLOWS: u64 = 100_000;
const PACKETS: u64 = 5_000_000;
/// A packet every 2 us: 500,000 a second, each 25 to 375 ms in flight, so 100,000 at once.
const GAP: Duration = Duration::from_micros(2);

/// As a hash would have it.
fn flow(number: u64) -> FlowId {
    FlowId((number % FLOWS + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

fn delay(number: u64) -> Duration {
    Duration::from_micros(25_000 + number * 7_919 % 350_000)
}

/// Processor time per packet through `model`, and the most that were in flight.
fn cost(model: impl DelayModel) -> (f64, u64) {
    let mut delay = Delay::new(model);
    let (mut out, mut most) = (VecDeque::new(), 0);
    let before = cpu();
    let mut at = Instant::ZERO;
    for number in 0..PACKETS {
        at += GAP;
        let packet = Packet {
            size: 1_500,
            flow: flow(number.wrapping_mul(48_271)),
            family: Family::V4,
            dscp: Dscp::CS0,
            ecn: Ecn::NotEct,
            at,
            // About what the lab keeps of a packet.
            body: [0_u64; 5],
        };
        delay.process(Some(packet), at, &mut out);
        most = most.max(delay.counters().queued.packets);
        out.clear();
    }
    (
        cpu().saturating_sub(before).as_secs_f64() * 1e9 / PACKETS as f64,
        most,
    )
}

/// Processor time of this thread.
fn cpu() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = text
        .split_whitespace()
        .next()
        .and_then(|word| word.parse().ok());
    Duration::from_nanos(nanos.unwrap_or_default())
}

fn main() -> std::io::Result<()> {
    let table = Assigned::default();
    for number in 0..FLOWS {
        table.set(flow(number), delay(number));
    }
    let mut out = std::io::stdout();
    let (fixed, most) = cost(Fixed::new(Duration::from_millis(200)));
    writeln!(
        out,
        "the same delay for all      {fixed:6.0} ns a packet, {most} in flight"
    )?;
    let (alone, most) = cost(ConnectionDelay::new(table.clone()));
    writeln!(
        out,
        "assigned                    {alone:6.0} ns a packet, {most} in flight"
    )?;
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let work = || {
            let mut writes: u64 = 0;
            while !stop.load(Ordering::Relaxed) {
                table.clear(flow(writes));
                table.set(flow(writes), delay(writes));
                writes += 1;
                std::hint::spin_loop();
            }
            writes
        };
        let writer = scope.spawn(work);
        let (shared, most) = cost(ConnectionDelay::new(table.clone()));
        stop.store(true, Ordering::Relaxed);
        let rate = writer.join().unwrap_or_default() as f64 / (shared * PACKETS as f64 / 1e9);
        writeln!(
            out,
            "assigned, while another sets {shared:5.0} ns a packet, {most} in flight, {rate:.0} flows/s set and cleared"
        )
    })
}
