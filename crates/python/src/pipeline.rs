//! A path, and packets by the million through it.

use crate::arrays::{Many, array};
use crate::errors::{failed, usage};
use crate::table::Table;
use crate::work::Own;
use arrow_array::{ArrayRef, BooleanArray, RecordBatch, UInt32Array, UInt64Array};
use arrow_schema::{DataType, Field, Schema};
use path::{Assigned, Element as _, Family, Packet, Spec};
use pyo3::prelude::*;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use units::{Dscp, Ecn, FlowId, Instant};

/// The pipeline that a specification in JSON describes.
pub(crate) fn built<B: Clone + Send + 'static>(
    spec: &str,
    seed: u64,
) -> PyResult<path::Pipeline<B>> {
    let spec: Spec = serde_json::from_str(spec).map_err(usage)?;
    let read = |name: &str| std::fs::read_to_string(name).map_err(Into::into);
    spec.build(seed, &read, &Assigned::default()).map_err(usage)
}

/// What a path does to packets (crate `path`): queues, rates, delays, losses, without a clock. Sizes are octets, times
/// nanoseconds.
#[pyclass(module = "isobath._isobath")]
pub(crate) struct Pipeline(Own<Running>);

/// The pipeline, and what it is at.
struct Running {
    pipeline: path::Pipeline<u64>,
    /// The number of the next packet.
    next: u64,
    now: Instant,
    wake: Option<Instant>,
    leaving: VecDeque<Packet<u64>>,
}

/// A stage's kind, and packets and octets by counter.
type StageCounters = (String, HashMap<&'static str, (u64, u64)>);

/// A batch of packets to come.
struct Arrivals {
    at: Vec<u64>,
    sizes: Many<u32>,
    flows: Many<u64>,
    ecn: Ecn,
}

#[pymethods]
impl Pipeline {
    /// The pipeline that `spec` (a list of stages in JSON) describes; what is random in it comes from `seed`.
    #[new]
    #[pyo3(signature = (spec, seed=1))]
    fn new(spec: &str, seed: u64) -> PyResult<Self> {
        Ok(Self(Own::new(Running {
            pipeline: built(spec, seed)?,
            next: 0,
            now: Instant::ZERO,
            wake: None,
            leaving: VecDeque::new(),
        })))
    }

    /// Puts packets in, which come at `at_ns` with so many octets; returns those that left by the last of these instants.
    #[pyo3(signature = (at_ns, size_bytes, flow=None, ect=false))]
    fn process(
        &mut self,
        py: Python<'_>,
        at_ns: &Bound<'_, PyAny>,
        size_bytes: &Bound<'_, PyAny>,
        flow: Option<&Bound<'_, PyAny>>,
        ect: bool,
    ) -> PyResult<Table> {
        let at: Vec<u64> = array(at_ns, "at_ns")?;
        let arrivals = Arrivals {
            sizes: Many::of(size_bytes, "size_bytes", at.len())?,
            flows: flow.map_or(Ok(Many::All(0)), |flow| Many::of(flow, "flow", at.len()))?,
            ecn: if ect { Ecn::Ect0 } else { Ecn::NotEct },
            at,
        };
        let running = self.0.get();
        running.check(&arrivals.at)?;
        py.detach(|| {
            running.put(&arrivals);
            running.left()
        })
    }

    /// Lets time pass: until `until_ns`, or until all have left. Returns those that left meanwhile.
    #[pyo3(signature = (until_ns=None))]
    fn drain(&mut self, py: Python<'_>, until_ns: Option<u64>) -> PyResult<Table> {
        let until = until_ns.map_or(Instant::FAR_FUTURE, Instant::from_nanos);
        let running = self.0.get();
        py.detach(|| {
            running.wait(until, until_ns.is_none());
            running.left()
        })
    }

    /// Packets and octets by stage, and what waits in its queue: `(stage, {counter: (packets, octets)})`.
    fn counters(&mut self) -> Vec<StageCounters> {
        let pair = |count: path::Count| (count.packets, count.bytes);
        let stages = self.0.get().pipeline.stages().map(|stage| {
            let counters = stage.counters;
            let named = HashMap::from([
                ("entered", pair(counters.entered)),
                ("left", pair(counters.left)),
                ("queued", pair(counters.queued)),
                ("duplicated", pair(counters.duplicated)),
                ("overflow", pair(counters.overflow)),
                ("aqm", pair(counters.aqm)),
                ("loss", pair(counters.loss)),
                ("marked", pair(counters.marked)),
                ("backlog", pair(stage.backlog.unwrap_or_default())),
            ]);
            (stage.name.to_owned(), named)
        });
        stages.collect()
    }
}

impl Running {
    /// Time never goes back.
    fn check(&self, at: &[u64]) -> PyResult<()> {
        let before = self.now.as_nanos();
        let starts_late = at.first().is_none_or(|first| *first >= before);
        if starts_late && at.is_sorted() {
            Ok(())
        } else {
            Err(usage(format!(
                "at_ns goes back - sort it, and begin at {before} or later"
            )))
        }
    }

    fn put(&mut self, arrivals: &Arrivals) {
        for (place, &at) in arrivals.at.iter().enumerate() {
            let at = Instant::from_nanos(at);
            let packet = Packet {
                size: arrivals.sizes.get(place),
                flow: FlowId(arrivals.flows.get(place)),
                family: Family::V4,
                dscp: Dscp::CS0,
                ecn: arrivals.ecn,
                at,
                body: self.next,
            };
            self.next += 1;
            self.now = at;
            self.wake = self.pipeline.process(Some(packet), at, &mut self.leaving);
        }
    }

    /// Does what is due until then; if there `is_no_end`, until nothing is inside.
    fn wait(&mut self, until: Instant, is_no_end: bool) {
        while let Some(due) = self.wake.filter(|due| *due <= until) {
            self.now = self.now.max(due);
            self.wake = self.pipeline.process(None, due, &mut self.leaving);
            // Of packets that others send there is no end.
            if is_no_end && self.pipeline.counters().queued == path::Count::default() {
                return;
            }
        }
        if !is_no_end {
            self.now = self.now.max(until);
        }
    }

    /// What has left, as a table.
    fn left(&mut self) -> PyResult<Table> {
        let left = std::mem::take(&mut self.leaving);
        let marked = left.iter().map(|packet| Some(packet.ecn == Ecn::Ce));
        let columns: Vec<ArrayRef> = vec![
            Arc::new(UInt64Array::from_iter_values(
                left.iter().map(|packet| packet.body),
            )),
            Arc::new(UInt64Array::from_iter_values(
                left.iter().map(|packet| packet.flow.0),
            )),
            Arc::new(UInt32Array::from_iter_values(
                left.iter().map(|packet| packet.size),
            )),
            Arc::new(UInt64Array::from_iter_values(
                left.iter().map(|packet| packet.at.as_nanos()),
            )),
            Arc::new(marked.collect::<BooleanArray>()),
        ];
        let batch = RecordBatch::try_new(Arc::new(schema()), columns);
        batch.map(Table::of).map_err(failed)
    }
}

/// Columns of the packets that left.
fn schema() -> Schema {
    let column = |name: &str, kind: DataType, unit: &str, about: &str| {
        let mut metadata = HashMap::from([("description".to_owned(), about.to_owned())]);
        if !unit.is_empty() {
            metadata.insert("unit".to_owned(), unit.to_owned());
        }
        Field::new(name, kind, false).with_metadata(metadata)
    };
    let about = "A packet that left the path.";
    Schema::new_with_metadata(
        vec![
            column(
                "number",
                DataType::UInt64,
                "",
                "Its number among all that were put in, from 0.",
            ),
            column("flow", DataType::UInt64, "", "The flow it belongs to."),
            column(
                "size_bytes",
                DataType::UInt32,
                "bytes",
                "Its octets on the link.",
            ),
            column("at_ns", DataType::UInt64, "ns", "When it left."),
            column(
                "ce",
                DataType::Boolean,
                "",
                "Whether congestion was marked (RFC 3168).",
            ),
        ],
        HashMap::from([("description".to_owned(), about.to_owned())]),
    )
}
