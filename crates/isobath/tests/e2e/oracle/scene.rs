//! A lab with a measurement in it, and what dumpcap saw at both of its ends.

use super::packets::{Packet, read};
use crate::support::{PROGRAM, Ran, Running, TempDir, folder, has, isobath};
use serde_json::Value;
use std::fs;
use std::panic::panic_any;
use std::path::Path;

/// What the scripts share. `$1.pcapng` is there once dumpcap listens; what it has not yet read when it is told to end is lost, so it
/// is given time.
const SHARED: &str = r#"
await() { until [ -e "$1" ]; do sleep 0.02; done; }
watch() {
    interface=$(sed -n 's/^ *\(to-[^:]*\):.*/\1/p' /proc/net/dev)
    dumpcap -q -i "$interface" -s 220 -B 64 -w $1.pcapng 2> $1.log &
    watcher=$!
    await $1.pcapng
}
unwatch() { sleep 0.7; kill -INT $watcher; wait $watcher || true; }
"#;

/// A far end with a key, which the near end's script finds in `$ISOBATH_KEY`.
const SERVE: &str = r#""$isobath" serve --ephemeral > serve.log 2>&1 &
until grep -q iso1- serve.log; do sleep 0.02; done"#;
const KEY: &str = r"export ISOBATH_KEY=$(grep -o 'iso1-[a-z0-9]*' serve.log | head -1)";

/// What a scene panics with when this machine was too busy for its run.
pub(super) struct TooBusy;

pub(super) struct Scene {
    place: TempDir,
    pub(super) near: Vec<Packet>,
    pub(super) far: Vec<Packet>,
}

impl Scene {
    /// Runs `near` on the client of `lab`, beside `far` on its server, and watches both.
    #[track_caller]
    pub(super) fn play(lab: &str, place: TempDir, far: &str, near: &str) -> Self {
        let far = format!(
            "server={SHARED}{far}\nwatch far\ntouch far.ready\nawait near.done\nunwatch\ntouch far.done\nwait"
        );
        let near = format!(
            "set -e\n{SHARED}await far.ready\n[ ! -e serve.log ] || {KEY}\nwatch near\n{near}\ntouch near.done\nunwatch\nawait far.done"
        );
        let arguments = ["lab", "run", lab, "--also", &far, "--", "sh", "-c", &near];
        let mut command = isobath(place.path(), &arguments);
        let tool = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/probe_client.py");
        command.env("isobath", PROGRAM).env("tool", tool);
        let ran = Running::start(command).finish();
        ran.ended(0);
        let [near, far] = ["near", "far"].map(|end| watched(place.path(), end, &ran));
        Self { place, near, far }
    }

    /// `isobath` with `arguments`, towards the server; its record is in `r`. A run that failed has no figures to compare, and one that was
    /// invalid has none of the path's ([`TooBusy`]); a verdict is a result, whatever it is.
    #[track_caller]
    pub(super) fn of(lab: &str, files: &[(&str, &str)], arguments: &str) -> Self {
        Self::beside("true", lab, files, arguments)
    }

    /// The same, with the command `other` beside it, which ends with it.
    #[track_caller]
    pub(super) fn beside(other: &str, lab: &str, files: &[(&str, &str)], arguments: &str) -> Self {
        let near = format!(
            r#"{other} &
other=$!
"$isobath" {arguments} -q --json -o r > run.json || case $? in 1|4|5);; *) cat run.json >&2; false;; esac
kill $other 2> /dev/null || true
wait $other || true"#
        );
        let scene = Self::play(lab, folder(files), SERVE, &near);
        if scene.json("run.json")["status"] == "invalid" {
            panic_any(TooBusy);
        }
        scene
    }

    pub(super) fn place(&self) -> &Path {
        self.place.path()
    }

    /// The folder of the record.
    pub(super) fn record(&self) -> std::path::PathBuf {
        self.place().join("r")
    }

    /// A file of the scene, as text.
    pub(super) fn text(&self, name: &str) -> String {
        fs::read_to_string(self.place().join(name)).unwrap()
    }

    pub(super) fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.text(name)).unwrap()
    }

    pub(super) fn summary(&self) -> Value {
        self.json("run.json")["summary"].clone()
    }
}

/// What was captured at one end, all of it.
#[track_caller]
fn watched(place: &Path, end: &str, ran: &Ran) -> Vec<Packet> {
    let log = fs::read_to_string(place.join(format!("{end}.log"))).unwrap();
    let (_, counts) = log
        .split_once("received/dropped on interface")
        .unwrap_or_else(|| panic!("{log} {ran:?}"));
    assert!(
        counts.contains("/0 (pcap:0/dumpcap:0/"),
        "dumpcap lost packets: {log}"
    );
    read(&place.join(format!("{end}.pcapng")))
}

/// Whether there is what every scene needs.
pub(super) fn can_watch() -> bool {
    ["tshark", "dumpcap"].iter().all(|tool| has(tool))
}
