//! Load by UDP, through labs whose losses and rates are known.

use crate::support::{Machine, folder, number, rows, run};
use schema::tables::{Series, Stream};

const PLAN: &str = r#"
summary = "video at its rate beside a download"
idle_before = "1s"
duration = "8s"
settle = "1s"
idle_after = "1s"
load = [
    { direction = "down", class = "AF41" },
    { direction = "both", transport = "udp", rate = "2Mbit", class = "AF41" },
]
probe = [{ kind = "udp_rr", gap = "20ms" }]
"#;

#[test]
fn a_load_by_udp_keeps_its_rate_and_tells_what_was_lost_on_each_way() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = folder(&[("plan.toml", PLAN)]);
    let arguments = "rrul --lab lossy --plan plan.toml --json -o run";
    let arguments: Vec<_> = arguments.split(' ').collect();
    let run = run(place.path(), &arguments).measured();
    let record = place.path().join("run");

    let streams = rows::<Stream>(&record);
    let of_udp: Vec<_> = streams.iter().filter(|s| s.kind == "udp_load").collect();
    let names: Vec<_> = of_udp.iter().map(|stream| &*stream.name).collect();
    assert_eq!(names, ["UDP down AF41 #1", "UDP up AF41 #1"]);
    let series = rows::<Series>(&record);
    for stream in of_udp {
        let sent = stream.sent_bytes.unwrap();
        // 2 MB in 8 s; a machine that is too busy sends less.
        assert!((200_000..=2_001_200).contains(&sent), "{stream:?}");
        let arrived = stream.total_bytes.unwrap();
        // 1 % of some 1,660 datagrams: 17, give or take 4.
        let lost = (sent - arrived) as f64 / sent as f64 * 100.0;
        assert!((0.05..3.0).contains(&lost), "{stream:?}");
        let told = format!("/load_loss_pct/{}", stream.direction);
        assert!((number(&run["summary"], &told) - lost).abs() < 1e-9);
        let end = if stream.direction == "down" {
            "client"
        } else {
            "server"
        };
        let of = series.iter();
        let of = of.filter(|row| row.stream == stream.id && row.end == end);
        let bins: u64 = of.filter_map(|row| row.delivered_bytes).sum();
        assert_eq!(bins, arrived, "{}", stream.name);
        assert!(stream.connected_ns < stream.first_byte_ns, "{stream:?}");
        assert!(stream.congestion_control.is_none() && stream.retransmits.is_none());
    }
    let up = number(&run["summary"], "/throughput_mbps/up");
    assert!((0.2..2.05).contains(&up), "{up}");
    assert!(run["summary"]["throughput_mbps"]["wire_up"].is_null());
    // UDP takes no share: it sends at its rate.
    let fairness = &run["summary"]["fairness"];
    assert!(fairness["down"].is_null() && fairness["like_100ms_down"].is_null());
}

#[test]
fn what_waits_in_a_long_queue_is_not_lost() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    // The load is a quarter above the rate, and its queue of more than a second does not overflow. So slow that no busy machine drops any.
    let lab = crate::support::SMALL_LAB
        .replace("30kB", "9MB")
        .replace("8Mbit", "800kbit");
    let plan = PLAN
        .replace(r#"{ direction = "down", class = "AF41" },"#, "")
        .replace("2Mbit", "960kbit")
        .replace(r#"duration = "8s""#, r#"duration = "6s""#)
        .replace(r#"idle_after = "1s""#, r#"idle_after = "4s""#);
    let place = folder(&[("plan.toml", &plan), ("lab.toml", &lab)]);
    let arguments = "rrul --lab lab.toml --plan plan.toml --json -o run";
    let arguments: Vec<_> = arguments.split(' ').collect();
    let run = run(place.path(), &arguments).measured();
    for way in ["down", "up"] {
        let lost = number(&run["summary"], &format!("/load_loss_pct/{way}"));
        assert!((0.0..0.01).contains(&lost), "{way}: {lost}");
    }
}

#[test]
fn a_load_by_udp_without_a_rate_is_refused_in_a_line() {
    let _machine = Machine::without_networks();
    for (load, said) in [
        (
            r#"{ direction = "up", transport = "udp" }"#,
            "write its rate",
        ),
        (
            r#"{ direction = "up", transport = "udp", rate = "2Mbit", cc = "reno" }"#,
            "leave cc out",
        ),
        (
            r#"{ direction = "up", transport = "udp", rate = "2Gbit" }"#,
            "take more streams",
        ),
    ] {
        let plan = format!("summary = \"load\"\nload = [{load}]\n");
        let place = folder(&[("plan.toml", &plan)]);
        let arguments = ["rrul", "--lab", "dsl", "--plan", "plan.toml"];
        let refused = run(place.path(), &arguments);
        assert!(refused.refused(2).contains(said), "{refused:?}");
    }
}
