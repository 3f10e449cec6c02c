//! What a browser is asked to do.

use crate::page_loads;
use data_encoding::HEXLOWER;
use rrul::streams::{Common, Kind, StreamPlan};
use schema::rrul::Plan;
use serde::Serialize;
use std::time::Duration;

/// As long as people wait for a page to tell them something.
const PLAN: &str = r#"
name = "page"
summary = "best-effort load both ways and round trips, by a browser"
idle_before = "4s"
duration = "12s"
settle = "4s"
idle_after = "1s"

[[load]]
direction = "both"
streams = 4

[web]
page = "PAGE"
protocols = ["http/1.1"]
before = "5s"
pause = "1s"
"#;
/// What is measured meanwhile, by what the browser has for it.
const BY_WEBSOCKET: &str = r#"
[[probe]]
kind = "ws_rr"
gap = "40ms"
"#;
const BY_DATAGRAMS: &str = r#"
[[probe]]
kind = "wt_rr"
gap = "40ms"

[[call]]
every = "20ms"
"#;

/// What carries a browser's probes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Carrier {
    /// The WebSocket of the conversation.
    WebSocket,
    /// A WebTransport session; then there is a call, too.
    Datagrams,
}

/// The plan of all browsers that have this carrier.
pub(crate) fn plan(carrier: Carrier) -> Plan {
    let probes = match carrier {
        Carrier::WebSocket => BY_WEBSOCKET,
        Carrier::Datagrams => BY_DATAGRAMS,
    };
    let plan = format!("{PLAN}{probes}").replace("PAGE", page_loads::PAGE);
    toml::from_str(&plan).expect("a constant that a test reads")
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
    /// What is loaded meanwhile.
    pages: Option<Pages>,
    /// Where datagrams go; none: this server has none.
    datagrams: Option<Datagrams>,
}

/// A page that a browser loads.
#[derive(Debug, Serialize)]
struct Pages {
    /// From when to when, first without load.
    phases_ms: [[u64; 2]; 2],
    /// From the end of one load to the start of the next.
    pause_ms: u64,
    /// How many objects it has.
    objects: usize,
}

impl Pages {
    fn of(plan: &Plan) -> Option<Self> {
        let phases = [plan.web_idle(), plan.loaded()];
        Some(Self {
            phases_ms: phases.map(|(from, to)| [millis(from), millis(to)]),
            pause_ms: millis(plan.web.as_ref()?.pause.0),
            objects: page_loads::model().objects().len(),
        })
    }
}

/// Where a browser sends datagrams, and what it says of the server's certificate.
#[derive(Debug, Serialize)]
pub(crate) struct Datagrams {
    /// SHA-256 over the certificate, in hexadecimal digits.
    certificate: String,
    /// Between two of a call, and octets of each.
    call_gap_ms: u64,
    call_bytes: usize,
}

impl Datagrams {
    /// To the page's own host and port by UDP, where a certificate of this hash is shown, for a plan whose streams are these.
    pub(crate) fn of(certificate: [u8; 32], streams: &[StreamPlan]) -> Option<Self> {
        let call = streams.iter().find(|stream| stream.kind == Kind::CallUp)?;
        Some(Self {
            certificate: HEXLOWER.encode(&certificate),
            call_gap_ms: millis(call.gap),
            call_bytes: call.size,
        })
    }
}

impl Told {
    pub(crate) fn of(
        run: &str,
        plan: &Plan,
        streams: &[StreamPlan],
        datagrams: Option<Datagrams>,
    ) -> Self {
        let ids = |kind| {
            let streams = streams.iter().filter(move |stream| stream.kind == kind);
            streams.map(|stream| stream.id).collect()
        };
        let gap = streams.iter().find(|stream| stream.kind.is_of_browsers());
        Self {
            run: run.to_owned(),
            gap_ms: millis(gap.map_or(Duration::ZERO, |stream| stream.gap)),
            load_start_ms: millis(plan.load_start()),
            load_end_ms: millis(plan.load_end()),
            total_ms: millis(plan.total()),
            down: ids(Kind::Down),
            up: ids(Kind::Up),
            pages: Pages::of(plan),
            datagrams,
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
        let loads = |streams: &[StreamPlan]| {
            let load = |s: &&StreamPlan| matches!(s.kind, Kind::Down | Kind::Up);
            let load = streams.iter().filter(load);
            load.map(|s| (s.id, s.kind)).collect::<Vec<_>>()
        };
        let [websocket, datagrams] = [Carrier::WebSocket, Carrier::Datagrams].map(|carrier| {
            let plan = plan(carrier);
            let streams = streams(&plan, 4);
            let where_to = Datagrams::of([0; 32], &streams);
            assert_eq!(where_to.is_some(), carrier == Carrier::Datagrams);
            let told = Told::of("x", &plan, &streams, where_to);
            assert_eq!((told.down.len(), told.up.len(), told.gap_ms), (4, 4, 40));
            assert!(told.load_start_ms < told.load_end_ms && told.load_end_ms < told.total_ms);
            streams
        });
        assert_eq!((websocket.len(), datagrams.len()), (10, 12));
        // What loads is known before it is known what carries the probes.
        assert_eq!(loads(&websocket), loads(&datagrams));
    }
}
