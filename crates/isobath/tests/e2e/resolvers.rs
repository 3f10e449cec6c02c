//! Round trips of DNS over TLS and over HTTPS, by somebody else's resolver.

use crate::support::{
    Machine, PROGRAM, Ran, SMALL_LAB, TempDir, folder, number, once_there, run, short_plan,
};
use std::fs;

/// Knows the root's name servers by itself, by datagrams, over TLS and over HTTPS.
const UNBOUND: &str = r#"server:
  interface: 0.0.0.0@53
  interface: 0.0.0.0@853
  interface: 0.0.0.0@443
  tls-service-pem: "chain.pem"
  tls-service-key: "key.pem"
  interface: ::0@53
  interface: ::0@853
  interface: ::0@443
  access-control: 0.0.0.0/0 allow
  access-control: ::0/0 allow
  directory: "."
  chroot: ""
  username: ""
  pidfile: ""
  do-daemonize: no
  use-syslog: no
  local-zone: "." static
  local-data: ". NS a.root-servers.net."
"#;

fn place() -> TempDir {
    let place = folder(&[("small.toml", SMALL_LAB), ("unbound.conf", UNBOUND)]);
    let own = rcgen::generate_simple_self_signed(["far".to_owned()]).unwrap();
    fs::write(place.path().join("chain.pem"), own.cert.pem()).unwrap();
    fs::write(
        place.path().join("key.pem"),
        own.signing_key.serialize_pem(),
    )
    .unwrap();
    place
}

/// `isobath estimate` of this, in the small lab with the resolver on its far host once that is there.
fn estimate(place: &TempDir, arguments: &str) -> Ran {
    estimate_beside(place, "exec", arguments)
}

/// The same, where the resolver is run by this.
fn estimate_beside(place: &TempDir, by: &str, arguments: &str) -> Ran {
    let tools = format!("{}/../../target/tools/unbound", env!("CARGO_MANIFEST_DIR"));
    let libraries = format!("{tools}/usr/lib/{}-linux-gnu", std::env::consts::ARCH);
    let server = format!(
        "far=LD_LIBRARY_PATH={libraries} {by} {tools}/usr/sbin/unbound -c unbound.conf 2> unbound.log"
    );
    let script = format!(
        "while {PROGRAM} estimate rtt dns://far -d 200ms -q -o tried 2>&1 | grep -q 'nobody answers'; do rm -rf tried; sleep 0.1; done; \
         rm -rf tried out; exec {PROGRAM} estimate {arguments} -q --json -o out"
    );
    let lab = ["lab", "run", "small.toml", "--also", &server, "--"];
    run(place.path(), &[&lab[..], &["sh", "-c", &script]].concat())
}

/// The least round trip in ms.
#[track_caller]
fn least_ms(place: &TempDir, arguments: &str) -> f64 {
    let _ = fs::remove_dir_all(place.path().join("out"));
    let ran = estimate(place, arguments);
    // A machine that is too busy (4) does not change the least.
    assert!(matches!(ran.code(), Some(0 | 4)), "{ran:#?}");
    let told = ran.json();
    let summary = &told["summary"];
    assert!(number(summary, "/probes_lost") <= 1.0, "{summary:#}");
    assert!(number(summary, "/probes") >= 15.0, "{summary:#}");
    number(summary, "/details/rtt_ms/min")
}

#[test]
fn a_resolver_is_as_far_away_over_tls_and_https_as_it_is() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = place();
    // 5 ms each way at 8 Mbit/s, and what the resolver takes.
    for address in [
        "dns://far",
        "dot://far --ca chain.pem",
        "doh://far --ca chain.pem",
        "doh://far:443/dns-query --insecure",
    ] {
        let ms = least_ms(&place, &format!("rtt {address} -d 2s"));
        assert!((10.0..20.0).contains(&ms), "{address}: {ms} ms");
    }
}

#[test]
fn what_a_connection_cannot_tell_or_does_not_open_is_told_in_one_line() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = place();
    for (arguments, says) in [
        ("rtt dot://far", "by --ca, or say --insecure"),
        ("rtt doh://far/nothing --ca chain.pem -d 1s", "404"),
        ("rtt dot://far:9 --insecure", "refused"),
    ] {
        let _ = fs::remove_dir_all(place.path().join("out"));
        let ran = estimate(&place, arguments).ended(3).stdout.clone();
        assert!(ran.contains(says), "{arguments}: {ran}");
    }
    for (arguments, says) in [
        ("loss dot://far", "repeats what is lost"),
        ("owd doh://far", "no time stamps"),
        ("rtt dot://far --dscp EF", "leave out --dscp"),
        ("rtt dns://far --insecure", "leave them out"),
        ("rtt doh://user@far", "is no https:// URL"),
    ] {
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let ran = run(place.path(), &[&["estimate"], &arguments[..]].concat());
        assert!(ran.ended(2).stderr.contains(says), "{ran:#?}");
    }
}

/// What was measured until then is in the record.
#[test]
fn a_resolver_that_goes_away_is_told_and_nothing_measured_is_lost() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = place();
    let ran = estimate_beside(&place, "exec timeout 4", "rtt dot://far --insecure -d 20s");
    let told = ran.ended(3).json();
    assert_eq!(told["warnings"][0]["code"], "server_lost", "{told:#}");
    assert!(number(&told, "/summary/probes") >= 10.0, "{told:#}");
}

#[test]
fn an_interrupt_ends_a_connection_that_nobody_answers() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = folder(&[(
        "deaf.toml",
        &SMALL_LAB.replace("up = [", "up = [{ kind = \"loss\", probability = 1.0 }, "),
    )]);
    let script = format!(
        "{PROGRAM} estimate rtt dot://far -q -o out & sleep 0.5; kill -INT $!; sleep 4; kill -0 $! && exit 77; wait $!"
    );
    let lab = ["lab", "run", "deaf.toml", "--", "sh", "-c", &script];
    run(place.path(), &lab).ended(130);
}

#[test]
fn a_resolver_is_asked_beside_load_in_every_way() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = place();
    fs::write(place.path().join("plan.toml"), short_plan(2)).unwrap();
    let tools = format!("{}/../../target/tools/unbound", env!("CARGO_MANIFEST_DIR"));
    let libraries = format!("{tools}/usr/lib/{}-linux-gnu", std::env::consts::ARCH);
    let resolver = format!(
        "far=LD_LIBRARY_PATH={libraries} exec {tools}/usr/sbin/unbound -c unbound.conf 2> unbound.log"
    );
    let ways = "--beside dns://far --beside dot://far --beside doh://far --ca chain.pem";
    // A name of the lab is known there by its addresses; the certificate has it as it was typed.
    let command = format!("{PROGRAM} rrul iperf3://far --plan plan.toml {ways} -q --json -o out");
    let script = format!(
        "while {PROGRAM} estimate rtt dns://far -d 200ms -q -o tried 2>&1 | grep -q 'nobody answers'; do rm -rf tried; sleep 0.1; done; {}",
        once_there(&command, "no iperf3 server")
    );
    let lab = [
        "lab",
        "run",
        "small.toml",
        "--also",
        &resolver,
        "--also",
        "far=iperf3 -s > /dev/null",
        "--",
        "sh",
        "-c",
        &script,
    ];
    let ran = run(place.path(), &lab);
    assert!(matches!(ran.code(), Some(0 | 4)), "{ran:#?}");
    let told = ran.json();
    let beside = &told["summary"]["beside"];
    for (far_end, repeats) in [
        ("dns://far", false),
        ("dot://far", true),
        ("doh://far", true),
    ] {
        let figures = &beside[far_end];
        let idle = number(figures, "/rtt_ms/idle/min");
        assert!((10.0..20.0).contains(&idle), "{far_end}: {figures:#}");
        // The queues hold 30 ms each way, which either fills.
        assert!(
            number(figures, "/rtt_ms/loaded/p50") > idle + 10.0,
            "{figures:#}"
        );
        assert_eq!(
            figures["loss_pct"]["loaded"].is_null(),
            repeats,
            "{figures:#}"
        );
    }
}
