//! The rows of a round at its far end: kept in memory while data flow, so that the path carries nothing else, and handed over
//! after it.

use super::super::capture::Journal;
use super::super::log::{Row, Sink};
use super::super::messages::{Far, ROWS_PER_LINE};
use data_encoding::BASE64;
use kit::sampler;
use schema::tables::{Cpu, Series};
use session::{Control, Error};
use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Rows kept for a round.
pub(super) const MOST_ROWS: usize = 600_000;

/// The rows of a round, until the client asks for them.
#[derive(Default)]
pub(super) struct Rows {
    kept: Mutex<Vec<Row>>,
    lost: AtomicU64,
    traces: Mutex<Vec<(u16, Journal)>>,
}

impl Sink for Rows {
    fn take(&self, rows: &mut Vec<Row>) {
        let mut kept = held(&self.kept);
        let room = MOST_ROWS.saturating_sub(kept.len());
        let over = rows.len().saturating_sub(room);
        self.lost.fetch_add(over as u64, Ordering::Relaxed);
        kept.extend(rows.drain(..).take(room));
    }
}

impl sampler::Sink for &Rows {
    fn series(&self, _: Series) {}

    fn cpu(&self, row: Cpu) {
        self.take(&mut vec![Row::Cpu(row)]);
    }

    fn ended(&self, _: sampler::StreamEnd) {}
}

impl Rows {
    /// Rows for which there was no room.
    pub(super) fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// Keeps the packet trace of a transfer.
    pub(super) fn keep_trace(&self, id: u16, trace: Option<Journal>) {
        held(&self.traces).extend(trace.map(|trace| (id, trace)));
    }

    /// Sends the rows of the round, and its packet traces.
    pub(super) fn hand_over(&self, control: &mut Control) -> Result<(), Error> {
        let rows = mem::take(&mut *held(&self.kept));
        control.send_rows(rows, ROWS_PER_LINE, Far::Rows)?;
        let traces = mem::take(&mut *held(&self.traces));
        for (id, trace) in traces {
            for chunk in trace.chunks() {
                let octets = BASE64.encode(chunk);
                control.send(&Far::Trace { id, octets })?;
            }
        }
        Ok(())
    }
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
