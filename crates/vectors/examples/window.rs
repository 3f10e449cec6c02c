//! Octets within the hour of a synthesis, for two structures, with and without connections in progress at its beginning:
//! `cargo run --release -p isobath-vectors --example window -- unc-2008 SECONDS SHARE SEED`.
//!
//! What is counted are octets that pass within the time, over a network without queues: an ADU waits for half a round trip after
//! one of the other end, a window of it passes at once, and the rest a window each round trip.
use isobath_vectors::describe::Describer;
use isobath_vectors::model::{Latencies, Structure};
use isobath_vectors::synth::{Fit, Synthesis};
use isobath_vectors::{Body, Turn, Vector};
use std::error::Error;
use std::time::Duration;

/// What is counted of a set.
#[derive(Default)]
struct Sum {
    vectors: u64,
    octets: f64,
    within: [f64; 3],
    /// Seconds that connections are open within the time.
    open: f64,
    waiting: f64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, seconds, share, seed] = arguments.as_slice() else {
        return Err("usage: window FIT SECONDS SHARE SEED".into());
    };
    let fit = Fit::named(name)?;
    let seconds: f64 = seconds.parse()?;
    let share: f64 = share.parse()?;
    let [sequential, concurrent] = fit.mean_bytes();
    let mean = sequential + fit.concurrent_share * (concurrent - sequential);
    println!(
        "expected: {:.1} starts, {:.3} GB",
        fit.starts_per_second * share * seconds,
        fit.starts_per_second * share * seconds * mean / 1e9
    );
    let span = Duration::from_secs_f64(seconds);
    let synthesis = Synthesis::new(&fit, span, share, seed.parse()?);
    report("cold", synthesis.clone(), seconds);
    let stationary = synthesis.stationary();
    println!("in progress at the start: {}", stationary.in_progress());
    let describer = report("stationary", stationary, seconds);
    for statement in fit.statements() {
        let made = statement.statistic.of(&describer, statement.measure);
        let error = made.unwrap_or(f64::NAN) / statement.published - 1.0;
        println!("{statement}  made {:+.2} %", 100.0 * error);
    }
    println!("{:?}", describer.describe(name).connections);
    Ok(())
}

fn report(name: &str, set: impl Iterator<Item = Vector>, seconds: f64) -> Describer {
    let structures = [Structure::ATBT, Structure::AB, Structure::BlockConcurrent];
    let mut sum = Sum::default();
    let mut describer = Describer::default();
    for vector in set {
        describer.enter(&vector);
        sum.vectors += 1;
        let octets: u64 = vector.body.turns().iter().map(|turn| turn.bytes).sum();
        sum.octets += octets as f64;
        let (_, end) = played(&vector, 0.0, seconds);
        sum.open += end.min(seconds) - vector.start.as_secs_f64();
        sum.waiting += end - vector.start.as_secs_f64();
        for (within, structure) in sum.within.iter_mut().zip(structures) {
            let pieces = structure.apply(vector.clone(), &Latencies::default());
            for (_, piece) in pieces.iter() {
                *within += played(piece, 0.5, seconds).0;
            }
        }
    }
    println!(
        "{name}: {} vectors, {:.3} GB; within the time a-t-b-t {:.3}, a-b {:.3}, block-concurrent {:.3} GB; open {:.0} on average, {:.1} s each",
        sum.vectors,
        sum.octets / 1e9,
        sum.within[0] / 1e9,
        sum.within[1] / 1e9,
        sum.within[2] / 1e9,
        sum.open / seconds,
        sum.waiting / sum.vectors as f64,
    );
    describer
}

/// Octets that pass before `seconds`, and when the last has passed.
fn played(vector: &Vector, trips: f64, seconds: f64) -> (f64, f64) {
    let rtt = vector.min_rtt.unwrap_or_default().as_secs_f64();
    let mut clocks = [vector.start.as_secs_f64(); 2];
    let mut before: Option<Turn> = None;
    let mut octets = 0.0;
    for turn in vector.body.turns() {
        let lane = match vector.body {
            Body::Sequential { .. } => 0,
            Body::Concurrent { .. } => turn.side.index(),
        };
        if lane == 0 && before.is_some_and(|before| before.side != turn.side) {
            clocks[lane] += trips * rtt;
        }
        let begin = clocks[lane] + turn.wait.as_secs_f64();
        let window = f64::from(vector.windows[turn.side.other().index()]);
        let bytes = turn.bytes as f64;
        let takes = rtt * (bytes / window - 1.0).max(0.0);
        clocks[lane] = begin + takes;
        if begin < seconds {
            let passed = window * (1.0 + (seconds - begin) / rtt);
            octets += bytes.min(passed);
        }
        before = Some(*turn);
    }
    (octets, clocks[0].max(clocks[1]))
}
