//! What an estimator knows besides its answer.

use crate::number::short;
use crate::told::part;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What is drawn of it; empty lists for estimators without.
#[derive(Serialize)]
pub(super) struct Details {
    /// Estimates one after the other, of pathchirp and yaz.
    history_mbps: Vec<f64>,
    /// Rates at which pairs of pathrate arrived more often than at those beside them, the slowest first.
    modes: Vec<Mode>,
    /// The rate of long trains of pathrate, which a path in use lets through more slowly.
    asymptotic_mbps: Option<f64>,
    hops: Vec<Hop>,
    /// Why the figures are not believed, and what they were: best guess, low and high.
    suspicion: Option<String>,
    not_believed: Option<[Option<f64>; 3]>,
}

#[derive(Deserialize, Serialize)]
struct Mode {
    mbps: [f64; 2],
    /// Of all pairs.
    share: f64,
}

/// Median round trips to a router, before the load and under it.
#[expect(clippy::struct_field_names, reason = "named as in records")]
#[derive(Deserialize, Serialize)]
struct Hop {
    hop: u8,
    #[serde(default)]
    address: Option<String>,
    #[serde(default)]
    idle_ms: Option<f64>,
    #[serde(default)]
    loaded_ms: Option<f64>,
}

impl Details {
    /// Of a summary.
    /// Of what an estimator says beside its finding: free-form, since each says what it knows.
    pub(super) fn of(told: &Value) -> Self {
        let history: Vec<f64> = part(&told["history_mbps"]).unwrap_or_default();
        let mut modes: Vec<Mode> = part(&told["modes"]).unwrap_or_default();
        modes.iter_mut().for_each(Mode::shorten);
        modes.sort_by(|one, other| one.mbps[0].total_cmp(&other.mbps[0]));
        let mut hops: Vec<Hop> = part(&told["hops"]).unwrap_or_default();
        hops.iter_mut().for_each(Hop::shorten);
        Self {
            history_mbps: history.into_iter().map(short).collect(),
            modes,
            asymptotic_mbps: told["asymptotic_mbps"].as_f64().map(short),
            hops,
            suspicion: told["suspicion"].as_str().map(str::to_owned),
            not_believed: part(&told["not_believed"]),
        }
    }
}

impl Mode {
    fn shorten(&mut self) {
        self.mbps = self.mbps.map(short);
        self.share = short(self.share);
    }
}

impl Hop {
    fn shorten(&mut self) {
        self.idle_ms = self.idle_ms.map(short);
        self.loaded_ms = self.loaded_ms.map(short);
    }
}
