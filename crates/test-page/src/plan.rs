//! What a browser is asked to do.

use rrul::streams::{Common, Kind, StreamPlan};
use schema::rrul::Plan;
use serde::Serialize;
use std::time::Duration;

/// As long as people wait for a page to tell them something.
const PLAN: &str = r#"
name = "page"
summary = "best-effort load both ways and round trips over a WebSocket, by a browser"
idle_before = "4s"
duration = "12s"
settle = "4s"
idle_after = "1s"

[[load]]
direction = "both"
streams = 4

[[probe]]
kind = "ws_rr"
gap = "40ms"
"#;

/// The plan of all browsers.
pub(crate) fn plan() -> Plan {
    toml::from_str(PLAN).expect("a constant that a test reads")
}

/// Its streams, by this version of IP.
pub(crate) fn streams(plan: &Plan, family: u8) -> Vec<StreamPlan> {
    let common = Common {
        families: &[family],
        cc: None,
    };
    StreamPlan::all(plan, &common)
}

/// The same for a browser, in milliseconds after the run's start.
#[derive(Debug, Serialize)]
pub(crate) struct Told {
    run: String,
    gap_ms: u64,
    load_start_ms: u64,
    load_end_ms: u64,
    total_ms: u64,
    down: Vec<u16>,
    up: Vec<u16>,
}

impl Told {
    pub(crate) fn of(run: &str, plan: &Plan, streams: &[StreamPlan]) -> Self {
        let ids = |kind| {
            let streams = streams.iter().filter(move |stream| stream.kind == kind);
            streams.map(|stream| stream.id).collect()
        };
        let gap = streams.iter().find(|stream| stream.kind == Kind::WsRr);
        Self {
            run: run.to_owned(),
            gap_ms: millis(gap.map_or(Duration::ZERO, |stream| stream.gap)),
            load_start_ms: millis(plan.load_start()),
            load_end_ms: millis(plan.load_end()),
            total_ms: millis(plan.total()),
            down: ids(Kind::Down),
            up: ids(Kind::Up),
        }
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plan_loads_both_ways_and_asks_all_the_time() {
        let plan = plan();
        let streams = streams(&plan, 4);
        let told = Told::of("x", &plan, &streams);
        assert_eq!((told.down.len(), told.up.len(), told.gap_ms), (4, 4, 40));
        assert!(told.load_start_ms < told.load_end_ms && told.load_end_ms < told.total_ms);
        assert_eq!(streams.len(), 9);
    }
}
