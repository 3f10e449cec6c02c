//! The near end: opens one connection after the other, and times each.

use crate::messages::{Far, KIND, Near, Opening};
use crate::plan::Plan;
use crate::tables::Opened;
use kit::control::{self, Broken};
use kit::ending::Ending;
use kit::stream::{nanos, wait_until};
use record::RecordWriter;
use session::Client;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use sys::clock;
use units::Instant;

/// A connection that takes longer does not open.
const TIMEOUT: Duration = Duration::from_secs(5);

/// What came of a run.
pub(crate) struct Outcome {
    /// How it ended.
    pub(crate) ending: Ending,
    /// Each connection.
    pub(crate) rows: Vec<Opened>,
    /// How many arrived, if the far end said so.
    pub(crate) accepted: Option<u32>,
}

/// Carries the plan out with `client`, writing what is found to `record` as it comes.
///
/// # Errors
/// Only when the record cannot be written; everything else ends up in the outcome.
pub(crate) fn run(
    plan: &Plan,
    client: &mut Client,
    record: &mut RecordWriter,
    interrupt: &AtomicBool,
) -> Result<Outcome, record::Error> {
    let mut rows = Vec::new();
    let is_over = || interrupt.load(Ordering::Relaxed);
    let ended = carry_out(plan, client, record, &mut rows, &is_over);
    let (ending, accepted) = match ended {
        Ok(_) if is_over() => (Ending::Interrupted, None),
        Ok(accepted) => (Ending::Complete, Some(accepted)),
        Err(broken) => (broken.ending(is_over())?, None),
    };
    Ok(Outcome {
        ending,
        rows,
        accepted,
    })
}

fn carry_out(
    plan: &Plan,
    client: &mut Client,
    record: &mut RecordWriter,
    rows: &mut Vec<Opened>,
    is_over: &dyn Fn() -> bool,
) -> Result<u32, Broken> {
    let (origin, _) = control::agree(client, |_| Opening::Handshake(plan.clone()))?;
    match control::hear(client)? {
        Far::Ready => {}
        Far::Refused(reason) => return Err(Broken::refused(&reason)),
        Far::Accepted(_) => return Err(Broken::out_of_turn()),
    }
    for number in 0..plan.connections {
        if !wait_until(origin + plan.gap.0 * number, is_over) {
            break;
        }
        let row = open(client, origin, number);
        // Each second there are few: they are on disk at once.
        record.append(std::slice::from_ref(&row))?;
        record.flush()?;
        rows.push(row);
    }
    control::say(client, &Near::Finish)?;
    match control::hear(client)? {
        Far::Accepted(count) => Ok(count),
        _ => Err(Broken::out_of_turn()),
    }
}

/// One connection, closed as soon as it is open.
fn open(client: &Client, origin: Instant, number: u32) -> Opened {
    let begun = clock::now();
    let stream = u16::try_from(number).unwrap_or(u16::MAX);
    let opened = client
        .dialer
        .open(client.peer, stream, KIND, TIMEOUT, |_| Ok(()));
    let opened = opened.ok();
    let started = opened.as_ref().map_or(begun, |opened| opened.started);
    Opened {
        t_ns: nanos(started.since(origin)),
        connection: number,
        took_ns: opened.map(|opened| nanos(opened.established.since(opened.started))),
    }
}
