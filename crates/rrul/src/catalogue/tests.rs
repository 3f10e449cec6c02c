use super::*;
use schema::rrul::plan::{Call, Direction, EcnField, Families, ProbeKind};
use std::time::Duration;

#[test]
fn every_built_in_plan_is_one() {
    for name in names() {
        let plan = find(name).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(plan.name, *name);
    }
}

/// Holds rrul/complete-example.
#[test]
fn rrul_loads_four_classes_both_ways_over_both_protocols() {
    let plan = find("rrul").unwrap();
    assert_eq!(plan.families, Families::Both);
    assert!(
        plan.load
            .iter()
            .all(|load| load.direction == Direction::Both && load.streams == 2)
    );
    let classes: Vec<_> = plan
        .load
        .iter()
        .map(|load| load.class.to_string())
        .collect();
    assert_eq!(classes, ["CS1", "CS0", "CS5", "EF"]);
}

/// Holds rrul/length, rrul/idle-first, rrul/under-load, rrul/udp-and-tcp, rrul/load-streams, rrul/mark-ecn, rrul/calls,
/// rrul/version.
#[test]
fn rrul_measures_idle_and_for_a_minute_loaded_whatever_the_specification_names() {
    let plan = find("rrul").unwrap();
    assert_eq!(plan.duration.0, Duration::from_secs(60));
    assert_eq!(plan.idle_before.0, Duration::from_secs(5));
    let streams: u16 = plan.load.iter().map(|load| load.streams).sum();
    assert_eq!(streams, 8, "each way");
    let calls: Vec<_> = plan
        .call
        .iter()
        .map(|call| call.class.to_string())
        .collect();
    assert_eq!(calls, ["EF", "CS0", "CS1"]);
    let is_g711 = |call: &Call| call.every.0 == Duration::from_millis(10) && call.payload() == 92;
    assert!(plan.call.iter().all(is_g711));
    assert!(
        plan.call
            .iter()
            .all(|call| call.direction == Direction::Both)
    );
    let classes = |kind| -> Vec<_> {
        let probes = plan.probe.iter().filter(|probe| probe.kind == kind);
        let unmarked = probes.filter(|probe| probe.ecn == EcnField::None);
        unmarked.map(|probe| probe.class.to_string()).collect()
    };
    for kind in [ProbeKind::UdpRr, ProbeKind::TcpRr] {
        assert_eq!(classes(kind), ["EF", "CS0", "CS1"]);
    }
    for mark in [EcnField::Ect0, EcnField::Ect1] {
        assert!(plan.probe.iter().any(|probe| probe.ecn == mark));
    }
    for kind in [ProbeKind::Dns, ProbeKind::Https] {
        assert!(plan.probe.iter().any(|probe| probe.kind == kind));
    }
    let web = plan.web.as_ref().unwrap();
    assert!(web.before.0 >= Duration::from_secs(8) && web.page == "rrul2013");
    assert!(plan.trace.is_some());
}

#[test]
fn a_call_is_g711_over_rtp_unless_it_says_otherwise() {
    let plan = parse("summary = 'x'\n[[call]]\n[[call]]\nevery = '20ms'", "x").unwrap();
    let sizes: Vec<_> = plan.call.iter().map(Call::payload).collect();
    assert_eq!(sizes, [92, 172]);
}

#[test]
fn what_is_no_plan_is_told_in_one_line() {
    let message = |text| parse(text, "my.toml").unwrap_err().to_string();
    assert_eq!(
        message("summary = 'x'"),
        "my.toml: a plan needs at least one [[load]], [[probe]], [[call]], [web] or [trace]"
    );
    let text = "summary = 'x'\n[[load]]\ndirection = 'sideways'";
    assert!(message(text).starts_with("my.toml line 3: unknown variant `sideways`"));
    let text = "summary = 'x'\nduration = '60'\n[[load]]\ndirection = 'up'";
    assert!(message(text).starts_with("my.toml line 2: '60' is not a time"));
    let text = "summary = 'x'\n[[probe]]\nkind = 'udp_rr'\nserver = 1";
    assert!(message(text).contains("server = 1 is not one of this plan's 1"));
    let text = "summary = 'x'\n[[probe]]\nkind = 'tcp_rr'\necn = 'ect0'";
    assert!(message(text).contains("ecn is for probes of kind udp_rr and udp_paced"));
    let told = find("rul").unwrap_err().to_string();
    assert!(told.contains("no plan is called 'rul'"), "{told}");
    let told = find("rrull").unwrap_err().to_string();
    assert!(told.contains("did you mean 'rrul'?"), "{told}");
}
