//! Far ends of somebody else: other people's servers in labs, and our own servers for other people's clients.

use crate::support::{
    Machine, PROGRAM, Ran, SMALL_LAB, TempDir, folder, has, in_small_lab, number, run,
};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The lab with a tenth of the packets of one direction lost.
fn losing(direction: &str) -> String {
    let begins = format!("{direction} = [");
    let loses = format!("{begins}{{ kind = \"loss\", probability = 0.1 }}, ");
    SMALL_LAB.replace(&begins, &loses)
}

fn place() -> TempDir {
    folder(&[
        ("small.toml", SMALL_LAB),
        ("up.toml", &losing("up")),
        ("down.toml", &losing("down")),
        ("stamp.py", include_str!("far_ends/stamp.py")),
    ])
}

/// A program that `scripts/setup.sh test` has unpacked.
fn unpacked(program: &str) -> String {
    format!(
        "{}/../../target/tools/{program}",
        env!("CARGO_MANIFEST_DIR")
    )
}

/// What comes of `isobath estimate WORDS` in a lab where `server` runs on the far host, and answers at `address` by then.
fn asked(place: &Path, lab: &str, server: &str, address: &str, words: &str) -> Ran {
    // Until the server listens, nobody answers.
    let script = format!(
        "rm -rf tried; while {PROGRAM} estimate loss {address} -d 200ms -q -o tried 2>&1 | grep -q 'nobody answers'; do rm -rf tried; sleep 0.1; done; \
         rm -rf out; exec {PROGRAM} estimate {words} -q --json -o out"
    );
    let also = format!("far={server}");
    run(
        place,
        &[
            "lab", "run", lab, "--also", &also, "--", "sh", "-c", &script,
        ],
    )
}

/// What `isobath estimate WHAT` tells of the far end at `address` in a lab, where `server` runs on its far host.
fn estimate(place: &Path, lab: &str, server: &str, what: &str, address: &str) -> Value {
    let words = format!("{what} {address} -d 7s");
    let ran = asked(place, lab, server, address, &words);
    // A machine that is too busy (4) changes neither counts nor the least delays.
    assert!(matches!(ran.code(), Some(0 | 4)), "{ran:#?}");
    let printed: Value = serde_json::from_str(&ran.stdout).unwrap();
    printed["summary"].clone()
}

/// Every loss is found on the way on which the lab loses, and none on the other.
#[track_caller]
fn losses_are_told_apart(place: &Path, server: &str, address: &str) {
    for (lab, way, other) in [
        ("up.toml", "lost_there", "lost_back"),
        ("down.toml", "lost_back", "lost_there"),
    ] {
        let summary = estimate(place, lab, server, "loss", address);
        let far_end = &summary["details"]["far_end"];
        let lost = number(far_end, &format!("/{way}"));
        // A far end that waits for a processor may drop some itself, and not all far ends say so.
        let wrong = number(far_end, &format!("/{other}"));
        assert!(wrong < 5.0, "{lab}: {summary:#}");
        let all = number(&summary, "/probes_lost");
        // Of 350 requests 35 are lost, give or take 6; those behind the last reply count for no way.
        assert!((10.0..60.0).contains(&all), "{summary:#}");
        assert!((all - 5.0 - wrong..=all).contains(&lost), "{summary:#}");
    }
}

/// Round trip and one-way delays of an unloaded lab: 5 ms each way, and 0.2 ms for 200 octets at 8 Mbit/s. The least ones, which a busy
/// machine does not change.
#[track_caller]
fn delays_are_the_labs(place: &Path, server: &str, address: &str) {
    let summary = estimate(place, "small.toml", server, "owd", address);
    assert!(number(&summary, "/value") > 5.1, "{summary:#}");
    for (least, within) in [
        ("/details/there/delay_ms/min", 5.1..7.0),
        ("/details/back/delay_ms/min", 5.1..7.0),
        ("/details/rtt_ms/min", 10.2..14.0),
    ] {
        let ms = number(&summary, least);
        assert!(within.contains(&ms), "{least}: {summary:#}");
    }
}

#[test]
fn our_reflector_tells_delays_marks_and_losses_of_each_way() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = place();
    let server = format!("{PROGRAM} serve --also stamp:8620 --ephemeral --quiet --json");
    let address = "stamp://far:8620";
    delays_are_the_labs(place.path(), &server, address);
    losses_are_told_apart(place.path(), &server, address);
    let summary = estimate(
        place.path(),
        "small.toml",
        &server,
        "jitter --dscp EF",
        address,
    );
    assert_eq!(summary["details"]["far_end"]["remarked"], 0, "{summary:#}");
    assert_eq!(summary["details"]["far_end"]["ecn_changed"], 0);
    let summary = estimate(
        place.path(),
        "small.toml",
        &format!("{server} --stamp-key hex:736563726574"),
        "jitter --dscp EF",
        "stamp://far:8620 --stamp-key secret",
    );
    assert_eq!(summary["details"]["far_end"]["remarked"], 0, "{summary:#}");
    assert_eq!(summary["details"]["far_end"]["time_stamps"], true);
    // One that keeps no count says nothing of the way of a loss, and its sender finds out.
    let stateless = format!("{server} --stamp-stateless");
    let summary = estimate(place.path(), "up.toml", &stateless, "loss", address);
    let far_end = &summary["details"]["far_end"];
    assert!(far_end["lost_there"].is_null(), "{summary:#}");
    assert_eq!(far_end["time_stamps"], true, "{summary:#}");
}

#[test]
fn our_twamp_server_tells_delays_and_losses_of_each_way() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = place();
    // Beside a reflector that has the UDP port.
    let server = format!("{PROGRAM} serve --also twamp:8620,stamp:8620 --ephemeral --quiet --json");
    let address = "twamp://far:8620";
    delays_are_the_labs(place.path(), &server, address);
    losses_are_told_apart(place.path(), &server, address);
}

/// Wireshark's dissectors know nothing of ours.
#[test]
fn tshark_understands_a_twamp_session() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    if !has("tshark") {
        return;
    }
    let place = place();
    let server = format!("{PROGRAM} serve --also twamp --ephemeral --quiet --json");
    let script = format!(
        "tshark -q -i to-far -w session.pcapng 2>/dev/null & t=$!; \
         for _ in $(seq 100); do [ -s session.pcapng ] && break; sleep 0.1; done; sleep 1; \
         {PROGRAM} estimate rtt twamp://far -d 2s -q --json -o out >told.json; code=$?; \
         sleep 1; kill -INT $t; wait $t; exit $code"
    );
    let ran = in_small_lab(place.path(), &server, &script);
    assert!(matches!(ran.code(), Some(0 | 4)), "{ran:#?}");
    let dissected = |filter: &str, fields: &[&str]| -> Vec<String> {
        let mut command = Command::new("tshark");
        command.args(["-r", "session.pcapng", "-Y", filter, "-T", "fields"]);
        command.args(fields.iter().flat_map(|field| ["-e", field]));
        let told = command.current_dir(place.path()).output().unwrap();
        let told = String::from_utf8(told.stdout).unwrap();
        told.lines().map(str::to_owned).collect()
    };
    let control = dissected("twamp.control", &["twamp.control.command"]);
    let commands: Vec<_> = control.iter().filter(|number| !number.is_empty()).collect();
    assert_eq!(commands, ["5", "2", "3"], "{control:?}");
    let ports = ["twamp.control.sender_port", "twamp.control.padding_length"];
    let asked = dissected("twamp.control.command == 5", &ports);
    let [sender, padding] = asked[0].split('\t').collect::<Vec<_>>()[..] else {
        panic!("{asked:?}")
    };
    let sent = format!("twamp.test && udp.srcport == {sender}");
    let sent = dissected(&sent, &["udp.length", "ipv6.hlim"]);
    let length = 8 + 14 + padding.parse::<u32>().unwrap();
    assert!(sent.len() > 50, "{sent:?}");
    assert!(
        sent.iter().all(|told| *told == format!("{length}\t255")),
        "{sent:?}"
    );
    let replies = format!("twamp.test && udp.dstport == {sender}");
    let replies = dissected(&replies, &["twamp.test.sender_ttl"]);
    assert!(
        replies.len() > 50 && replies.iter().all(|hops| hops == "255"),
        "{replies:?}"
    );
    assert_eq!(dissected("_ws.malformed", &["frame.number"]), [""; 0]);
}

/// Without a key and with one.
#[track_caller]
fn an_irtt_server_tells_delays_and_losses(server: &str) {
    let place = place();
    delays_are_the_labs(place.path(), server, "irtt://far");
    losses_are_told_apart(place.path(), server, "irtt://far");
    let signed = format!("{server} --hmac=secret");
    let address = "irtt://far --irtt-key hex:736563726574";
    delays_are_the_labs(place.path(), &signed, address);
    let other = "rtt irtt://far --irtt-key other -d 1s";
    let told = asked(place.path(), "small.toml", &signed, address, other).stdout;
    assert!(told.contains("with the key of --irtt-key"), "{told}");
}

#[test]
fn irtts_server_tells_delays_and_losses_of_each_way() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let server = format!("{} server", unpacked("irtt/usr/bin/irtt"));
    an_irtt_server_tells_delays_and_losses(&server);
}

#[test]
fn irtts_other_server_tells_delays_and_losses_of_each_way() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    an_irtt_server_tells_delays_and_losses(&unpacked("irtt-rs/bin/irtt-server"));
}

#[test]
fn irtts_client_finds_with_our_server_what_it_finds_with_its_own() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = place();
    let irtt = unpacked("irtt/usr/bin/irtt");
    let ours = format!("{PROGRAM} serve --also irtt:2113 --ephemeral --quiet --json");
    for (port, server, key) in [
        (2112, format!("{irtt} server"), ""),
        (2113, ours.clone(), ""),
        (2113, format!("{ours} --irtt-key secret"), "--hmac=secret"),
    ] {
        let also = format!("far={server}");
        let client =
            format!("exec {irtt} client -Q -i 20ms -d 6s -l 172 {key} -o told.json.gz far:{port}");
        run(
            place.path(),
            &[
                "lab", "run", "up.toml", "--also", &also, "--", "sh", "-c", &client,
            ],
        )
        .ended(0);
        let told = Command::new("gzip")
            .args(["-dc"])
            .arg(place.path().join("told.json.gz"))
            .output()
            .unwrap();
        let told: Value = serde_json::from_slice(&told.stdout).unwrap();
        let stats = &told["stats"];
        let lost = |way: &str| number(stats, &format!("/{way}_loss_percent"));
        assert!((3.0..20.0).contains(&lost("upstream")), "{stats:#}");
        assert!(lost("downstream") < 0.01, "{stats:#}");
        for way in ["send_delay", "receive_delay"] {
            let ms = number(stats, &format!("/{way}/min")) / 1e6;
            assert!((5.1..7.0).contains(&ms), "{way}: {stats:#}");
        }
        fs::remove_file(place.path().join("told.json.gz")).unwrap();
    }
}

#[test]
fn irtts_other_client_finds_with_our_server_what_the_lab_does() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = place();
    let client = unpacked("irtt-rs/bin/irtt-client");
    for (ours, theirs) in [("", ""), ("--irtt-key secret", "--hmac secret")] {
        let server = format!("{PROGRAM} serve --also irtt {ours} --ephemeral --quiet --json");
        let script = format!("exec {client} -i 20ms -d 3s -l 172 {theirs} -f jsonl --no-stats far");
        let ran = in_small_lab(place.path(), &server, &script);
        let told = &ran.ended(0).stdout;
        let rows: Vec<Value> = told
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect();
        let replies: Vec<&Value> = rows
            .iter()
            .filter(|row| row["event"] == "echo_reply")
            .collect();
        assert!((140..=151).contains(&replies.len()), "{told}");
        for way in ["sd_us", "rd_us"] {
            let least = replies.iter().filter_map(|reply| reply[way].as_f64());
            let ms = least.fold(f64::MAX, f64::min) / 1e3;
            assert!((5.1..7.0).contains(&ms), "{way}: {ms} {told}");
        }
    }
}

#[test]
fn a_reflector_made_of_scapys_packets_is_understood() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = place();
    let summary = estimate(
        place.path(),
        "small.toml",
        "/usr/bin/python3 stamp.py reflect",
        "rtt",
        "stamp://far:8620",
    );
    let rtt = number(&summary, "/details/rtt_ms/min");
    assert!((10.2..14.0).contains(&rtt), "{summary:#}");
    // It repeats our number and knows no TLVs.
    let far_end = &summary["details"]["far_end"];
    assert_eq!(far_end["time_stamps"], true);
    assert!(far_end["remarked"].is_null(), "{summary:#}");
    let signed = "/usr/bin/python3 stamp.py reflect_signed";
    let address = "stamp://far:8620 --stamp-key secret";
    let summary = estimate(place.path(), "small.toml", signed, "rtt", address);
    let rtt = number(&summary, "/details/rtt_ms/min");
    assert!((10.2..14.0).contains(&rtt), "{summary:#}");
    // What is not signed as it should be is no answer.
    let other = "rtt stamp://far:8620 --stamp-key other -d 1s";
    let ran = asked(place.path(), "small.toml", signed, address, other);
    let says = ran.json()["summary"]["says"].to_string();
    assert!(says.contains("with the key of --stamp-key"), "{says}");
}

#[test]
fn senders_made_by_others_are_answered() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = place();
    for (key, part) in [("", "send"), ("--stamp-key secret", "send_signed")] {
        let server = format!("{PROGRAM} serve --also stamp:8620 {key} --ephemeral --quiet --json");
        let script = format!("exec /usr/bin/python3 stamp.py {part} far");
        in_small_lab(place.path(), &server, &script).ended(0);
    }
}

#[test]
fn hosts_that_have_agreed_to_nothing_tell_round_trips() {
    let Some(_machine) = Machine::shared() else {
        return;
    };
    let place = place();
    // A resolver that knows nothing, and a clock that believes itself.
    let resolver = "/usr/sbin/dnsmasq -d -C /dev/null -R -u root -x $PWD/d.pid";
    let clock = format!(
        "printf 'local\\nallow\\ncmdport 0\\nbindcmdaddress /\\npidfile %s/c.pid\\n' $PWD >c.conf; {} -x -n -u root -f $PWD/c.conf",
        unpacked("chrony/usr/sbin/chronyd")
    );
    let web = format!("{PROGRAM} serve --also rpm --ephemeral --quiet --json");
    for (server, address) in [
        ("true", "icmp://far"),
        (resolver, "dns://far"),
        (&clock, "ntp://far"),
        (&web, "h3://far:4043"),
    ] {
        let summary = estimate(place.path(), "small.toml", server, "rtt", address);
        let rtt = number(&summary, "/details/rtt_ms/min");
        assert!((10.0..16.0).contains(&rtt), "{address}: {summary:#}");
        assert_eq!(summary["probes_lost"], 0, "{address}: {summary:#}");
        let stamps = address.starts_with("ntp");
        assert_eq!(summary["details"]["far_end"]["time_stamps"], stamps);
        assert_eq!(summary["details"]["there"].is_null(), !stamps);
    }
}

#[test]
fn who_asks_for_too_much_or_nobody_is_told_in_a_line() {
    let place = folder(&[]);
    let refused = |arguments: &[&str], code| {
        let ran = run(place.path(), &[&["estimate"], arguments].concat());
        ran.refused(code).to_owned()
    };
    assert!(refused(&["owd", "icmp://127.0.0.1"], 2).contains("no time stamps"));
    assert!(refused(&["available", "stamp://127.0.0.1"], 2).contains("isobath serve"));
    assert!(refused(&["rtt", "gopher://127.0.0.1"], 2).contains("use one of"));
    assert!(refused(&["rtt", "stamp://no.such.host.invalid"], 3).contains("no.such.host"));
    let ran = run(
        place.path(),
        &[
            "estimate",
            "rtt",
            "stamp://127.0.0.1:9",
            "-d",
            "1s",
            "-q",
            "-o",
            "out",
            "--json",
        ],
    );
    assert!(matches!(ran.code(), Some(4 | 5)), "{ran:#?}");
    let printed = ran.json();
    let says = printed["summary"]["says"].as_str().unwrap();
    assert!(
        says.contains("nobody answers STAMP") && says.contains("refused"),
        "{says}"
    );
}

#[test]
fn all_far_ends_are_listed() {
    let place = folder(&[]);
    let list = run(place.path(), &["far-ends"]).ended(0).stdout.clone();
    let json = run(place.path(), &["far-ends", "--json"]).ended(0).json();
    for far_end in json["far_ends"].as_array().unwrap() {
        let scheme = far_end["scheme"].as_str().unwrap();
        assert!(list.contains(&format!("{scheme}://HOST")), "{list}");
    }
    for verb in ["isobath rpm", "isobath udpst"] {
        assert!(list.contains(verb), "{list}");
    }
    assert!(list.lines().all(|line| line.len() <= 160), "{list}");
}
