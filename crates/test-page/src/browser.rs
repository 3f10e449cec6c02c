//! Whether the browser was what limited the load. A page cannot see its own processors, but the server's TCP sees a browser that takes data
//! too slowly: its receive window is full (`rwnd_limited_us` of `TCP_INFO`). Nothing tells of a browser that sends too slowly.

use kit::stream::nanos;
use record::Warning;
use schema::rrul::Plan;
use schema::tables::Series;
use std::collections::BTreeMap;

/// A browser that was the limit for more of the load's time than this, in per cent, has figures of its own, not the path's.
const MOST_PCT: f64 = 10.0;

/// What is to be said where the browser's window was full for so much of the time.
pub(crate) fn warning(full_pct: f64) -> Option<Warning> {
    (full_pct > MOST_PCT).then(|| Warning {
        code: "browser_limit".to_owned(),
        message: format!(
            "the browser took data too slowly for {full_pct:.0} % of the load's time: throughput is the browser's, not the path's"
        ),
        advice: "close other tabs and programs, or measure with 'isobath rrul'".to_owned(),
    })
}

/// How much of the time in which it had something to send the server waited for the browser's windows, in per cent, by the server's rows of a
/// run of `plan`; none where its kernel does not tell.
pub(crate) fn full_pct(plan: &Plan, rows: &[Series]) -> Option<f64> {
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
        let full = full_pct(&plan, &rows);
        assert_eq!(full, Some(20.0));
        let told = full.and_then(warning).unwrap();
        assert!(
            told.message.contains("20 % of the load's time"),
            "{}",
            told.message
        );
        assert!(warning(MOST_PCT).is_none() && full_pct(&plan, &[]).is_none());
    }
}
