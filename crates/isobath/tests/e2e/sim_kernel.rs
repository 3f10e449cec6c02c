//! A connection in virtual time beside the kernel's, packet for packet: the same vector over the same path, which loses the same packets.

use crate::sim_replay::dissected;
use crate::support::{Machine, TempDir, attempts, folder, has, is_undecided, run};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// What happens to a connection: its ADUs with the waits after them, and the packets of either end that are lost, counted from 1.
struct Script {
    name: &'static str,
    adus: &'static str,
    lost: [&'static [u64]; 2],
    /// Of the slower link.
    rate: &'static str,
    /// Octets that either end has room for.
    window: u32,
}

const ONE: &str = "> 100\nt 0\n< 5000\nt 0\n";
const TURNS: &str = "> 100\nt 0\n< 300\nt 0\n> 100\nt 0\n< 300\nt 0\n> 100\nt 0\n< 300\nt 0\n";
const PAUSE: &str = "> 100\nt 0\n< 5000\nt 600000\n> 200\nt 0\n< 20000\nt 0\n";
/// Twenty-two segments, all acknowledged at once: sixteen are at the beginning, and again after the pause.
const LONG: &str = "> 100\nt 0\n< 15000\nt 1000000\n> 100\nt 0\n< 15000\nt 0\n";
const THOUGHTFUL: &str = "> 460\nt 50000\n< 5000\nt 300000\n> 460\nt 50000\n< 5000\nt 300000\n> 460\nt 50000\n< 5000\nt 0\n";

/// Forty-nine segments.
const BULK: &str = "> 100\nt 0\n< 70000\nt 0\n";

const SCRIPTS: [Script; 9] = [
    script("a request and its response", ONE, [&[], &[]]),
    script("two SYNs lost", ONE, [&[1, 2], &[]]),
    script(
        "the handshake's end and the request lost",
        ONE,
        [&[2, 3], &[]],
    ),
    script("the response lost", ONE, [&[], &[3, 4, 5, 6]]),
    script("ends that think", THOUGHTFUL, [&[], &[]]),
    script("two responses, a second apart", LONG, [&[], &[]]),
    script("taking turns, a response lost", TURNS, [&[], &[4]]),
    script(
        "a second request after a pause, the first response's end lost",
        PAUSE,
        [&[], &[6]],
    ),
    // A window that grows twice, so that 18 segments are acknowledged at once: an even number, as the kernel asks for an acknowledgement of the
    // second of two that leave together. Duplicates come 0.8 ms apart: of those after the third it acknowledges two at a time.
    Script {
        rate: "15Mbit",
        window: 68_000,
        ..script("one of many segments lost", BULK, [&[], &[36]])
    },
];

const fn script(name: &'static str, adus: &'static str, lost: [&'static [u64]; 2]) -> Script {
    Script {
        name,
        adus,
        lost,
        rate: "100Mbit",
        window: 65_535,
    }
}

impl Script {
    fn vector(&self) -> String {
        let epochs = self.adus.matches('>').count();
        let Self { adus, window, .. } = self;
        format!("SEQ 0 {epochs} 1 1\nw {window} {window}\nr 100000\nl 0.000000 0.000000\n{adus}")
    }

    /// 50 ms each way; what is lost is lost behind the link that is captured on, as far as the client sends it.
    fn lab(&self) -> String {
        let way = |lost: &[u64]| {
            let drop = format!("{{ kind = 'drop', packets = {lost:?} }}, ");
            let drop = if lost.is_empty() { String::new() } else { drop };
            format!("[{drop}{{ kind = 'delay', delay = '50ms' }}]")
        };
        let mut lab = "summary = 'two links'\nclient = 'left'\nserver = 'right'\nhosts = ['left', 'right']\nrouters = ['middle']\n".to_owned();
        let fast = &*format!("[{{ kind = 'rate', rate = '{}' }}]", self.rate);
        let slow = self.lost.map(way);
        for ([from, to], [up, down]) in [
            (["left", "middle"], [fast, fast]),
            (["middle", "right"], [&*slow[0], &*slow[1]]),
        ] {
            let link = "[[link]]\nbetween";
            writeln!(lab, "{link} = ['{from}', '{to}']\nup = {up}\ndown = {down}").unwrap();
        }
        lab
    }
}

/// A packet: when, in milliseconds since the first; SYN, FIN and RST, octets, number (of those without any only where it is certain), what it
/// acknowledges, and SACK blocks.
type Packet = (f64, [String; 6]);

/// What the client and the server said in the run `name`.
fn said(place: &Path, name: &str) -> [Vec<Packet>; 2] {
    let fields = [
        "frame.interface_name",
        "frame.time_epoch",
        "tcp.flags",
        "tcp.len",
        "tcp.seq",
        "tcp.ack",
        "tcp.options.sack_le",
        "tcp.options.sack_re",
    ];
    let mut ways = [Vec::new(), Vec::new()];
    let packets = dissected(place, name, &fields);
    let time = |packet: &[String]| packet[1].parse::<f64>().unwrap();
    let first = packets.iter().map(|packet| time(packet));
    let first = first.reduce(f64::min).unwrap();
    for packet in &packets {
        let at = (time(packet) - first) * 1e3;
        let [flags, len, mut seq, ack, from, to] = [2, 3, 4, 5, 6, 7].map(|at| packet[at].clone());
        let flags = u16::from_str_radix(flags.trim_start_matches("0x"), 16).unwrap() & 0b111;
        if flags == 0 && len == "0" {
            // Before the point of capture something may have been lost that the simulation's headers do not know of.
            seq.clear();
        }
        let said = [flags.to_string(), len, seq, ack, from, to];
        ways[usize::from(packet[0] == "down")].push((at, said));
    }
    ways
}

/// Where the two differ, packet by packet. The kernel's timers are late by an eighth of their length or less (`kernel/time/timer.c`), and its
/// programs take some time, too; so times count from the packet before.
fn differences(kernel: &[Vec<Packet>; 2], simulated: &[Vec<Packet>; 2]) -> Vec<String> {
    let mut found = Vec::new();
    for (kernel, simulated) in kernel.iter().zip(simulated) {
        if kernel.len() != simulated.len() {
            found.push(format!("{} and {} packets", kernel.len(), simulated.len()));
        }
        let mut before = [0.0; 2];
        for (kernel, simulated) in kernel.iter().zip(simulated) {
            let [took, should_take] = [kernel.0 - before[0], simulated.0 - before[1]];
            before = [kernel.0, simulated.0];
            let late = took - should_take;
            let is_in_time = -20.0 < late && late < 20.0 + should_take / 8.0;
            if kernel.1 != simulated.1 || !is_in_time {
                found.push(format!("{kernel:?} and {simulated:?}"));
            }
        }
    }
    found
}

/// What the kernel says of a connection differs only while this machine is kept from something: a segment waits for its reader, two are
/// acknowledged as one, a timer is late. So what differs is played again, and none agrees by chance.
#[test]
fn quiet_each_packet_leaves_when_the_kernels_does() {
    let Some(_machine) = Machine::quiet() else {
        return;
    };
    if !has("tshark") {
        return;
    }
    let mut left: Vec<_> = SCRIPTS.iter().map(Comparison::new).collect();
    let agree = attempts().any(|_| {
        left.retain_mut(|comparison| !comparison.agrees());
        left.is_empty()
    });
    let differences: Vec<_> = left.iter().map(Comparison::told).collect();
    assert!(agree || is_undecided(), "{}", differences.join("\n"));
}

/// A script, what virtual time makes of it, and where the kernel's latest attempt differs.
struct Comparison {
    name: &'static str,
    place: TempDir,
    simulated: [Vec<Packet>; 2],
    found: Vec<String>,
}

impl Comparison {
    fn new(script: &Script) -> Self {
        let place = folder(&[("v.cvec", &script.vector()), ("lab.toml", &script.lab())]);
        Self {
            name: script.name,
            simulated: played(place.path(), "simulated", &["sim", "replay", "--capture"]),
            place,
            found: Vec::new(),
        }
    }

    /// Whether the kernel does the same.
    fn agrees(&mut self) -> bool {
        let kernel = played(self.place.path(), "kernel", &["replay"]);
        fs::remove_dir_all(self.place.path().join("kernel")).unwrap();
        self.found = differences(&kernel, &self.simulated);
        self.found.is_empty()
    }

    fn told(&self) -> String {
        format!("{}:\n{}", self.name, self.found.join("\n"))
    }
}

/// What the client and the server say when `verb` plays the script in `place`, leaving the record `out`.
fn played(place: &Path, out: &str, verb: &[&str]) -> [Vec<Packet>; 2] {
    let options = [
        "v.cvec",
        "--lab",
        "lab.toml",
        "--latency-threshold",
        "0s",
        "-q",
        "-o",
        out,
    ];
    let ran = run(place, &[verb, &options].concat());
    assert!(matches!(ran.code(), Some(0 | 4)), "{}", ran.stderr);
    said(place, out)
}
