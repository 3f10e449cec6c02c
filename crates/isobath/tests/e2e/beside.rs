//! Far ends beside a run's server: where on the way delay arises.

use crate::support::{Machine, folder, number, run, short_plan};

/// The bottleneck is behind the router.
const LAB: &str = r#"
summary = "a router, and a slow link behind it"
client = "near"
server = "far"
hosts = ["near", "far"]
routers = ["middle"]
[[link]]
between = ["near", "middle"]
up = [{ kind = "delay", delay = "1ms" }]
down = [{ kind = "delay", delay = "1ms" }]
[[link]]
between = ["middle", "far"]
up = [{ kind = "rate", rate = "8Mbit", queue = { kind = "fifo", bytes = "60kB" } }, { kind = "delay", delay = "5ms" }]
down = [{ kind = "rate", rate = "8Mbit", queue = { kind = "fifo", bytes = "60kB" } }, { kind = "delay", delay = "5ms" }]
"#;

#[test]
fn a_router_before_the_bottleneck_stays_near_while_the_host_behind_it_does_not() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let plan = format!("beside = [\"icmp://middle\"]\n{}", short_plan(3));
    let place = folder(&[("lab.toml", LAB), ("plan.toml", &plan)]);
    let words = [
        "rrul",
        "--lab",
        "lab.toml",
        "--plan",
        "plan.toml",
        "--beside",
        "icmp://far",
        "--beside",
        "ntp://far",
        "-q",
        "--json",
        "-o",
        "out",
    ];
    let ran = run(place.path(), &words);
    // A machine that is too busy (4) does not take 20 ms for an echo most times.
    assert!(matches!(ran.code(), Some(0 | 4)), "{ran:#?}");
    let told = ran.json();
    assert_eq!(
        told["plan"]["beside"],
        serde_json::json!(["icmp://middle", "icmp://far", "ntp://far"])
    );
    let beside = &told["summary"]["beside"];
    let of = |far_end: &str, figure: &str| number(&beside[far_end], figure);
    assert!((2.0..4.0).contains(&of("icmp://middle", "/rtt_ms/idle/min")));
    assert!((12.0..16.0).contains(&of("icmp://far", "/rtt_ms/idle/min")));
    // Half of either queue is 30 ms.
    let added = |far_end| of(far_end, "/rtt_ms/loaded/p50") - of(far_end, "/rtt_ms/idle/p50");
    assert!(
        added("icmp://middle") + 20.0 < added("icmp://far"),
        "{beside:#}"
    );
    assert!(of("icmp://middle", "/rtt_ms/loaded/n") > 30.0, "{beside:#}");
    assert!(of("icmp://middle", "/loss_pct/idle") < 20.0, "{beside:#}");
    // Nobody serves the time there, which is no fault of the others.
    assert!(
        beside["ntp://far"]["rtt_ms"]["idle"].is_null(),
        "{beside:#}"
    );
    let warnings = told["warnings"].as_array().unwrap();
    let silent = |warning: &&serde_json::Value| {
        let message = warning["message"].as_str().unwrap();
        message.starts_with("ntp://far: nobody answers NTP")
    };
    assert_eq!(warnings.iter().filter(silent).count(), 1, "{warnings:#?}");
}

#[test]
fn what_is_no_far_end_to_ask_is_refused_before_the_run() {
    let place = folder(&[("lab.toml", LAB)]);
    let refused = |beside: &[&str]| {
        let ran = run(
            place.path(),
            &[&["rrul", "--lab", "lab.toml"], beside].concat(),
        );
        ran.refused(2).to_owned()
    };
    let line = refused(&["--beside", "192.0.2.1"]);
    assert!(
        line.contains("write one such as icmp://192.0.2.1"),
        "{line}"
    );
    let line = refused(&["--beside", "iperf3://192.0.2.1"]);
    assert!(line.contains("echoes nothing"), "{line}");
    let line = refused(&["--beside", "ping://192.0.2.1"]);
    assert!(line.contains("unknown scheme"), "{line}");
    let twice = ["--beside", "icmp://far", "--beside", "icmp://far"];
    assert!(refused(&twice).contains("named twice"));
    let line = refused(&["--beside", "icmp://far", "--insecure"]);
    assert!(line.contains("dot:// and doh://"), "{line}");
}
