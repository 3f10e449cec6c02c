//! How fast the simulator is: a dumbbell of N transfers, told as JSON.
//!
//! ```text
//! dumbbell FLOWS SECONDS
//! ```
//!
//! 100 Mbit/s and 10 ms with a queue of 167 packets; each host has 1 Gbit/s and 1 ms of its own; transfers start 1 ms after
//! each other. The times are those of the event loop alone. bench/sim-peers sets it beside htsim and ns-3.

use isobath_sim::{Duplex, End, Plan, Transfers, pipeline};
use path::{Limit, QueueSpec, Spec, StageSpec};
use std::error::Error;
use std::time::Duration;
use transport::Options;

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let mut number = |default: u64| words.next().map_or(Ok(default), |word| word.parse());
    let (flows, seconds) = (number(10)?, number(60)?);
    let plans = (0..flows).map(|number| {
        let mut plan = Plan::new(Options::default(), End::After(Duration::from_secs(seconds)));
        plan.start = Duration::from_millis(number);
        plan.seed = number;
        (plan, [(), ()])
    });
    let access = || -> Result<Duplex, Box<dyn Error>> { link("1Gbit", "1ms", 1_000) };
    let mut transfers = Transfers::over(plans, vec![link("100Mbit", "10ms", 167)?], |_| {
        Some((access().ok()?, access().ok()?))
    });
    let (began, busy) = (clock(), on_processor()?);
    transfers.run();
    let (wall, cpu) = (began.elapsed().as_secs_f64(), on_processor()? - busy);
    let reports = transfers.reports();
    let bytes: u64 = reports.iter().map(|report| report.sent.acked_bytes).sum();
    let mbps = bytes as f64 * 8e-6 / seconds as f64;
    let events = transfers.world().work().events();
    println!(
        "{{\"wall_s\": {wall}, \"cpu_s\": {cpu}, \"packet_events\": {events}, \"mbps\": {mbps}}}"
    );
    Ok(())
}

fn link(rate: &str, delay: &str, packets: u32) -> Result<Duplex, Box<dyn Error>> {
    let spec = Spec(vec![
        StageSpec::Rate {
            rate: rate.parse()?,
            queue: QueueSpec::Fifo(Limit::packets(packets)),
            cross: None,
        },
        StageSpec::Delay {
            delay: delay.parse()?,
        },
    ]);
    Ok((pipeline(&spec, 0)?, pipeline(&spec, 0)?))
}

/// Seconds that this thread has run: on a busy machine the honest figure.
fn on_processor() -> Result<f64, Box<dyn Error>> {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    let ns = stat
        .split_whitespace()
        .next()
        .ok_or("no time in schedstat")?;
    Ok(ns.parse::<f64>()? / 1e9)
}

#[expect(
    clippy::disallowed_methods,
    reason = "what is measured here is the simulator, not what it simulates"
)]
fn clock() -> std::time::Instant {
    std::time::Instant::now()
}
