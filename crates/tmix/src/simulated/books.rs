//! What hosts have found out: rows for the record, and figures.

use super::headers::{self, Shared};
use super::host::News;
use super::links::LinkRows;
use crate::replay::counters::{self, Counters};
use crate::replay::datagrams;
use crate::replay::live::Half;
use crate::replay::monitors::Rows;
use crate::replay::summary::Figures;
use crate::replay::workload::{Host as Which, Part};
use kit::lab_counters::LabRows;
use record::RecordWriter;
use schema::replay::tables::{Connection, Epoch, Flow, Goodput};
use schema::tables::Queue;
use std::collections::HashMap;
use std::rc::Rc;
use units::Instant;
use vectors::play::Answered;

/// See the module.
pub(super) struct Books {
    headers: Option<Shared>,
    figures: Figures,
    counters: Counters,
    flow_counters: datagrams::Counters,
    /// Connections and flows of which one end has told.
    half_told: HashMap<u32, Rc<Part>>,
    found: Found,
}

/// Rows that wait to be written.
#[derive(Default)]
struct Found {
    connections: Vec<Connection>,
    epochs: Vec<Epoch>,
    flows: Vec<Flow>,
    queue: Vec<Queue>,
    goodput: Vec<Goodput>,
}

impl Books {
    pub(super) fn new(figures: Figures, headers: Option<Shared>) -> Self {
        Self {
            headers,
            figures,
            counters: Counters::default(),
            flow_counters: datagrams::Counters::default(),
            half_told: HashMap::new(),
            found: Found::default(),
        }
    }

    /// The figures of all that was written.
    pub(super) fn into_figures(self) -> Figures {
        self.figures
    }

    /// Connections that are over.
    pub(super) fn ended(&self) -> u64 {
        self.figures.ended()
    }

    /// What waits in the queues.
    pub(super) fn queues(&mut self, rows: Vec<Queue>) {
        self.found.queue.extend(rows);
    }

    /// What `host` has found out up to `now`.
    pub(super) fn enter(&mut self, host: Which, news: News, now: Instant) {
        // Up to now is the second before.
        let second = now.as_nanos().saturating_sub(1) / 1_000_000_000;
        self.found.goodput.push(Goodput {
            t_ns: second * 1_000_000_000,
            host: host.name().into(),
            bytes: news.heard,
        });
        for (half, part) in news.halves {
            let number = half.number;
            if let Some(ends) = self.counters.enter(half) {
                self.half_told.remove(&number);
                self.end(&part, number, ends, now);
            } else {
                self.half_told.insert(number, part);
            }
        }
        for (half, part) in news.flows {
            let number = half.number;
            if let Some(ends) = self.flow_counters.enter(half) {
                self.half_told.remove(&number);
                self.end_flow(&part, number, &ends, now);
            } else {
                self.half_told.insert(number, part);
            }
        }
        for (number, was_sequential, epoch) in news.answered {
            self.answered(number, was_sequential, &epoch);
        }
    }

    fn answered(&mut self, number: u32, was_sequential: bool, epoch: &Answered) {
        let row = Epoch {
            connection: number.into(),
            epoch: epoch.epoch,
            t_ns: epoch.asked.as_nanos(),
            request_bytes: epoch.request,
            response_bytes: epoch.response,
            response_ms: epoch.answered.since(epoch.asked).as_secs_f64() * 1e3,
        };
        if was_sequential {
            self.figures.answered(&row);
        }
        self.found.epochs.push(row);
    }

    /// A connection is over.
    fn end(&mut self, part: &Part, number: u32, ends: [Option<Half>; 2], now: Instant) {
        if let Some(headers) = &self.headers {
            headers.borrow_mut().end(number, now);
        }
        let row = counters::row(part, number, ends, Instant::ZERO);
        self.figures.connection(&row);
        self.found.connections.push(row);
    }

    /// A flow is over.
    fn end_flow(
        &mut self,
        part: &Part,
        number: u32,
        ends: &[Option<datagrams::Half>; 2],
        now: Instant,
    ) {
        if let Some(headers) = &self.headers {
            headers.borrow_mut().end(number, now);
        }
        let ports = headers::ports(number);
        let row = datagrams::counters::row(part, ports, ends, Instant::ZERO);
        if let Some(row) = row {
            self.figures.flow(&row);
            self.found.flows.push(row);
        }
    }

    /// The replay ended at `now`: of what is half told no other end will tell.
    pub(super) fn close(&mut self, now: Instant) {
        for ends in self.counters.rest() {
            let number = ends.iter().flatten().next().map(|half| half.number);
            let told = number.and_then(|number| self.half_told.remove_entry(&number));
            if let Some((number, part)) = told {
                self.end(&part, number, ends, now);
            }
        }
        for ends in self.flow_counters.rest() {
            let number = ends.iter().flatten().next().map(|half| half.number);
            let told = number.and_then(|number| self.half_told.remove_entry(&number));
            if let Some((number, part)) = told {
                self.end_flow(&part, number, &ends, now);
            }
        }
    }

    /// Writes all rows, with those of the `links`.
    pub(super) fn write(
        &mut self,
        links: LinkRows,
        record: &mut RecordWriter,
    ) -> Result<(), record::Error> {
        let found = std::mem::take(&mut self.found);
        let rows = LabRows {
            queue: found.queue,
            counters: links.counters,
            ..LabRows::default()
        };
        let seen = Rows {
            offered: links.offered,
            active: links.active,
        };
        self.figures.lab(&rows);
        self.figures.monitors(&seen);
        self.figures.goodput(&found.goodput);
        record.append(&rows.queue)?;
        record.append(&rows.counters)?;
        record.append(&seen.offered)?;
        record.append(&seen.active)?;
        record.append(&found.goodput)?;
        record.append(&found.connections)?;
        record.append(&found.epochs)?;
        record.append(&found.flows)
    }
}
