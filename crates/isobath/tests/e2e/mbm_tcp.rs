//! Model based metrics carried by the kernel's TCP: in labs, and what it cannot carry.

use crate::mbm::{in_lab, place, verdicts};
use crate::support::{Machine, folder, number, run, values};
use serde_json::json;

const BY_TCP: [&str; 2] = ["--carrier", "tcp"];

/// Holds mbm/tcp-carrier, mbm/reordering-measured.
#[test]
fn quiet_a_good_path_carries_tcp_at_the_targets_rate_and_in_its_bursts() {
    let Some(_machine) = Machine::quiet() else {
        return;
    };
    let place = place();
    let Some(run) = in_lab(place.path(), "good.toml", 0, &BY_TCP) else {
        return;
    };
    assert_eq!(run["plan"]["carrier"], "tcp");
    assert_eq!(
        verdicts(&run),
        [("paced-full-rate", "PASS"), ("sustained-burst", "PASS")]
    );
    for test in values(&run["summary"]["tests"]) {
        let tcp = &test["tcp"];
        assert_eq!(tcp["congestion_control"], "reno");
        // Packets of 1,500 octets: 20 of IP, 32 of TCP with time stamps.
        assert_eq!(tcp["mss"], 1_448);
        assert_eq!(tcp["segments"], test["packets_sent"]);
        assert_eq!(test["loss"]["counts"]["lost"], tcp["retransmits"]);
        assert_eq!(test["loss"]["runs"], json!(null));
        assert!(number(test, "/figures/counts/packets") >= 180.0);
    }
    let [paced, bursts] = [0, 1].map(|index| &run["summary"]["tests"][index]);
    // 130.6 packets a second, as by UDP, of 1,448 octets.
    let bps = number(paced, "/tcp/pacing_bps");
    assert!(
        (bps / (1.5e6 / 8.0 / 1_436.0 * 1_448.0 * 8.0) - 1.0).abs() < 1e-3,
        "{bps}"
    );
    assert_eq!(paced["pattern"], json!(null));
    assert_eq!(bursts["pattern"]["burst_packets"], 8);
    assert_eq!(bursts["tcp"]["pacing_bps"], json!(null));
    let shown = crate::support::run(place.path(), &["show", "r"]);
    let card = &shown.ended(0).stdout;
    assert!(card.contains("by TCP reno paced at 1.51 Mbit/s"), "{card}");
}

#[test]
fn quiet_a_lossy_path_fails_by_tcp_too() {
    let Some(_machine) = Machine::quiet() else {
        return;
    };
    let place = place();
    let more = [&BY_TCP[..], &["--test", "paced-full-rate"]].concat();
    let Some(run) = in_lab(place.path(), "bad.toml", 1, &more) else {
        return;
    };
    let test = &run["summary"]["tests"][0];
    assert_eq!(test["verdict"]["outcome"], "FAIL");
    // TCP slows down for the losses, or they are seen to be too many, whichever comes first.
    let reason = test["verdict"]["reason"].as_str().unwrap();
    assert!(["rate_low", "loss_high"].contains(&reason), "{reason}");
    assert!(number(test, "/tcp/retransmits") > 0.0);
}

/// Holds mbm/constant-window.
#[test]
fn quiet_the_far_end_can_send_by_tcp_and_its_window_can_be_bound() {
    let Some(_machine) = Machine::quiet() else {
        return;
    };
    let place = place();
    let more = ["--reverse", "--test", "paced-full-rate,windowed-full-rate"];
    let Some(run) = in_lab(place.path(), "bad.toml", 0, &[&BY_TCP[..], &more].concat()) else {
        return;
    };
    assert_eq!(
        verdicts(&run),
        [("paced-full-rate", "PASS"), ("windowed-full-rate", "PASS")]
    );
    let windowed = &run["summary"]["tests"][1]["tcp"];
    let (wanted, offered) = (
        number(windowed, "/window_packets"),
        number(windowed, "/offered_packets"),
    );
    assert!(offered <= wanted + 1.0, "{windowed}");
    assert_eq!(windowed["congestion_control"], "reno");
}

#[test]
fn what_tcp_cannot_carry_is_refused_in_a_line_that_says_what_to_do() {
    let place = folder(&[]);
    let told = |more: &[&str]| {
        let common = ["mbm", "nowhere.invalid", "--rate", "2Mbit"];
        let ran = run(place.path(), &[&common[..], &BY_TCP, more].concat());
        ran.ended(2);
        assert_eq!(ran.stderr.trim_end().lines().count(), 1, "{ran:?}");
        ran.stderr.clone()
    };
    for test in ["bufferbloat", "slow-start-aqm", "sender-rate-burst"] {
        let said = told(&["--rtt", "50ms", "--test", test]);
        assert!(
            said.contains(test) && said.contains("--carrier udp"),
            "{said}"
        );
    }
    let suite = told(&["--rtt", "50ms", "--suite"]);
    assert!(suite.contains("--test paced-full-rate,"), "{suite}");
    let ecn = told(&["--rtt", "50ms", "--ecn"]);
    assert!(ecn.contains("tcp_ecn"), "{ecn}");
    // Between two bursts TCP would rest for longer than its timeout.
    let rest = told(&["--rtt", "300ms"]);
    assert!(rest.contains("300 ms apart"), "{rest}");
}
