//! Whether the browser was what limited the load. A page cannot see its own processors, but both ends show when a browser is too slow:
//!
//! - Down, its receive window is full, and the server's TCP waits for it (`rwnd_limited_us` of `TCP_INFO`).
//! - Up, nothing waits to be sent when the page looks whether to send more.

use kit::stream::nanos;
use record::{Instrument, Warning};
use schema::rrul::Plan;
use schema::tables::Series;
use serde_json::json;
use std::collections::BTreeMap;

/// A browser that was the limit for more of the load's time than this has figures of its own, not the path's.
const MOST_PCT: f64 = 10.0;

/// Shares of the load's time in per cent, as far as they are known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Limits {
    /// The browser took nothing more for now.
    pub(crate) full_pct: Option<f64>,
    /// The browser had nothing to send.
    pub(crate) empty_pct: Option<f64>,
}

impl Limits {
    /// From the server's rows of a run of `plan`, and the browser's looks at what waits: how many there were, and how many found nothing.
    pub(crate) fn of(plan: &Plan, rows: &[Series], (looks, empty): (u64, u64)) -> Self {
        Self {
            full_pct: full_pct(plan, rows),
            empty_pct: (looks > 0).then(|| empty as f64 / looks as f64 * 100.0),
        }
    }

    /// Into a record.
    pub(crate) fn note(self, instrument: &mut Instrument, warnings: &mut Vec<Warning>) {
        let all = [
            (
                "browser_full_pct",
                self.full_pct,
                "down",
                "took it too slowly",
            ),
            (
                "browser_empty_pct",
                self.empty_pct,
                "up",
                "had nothing to send",
            ),
        ];
        for (name, pct, way, fault) in all {
            let Some(pct) = pct else { continue };
            instrument.more.insert(name.to_owned(), json!(pct));
            if pct > MOST_PCT {
                warnings.push(Warning {
                    code: "browser_limit".to_owned(),
                    message: format!("the browser {fault} for {pct:.0} % of the load's time: throughput {way} is the browser's, not the path's"),
                    advice: "close other tabs and programs, or measure with 'isobath rrul'".to_owned(),
                });
            }
        }
    }
}

/// How much of the time in which it had something to send the server waited for the browser's windows.
fn full_pct(plan: &Plan, rows: &[Series]) -> Option<f64> {
    let (start, end) = plan.loaded();
    let loaded = nanos(start)..=nanos(end);
    let mut streams: BTreeMap<u16, [(u64, u64); 2]> = BTreeMap::new();
    let down = rows
        .iter()
        .filter(|row| row.end == "server" && row.direction == "down");
    for row in down.filter(|row| loaded.contains(&row.t_ns)) {
        let Some(now) = row.busy_us.zip(row.rwnd_limited_us) else {
            continue;
        };
        streams.entry(row.stream).or_insert([now; 2])[1] = now;
    }
    let grown = streams.values().map(|[first, last]| {
        (
            last.0.saturating_sub(first.0),
            last.1.saturating_sub(first.1),
        )
    });
    let (busy, full) = grown.fold((0, 0), |sum, of| (sum.0 + of.0, sum.1 + of.1));
    (busy > 0).then(|| full as f64 / busy as f64 * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Carrier, plan};

    /// A row of a stream to the browser, at so many seconds of the run, with so many milliseconds of each kind.
    fn row(stream: u16, at_s: u64, busy_ms: u64, full_ms: u64) -> Series {
        Series {
            t_ns: at_s * 1_000_000_000,
            stream,
            direction: "down".into(),
            end: "server".into(),
            busy_us: Some(busy_ms * 1_000),
            rwnd_limited_us: Some(full_ms * 1_000),
            ..Series::default()
        }
    }

    #[test]
    fn a_browser_that_takes_nothing_more_is_the_limit_and_said_to_be() {
        let plan = plan(Carrier::WebSocket);
        let start = plan.loaded().0.as_secs();
        let rows = [
            // What was before the load had settled does not count.
            row(0, start - 1, 0, 0),
            row(0, start, 3_000, 3_000),
            row(0, start + 2, 5_000, 3_500),
            row(2, start, 3_000, 0),
            row(2, start + 2, 5_000, 300),
            Series {
                end: "client".into(),
                ..row(1, start + 2, 9, 9)
            },
        ];
        let limits = Limits::of(&plan, &rows, (200, 1));
        assert_eq!(
            limits,
            Limits {
                full_pct: Some(20.0),
                empty_pct: Some(0.5)
            }
        );
        let (mut instrument, mut warnings) = (Instrument::default(), Vec::new());
        limits.note(&mut instrument, &mut warnings);
        assert_eq!(instrument.more.len(), 2);
        let [warning] = &warnings[..] else {
            panic!("{warnings:?}")
        };
        assert!(
            warning.message.contains("20 % of the load's time"),
            "{}",
            warning.message
        );
        assert_eq!(Limits::of(&plan, &[], (0, 0)), Limits::default());
    }
}
