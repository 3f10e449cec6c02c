//! How long is waited for the probes of a train.

use probe::train::Arrival;
use std::collections::BTreeMap;
use std::time::Duration;

/// A probe that has not come this long after the last one of its train is lost.
pub const PATIENCE: Duration = Duration::from_millis(300);
/// How long is waited for a train's first echo.
const FIRST: Duration = Duration::from_secs(3);

/// How long after the last echo another may come: after as long as two of the longest round trips so far.
pub fn patience(back: &BTreeMap<u64, Arrival>) -> Duration {
    let trips = back.values().filter_map(Arrival::round_trip_ns);
    let longest = trips.max().and_then(|ns| u64::try_from(ns).ok());
    longest.map_or(FIRST, |ns| {
        PATIENCE.max(Duration::from_nanos(ns).saturating_mul(2))
    })
}
