//! Takes the probes of trains as they arrive, and keeps them until their train is over.

use super::messages::{Arrived, Extent};
use kit::datagrams::{Link, expand};
use kit::trains::PATIENCE;
use probe::train::Arrival;
use session::wire::Kind;
use std::collections::BTreeMap;
use std::time::Duration;
use sys::{Error, clock};
use units::Instant;

/// What is kept at once: more than the longest train, less than memory.
const MOST: usize = 20_000;
/// How long is waited for an arrival before somebody else is looked after.
const LOOK: Duration = Duration::from_millis(5);

/// Probes that have arrived and were not asked for yet.
#[derive(Default)]
pub(crate) struct Arrivals {
    /// By their numbers in the run; of copies the first.
    probes: BTreeMap<u64, Arrived>,
    /// The highest number so far.
    last: u64,
    latest: Instant,
}

impl Arrivals {
    /// Takes what has come.
    ///
    /// # Errors
    /// When the socket cannot be used any more.
    pub(crate) fn take(&mut self, link: &mut Link) -> Result<(), Error> {
        let (probes, last, latest) = (&mut self.probes, &mut self.last, &mut self.latest);
        let mut enter = |probe: &session::wire::Probe, at: Instant| {
            let number = expand(probe.sequence, *last);
            *last = (*last).max(number);
            *latest = at;
            if probes.len() < MOST {
                let arrived = Arrived(number, probe.sent.as_nanos(), at.as_nanos());
                probes.entry(number).or_insert(arrived);
            }
        };
        while link.recv(|probe, _, receipt| {
            if probe.kind == Kind::OneWay {
                enter(probe, receipt.received);
            }
        })? {}
        Ok(())
    }

    /// Takes what comes until the train is whole, or nothing of it has come for too long; then hands it over. What belongs to an
    /// earlier train is too late, and is forgotten.
    ///
    /// # Errors
    /// When the socket cannot be used any more.
    pub(crate) fn collect(
        &mut self,
        link: &mut Link,
        extent: Extent,
        abort: &dyn Fn() -> bool,
    ) -> Result<Vec<Arrived>, Error> {
        let end = extent.first.saturating_add(u64::from(extent.count));
        let began = clock::now();
        loop {
            self.take(link)?;
            let there = self.probes.range(extent.first..end).count();
            let quiet = clock::now().since(self.latest.max(began));
            if there >= extent.count as usize || quiet >= PATIENCE || abort() {
                break;
            }
            link.wait(clock::now() + LOOK)?;
        }
        let later = self.probes.split_off(&end);
        let mut train = std::mem::replace(&mut self.probes, later);
        Ok(train.split_off(&extent.first).into_values().collect())
    }
}

/// The arrivals of a train, its first probe number `first` of the run, as an estimator sees them.
pub(crate) fn of_train(arrived: &[Arrived], extent: Extent) -> Vec<Arrival> {
    let end = extent.first.saturating_add(u64::from(extent.count));
    let of_it = arrived
        .iter()
        .filter(|Arrived(number, ..)| (extent.first..end).contains(number));
    of_it
        .map(|Arrived(number, sent_ns, arrived_ns)| Arrival {
            number: u32::try_from(number - extent.first).unwrap_or(u32::MAX),
            sent_ns: *sent_ns,
            arrived_ns: *arrived_ns,
            back: None,
        })
        .collect()
}
