//! Bulk transfers over paths that are special: IPv6, marks instead of losses, several at once, nothing at all for a while.

use crate::carrier::{Carrier, through};
use crate::support::{Machine, TempDir, eventually, folder, number, rows, run, values};
use crate::two_hosts::Server;
use schema::btc::tables::Transfer;
use serde_json::json;
use std::sync::atomic::Ordering;
use std::time::Duration;
use sys::clock;

/// 8 Mbit/s and 20 ms with a queue that marks.
const MARKING: &str = r#"
summary = "a small link that marks"
client = "near"
server = "far"
hosts = ["near", "far"]
[[link]]
between = ["near", "far"]
up = [{ kind = "rate", rate = "8Mbit", queue = { kind = "fq_codel", ecn = true } }, { kind = "delay", delay = "10ms" }]
down = [{ kind = "rate", rate = "8Mbit" }, { kind = "delay", delay = "10ms" }]
"#;

fn place() -> TempDir {
    folder(&[("marking.toml", MARKING)])
}

#[test]
fn marks_cut_the_window_as_losses_do_and_nothing_is_sent_twice() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = place();
    let common = ["btc", "--lab", "marking.toml", "-q", "--json", "-o", "r"];
    let more = [
        "--option",
        "ecn=true",
        "--segments",
        "2000",
        "--window",
        "400",
    ];
    let run = run(place.path(), &[&common[..], &more].concat()).measured();
    let [transfer] = &rows::<Transfer>(&place.path().join("r"))[..] else {
        panic!("one transfer");
    };
    assert_eq!(transfer.outcome, "complete");
    assert!(
        transfer.marked.is_some_and(|marked| marked > 0),
        "{transfer:?}"
    );
    assert_eq!((transfer.lost, transfer.sent_packets), (0, 2_000));
    assert_eq!(number(&run, "/summary/retransmits").to_bits(), 0);
}

/// Holds btc/segment-size.
#[test]
fn several_transfers_share_a_path_by_ipv6() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = place();
    let common = [
        "btc",
        "-6",
        "--lab",
        "marking.toml",
        "-q",
        "--json",
        "-o",
        "r",
    ];
    let more = ["--parallel", "3", "--segments", "300"];
    let run = run(place.path(), &[&common[..], &more].concat()).measured();
    assert_eq!(run["summary"]["outcomes"], json!({"complete": 3}));
    // The header of IPv6 is 20 octets longer, and the packet no longer for that.
    assert_eq!(run["plan"]["options"]["mss"], 1_428);
    let transfers = rows::<Transfer>(&place.path().join("r"));
    assert_eq!(transfers.len(), 3);
    assert!(
        transfers.iter().all(|t| t.bytes == 300 * 1_428),
        "{transfers:?}"
    );
}

/// The timeout is doubled each time that nothing answers (RFC 6298 section 5.5): in 8 s from 0.2 s on it runs out five or
/// six times, not forty. When the path is back the transfer ends as if nothing had been.
#[test]
fn a_path_that_is_gone_for_a_while_is_asked_ever_more_seldom() {
    let _machine = Machine::without_networks();
    let place = place();
    let server = Server::start(place.path(), &["--ephemeral"]);
    let path = Carrier::to(&server.host);
    let more = ["--duration", "12s", "--window", "2", "--patience", "30s"];
    let running = through(&path, &server, place.path(), &more);
    eventually("rows are on disk", || {
        let record = place.path().join("r");
        record.exists()
            && crate::support::entries(&record)
                .iter()
                .any(|name| name.starts_with("round_trips"))
    });
    path.longest.store(0, Ordering::Relaxed);
    clock::sleep_until(clock::now() + Duration::from_secs(8));
    path.longest.store(u64::MAX, Ordering::Relaxed);
    let run = running.finish().json();
    let [transfer] = &rows::<Transfer>(&place.path().join("r"))[..] else {
        panic!("one transfer");
    };
    assert_eq!(transfer.outcome, "time", "{run:#}");
    assert!(
        transfer.timeouts.is_some_and(|t| (3..=8).contains(&t)),
        "{transfer:?}"
    );
    let codes = values(&run["warnings"]).map(|warning| warning["code"].clone());
    assert!(!codes.into_iter().any(|code| code == "stalled"), "{run:#}");
}
