//! The vectors of a trial.

use super::Component;
use crate::replay::workload::{Host, Part, Workload};
use std::time::Duration;
use vectors::{Body, Loss, Side, Transport, Turn, Vector};

/// How long a load lasts.
const LOAD: Duration = Duration::from_secs(2);
/// The second of a trial that load is measured in, when everything is under way.
pub const MEASURED: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(2)];
/// From the end of the load until the rest is cut: a machine that is slower than this does not hold it.
const SLACK: Duration = Duration::from_secs(1);
/// How long connections that wait stay open after the last of them was opened.
const HOLD: Duration = Duration::from_millis(500);
/// What they wait for is after the end.
const LONG: Duration = Duration::from_secs(600);
/// Round-trip time where packets are counted.
const RTT: Duration = Duration::from_millis(10);
/// In a connection of many small exchanges, from an answer to the next request.
const PAUSE: Duration = Duration::from_millis(10);
/// Time over which these connections are opened.
const ENTRANCE: Duration = Duration::from_millis(500);
/// Octets of a large response.
const RESPONSE: u64 = 500_000;
/// Octets of it on the wire with headers, and of the acknowledgements of every second segment.
const ON_WIRE: f64 = RESPONSE as f64 * (1_500.0 + 26.0) / 1_448.0;

/// A trial, ready to be played.
pub struct Script {
    /// The connections that make the load.
    pub workload: Workload,
    /// When what is not over is cut.
    pub end: Duration,
    /// Requests that are to be answered before.
    pub answers: u64,
}

/// A load of so much of `component`, in its unit; connections that are to stay open are opened at `opening` a second.
pub fn script(component: Component, load: f64, opening: f64) -> Script {
    match component {
        Component::Starts => exchanges(load),
        Component::Open => waits(load, opening),
        Component::Packets => talks(load),
        Component::Rate => responses(load),
    }
}

fn exchanges(starts_per_s: f64) -> Script {
    let starts = starts(starts_per_s, LOAD);
    finish(starts, LOAD + SLACK, |start| {
        part(start, None, exchange(1).to_vec())
    })
}

fn waits(count: f64, opening: f64) -> Script {
    let entrance = Duration::from_secs_f64((count / opening.max(1.0)).max(1.0));
    let end = (entrance + HOLD).max(MEASURED[1]);
    let starts = starts(count / entrance.as_secs_f64(), entrance);
    finish(starts, end, |start| {
        let mut turns = exchange(1).to_vec();
        turns.push(turn(Side::Initiator, 1, LONG));
        part(start, None, turns)
    })
}

/// Two packets in each round trip and pause: each carries an octet and acknowledges the last.
fn talks(packets_per_s: f64) -> Script {
    let cycle = RTT + PAUSE;
    let each = 2.0 / cycle.as_secs_f64();
    let starts = starts(packets_per_s / each / ENTRANCE.as_secs_f64(), ENTRANCE);
    let epochs = LOAD.as_millis() / cycle.as_millis();
    finish(starts, ENTRANCE + LOAD + SLACK, |start| {
        let epochs = (0..epochs).map(|_| {
            let [request, response] = exchange(1);
            [
                Turn {
                    wait: PAUSE,
                    ..request
                },
                response,
            ]
        });
        part(start, Some(RTT), epochs.flatten().collect())
    })
}

fn responses(mbps: f64) -> Script {
    let starts = starts(mbps * 1e6 / 8.0 / ON_WIRE, LOAD);
    finish(starts, LOAD + SLACK, |start| {
        part(start, Some(RTT), exchange(RESPONSE).to_vec())
    })
}

/// Moments at this rate, at least one.
fn starts(per_s: f64, within: Duration) -> Vec<Duration> {
    let gap = 1.0 / per_s.max(1e-3);
    let starts = (0..u32::MAX).map(|at| Duration::from_secs_f64(f64::from(at) * gap));
    starts.take_while(|start| *start < within).collect()
}

fn finish(starts: Vec<Duration>, end: Duration, part: impl Fn(Duration) -> Part) -> Script {
    let parts: Vec<Part> = starts.into_iter().map(part).collect();
    // What is asked after the end is not answered before.
    let answers = parts.iter().map(|part| {
        let epochs = part.vector.body.epochs();
        epochs.filter(|epoch| epoch.b > 0).count() as u64
    });
    Script {
        answers: answers.sum(),
        workload: Workload { parts, udp: 0 },
        end,
    }
}

const fn turn(side: Side, bytes: u64, wait: Duration) -> Turn {
    Turn { side, bytes, wait }
}

/// A request of one octet and its answer.
const fn exchange(response: u64) -> [Turn; 2] {
    [
        turn(Side::Initiator, 1, Duration::ZERO),
        turn(Side::Acceptor, response, Duration::ZERO),
    ]
}

fn part(start: Duration, rtt: Option<Duration>, turns: Vec<Turn>) -> Part {
    Part {
        vector: Vector {
            transport: Transport::Tcp,
            start,
            ids: [0; 2],
            windows: [65_535; 2],
            min_rtt: rtt,
            loss: [Loss::NONE; 2],
            mss: None,
            body: Body::Sequential { turns, tail: None },
        },
        initiator: Host::Client,
        was_sequential: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::forecast::Forecast;

    fn forecast(component: Component, load: f64) -> (Forecast, Script) {
        let script = script(component, load, 1_000.0);
        (Forecast::of(&script.workload, Some(script.end)), script)
    }

    #[test]
    fn a_trial_asks_for_the_load_that_it_says() {
        let (starts, script) = forecast(Component::Starts, 3_000.0);
        assert_eq!(starts.starts_per_s, 3_000);
        assert_eq!(script.answers, 6_000);
        let (open, script) = forecast(Component::Open, 5_000.0);
        assert_eq!((open.open, open.starts_per_s), (5_000, 1_000));
        // Each has one answer before it waits.
        assert_eq!(script.answers, 5_000);
        assert_eq!(script.end, Duration::from_millis(5_500));
    }

    #[test]
    fn packets_come_from_connections_that_talk() {
        let (_, script) = forecast(Component::Packets, 20_000.0);
        // 50 exchanges a second each, of two packets.
        assert_eq!(script.workload.parts.len(), 200);
        assert_eq!(script.answers, 200 * 100);
        assert!(script.workload.last_start() < ENTRANCE);
    }

    #[test]
    fn a_rate_comes_from_large_responses() {
        let (rate, script) = forecast(Component::Rate, 400.0);
        let seconds = LOAD.as_secs_f64();
        // The forecast divides by the whole run, and counts the acknowledgements.
        let mbps = rate.mbps * script.end.as_secs_f64() / seconds;
        assert!((mbps - 400.0).abs() < 8.0, "{mbps}");
    }

    #[test]
    fn there_is_always_something_to_play() {
        for component in Component::ALL {
            let (forecast, _) = forecast(component, 0.001);
            assert!(forecast.connections >= 1, "{component:?}");
        }
    }
}
