//! Estimators over anything that carries trains of probes: a path in virtual time, or a Python function with packets of its own.

use crate::errors::{failed, usage};
use crate::pipeline::built;
use crate::work::Own;
use ::estimate::methods::{self, Carry};
use probe::riders::Riders;
use probe::train::{self, Back, Passage, Train};
use pyo3::prelude::*;
use schema::estimate::Plan;
use std::time::Duration;
use units::Instant;

/// A probe that has arrived: its number in the train, when it was sent and when it arrived; of an echoed one when it left the
/// receiver and when it was back.
type Arrival = (u32, u64, u64, Option<(u64, u64)>);
/// What came of a train: what time it is, how many probes left, how long that took, and the arrivals.
type Came = (u64, u32, u64, Vec<Arrival>);

/// A path in virtual time that carries trains of probes (crate `sim`).
#[pyclass(module = "isobath._isobath")]
pub(crate) struct Probing(Own<sim::Probing>);

#[pymethods]
impl Probing {
    /// Over the stages `there` and `back` (JSON).
    #[new]
    #[pyo3(signature = (there, back, seed=1))]
    fn new(there: &str, back: &str, seed: u64) -> PyResult<Self> {
        let ways = [built(there, seed)?, built(back, seed.wrapping_add(1))?];
        let [there, back] = ways;
        Ok(Self(Own::new(sim::Probing::new(there, back))))
    }

    /// Carries probes with these gaps before them and so many octets, not before `not_before_ns`.
    fn carry(
        &mut self,
        gaps_ns: Vec<u64>,
        octets: Vec<u32>,
        echo: bool,
        not_before_ns: u64,
    ) -> Came {
        let probes = gaps_ns.into_iter().zip(octets);
        let probes = probes.map(|(gap, octets)| train::Probe {
            octets,
            gap: Duration::from_nanos(gap),
            may_carry: false,
        });
        let train = Train {
            probes: probes.collect(),
            echo,
            ..Train::default()
        };
        let path = self.0.get();
        let passage = path.carry(&train, Instant::from_nanos(not_before_ns));
        let arrivals = passage.arrivals.iter().map(|arrival| {
            let back = arrival.back.map(|back| (back.left_ns, back.returned_ns));
            (arrival.number, arrival.sent_ns, arrival.arrived_ns, back)
        });
        let arrivals = arrivals.collect();
        (
            path.now().as_nanos(),
            passage.sent,
            nanos(passage.lasted),
            arrivals,
        )
    }
}

/// Has an estimator find what `plan` (JSON) asks for, over `carry`: a function of gaps, octets, whether to echo, and the earliest
/// instant, which returns what `Probing.carry` does. Returns the finding as JSON.
#[pyfunction]
pub(crate) fn estimate(plan: &str, carry: Bound<'_, PyAny>) -> PyResult<String> {
    let plan: Plan = serde_json::from_str(plan).map_err(usage)?;
    plan.check().map_err(usage)?;
    if plan.method.rides() {
        return Err(usage(
            "its trains are packets of applications, which only a manager has",
        ));
    }
    let mut carrier = Carrier {
        carry,
        now: Instant::ZERO,
    };
    let finding = methods::find(&plan, &mut carrier)?;
    serde_json::to_string(&finding).map_err(failed)
}

/// A Python function that carries trains.
struct Carrier<'py> {
    carry: Bound<'py, PyAny>,
    now: Instant,
}

impl Carry for Carrier<'_> {
    type Error = PyErr;

    fn carry(&mut self, train: &Train, not_before: Instant) -> PyResult<Passage> {
        self.carry.py().check_signals()?;
        let gaps: Vec<_> = train.probes.iter().map(|probe| nanos(probe.gap)).collect();
        let octets: Vec<_> = train.probes.iter().map(|probe| probe.octets).collect();
        let not_before = not_before.max(self.now).as_nanos();
        let came = self.carry.call1((gaps, octets, train.echo, not_before))?;
        let (now, sent, lasted_ns, arrivals): Came = came.extract()?;
        self.now = self.now.max(Instant::from_nanos(now));
        let count = usize::try_from(sent).unwrap_or(usize::MAX);
        let octets = train
            .probes
            .iter()
            .take(count)
            .map(|probe| u64::from(probe.octets));
        Ok(Passage {
            sent,
            octets: octets.sum(),
            lasted: Duration::from_nanos(lasted_ns),
            arrivals: in_order(arrivals, sent),
            riders: Riders::default(),
        })
    }

    fn now(&self) -> Instant {
        self.now
    }

    fn rest(&mut self, time: Duration) -> PyResult<()> {
        self.now += time;
        Ok(())
    }
}

/// Arrivals in the order of their numbers, each once, of probes that were sent.
fn in_order(arrivals: Vec<Arrival>, sent: u32) -> Vec<train::Arrival> {
    let arrivals = arrivals.into_iter().filter(|(number, ..)| *number < sent);
    let arrivals = arrivals.map(|(number, sent_ns, arrived_ns, back)| train::Arrival {
        number,
        sent_ns,
        arrived_ns,
        back: back.map(|(left_ns, returned_ns)| Back {
            left_ns,
            returned_ns,
        }),
    });
    let mut arrivals: Vec<_> = arrivals.collect();
    arrivals.sort_by_key(|arrival| arrival.number);
    arrivals.dedup_by_key(|arrival| arrival.number);
    arrivals
}

fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}
