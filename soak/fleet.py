#!/usr/bin/env python3
"""A fleet in the lab `fleet`, with agents and NATS killed and links cut at random, and its account afterwards.

    soak/fleet.py --minutes 60                 and a table of what became of each run

Everybody on the lab's hosts is kept alive by a loop that starts it again a moment after it has died. Each router drops what comes from one of its
neighbours for some seconds, now and then. A capture on the router of the shared uplink
is the book of whoever does not know the fleet: which pairs of hosts send how much in each tenth of a second.

Exit status: 0 every planned run has one outcome and no two loads met; 1 not so.
"""

import argparse
import collections
import json
import os
import random
import shlex
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

import common

HOSTS = {"berlin-1": "berlin", "berlin-2": "berlin", "paris-1": "paris", "oslo-1": "oslo"}
ROUTERS = ["berlin", "core"]
HUB = "10.77.0.5"
NATS = f"nats://{HUB}"
UNPACKED = common.ROOT / "target/tools/nats-server/bin/nats-server"
# Octets of a pair in a tenth of a second that are a load: 3 Mbit/s. Probes are far below, loads above.
LOAD = 37_500
BIN = 0.1
FLEET = """name = "soak"
seed = {seed}
{hosts}
[[link]]
name = "berlin-uplink"
behind = ["berlin-1", "berlin-2"]
[[measure]]
name = "rtt"
run = "estimate rtt --duration 1s"
pairs = {{ mesh = ["all"] }}
takes = "10s"
every = "10s"
[[measure]]
name = "bulk"
run = "btc --duration 2s"
pairs = {{ mesh = ["all"] }}
takes = "6s"
poisson = "1min"
patience = "1min"
"""


def keep(name, command, out):
    """Keeps a command alive until a file says that it is over; its process id is in a file meanwhile."""
    draw = random.Random()
    log = open(out / f"{name}.log", "ab")
    while not (out / "over").exists():
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        (out / f"{name}.pid").write_text(str(child.pid))
        while child.poll() is None and not (out / "over").exists():
            time.sleep(0.05)
        (out / f"{name}.pid").unlink(missing_ok=True)
        if child.poll() is None:
            child.send_signal(signal.SIGINT)
            child.wait(20)
            return
        time.sleep(draw.uniform(0, 4))


def watch(out):
    """Writes down who sends how much to whom over the uplink, from and to other places than the hub."""
    capture = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x0003))
    capture.bind(("to-core", 0))
    capture.settimeout(0.2)
    bins = collections.defaultdict(int)
    with open(out / "uplink.jsonl", "w") as book:
        began = time.time()
        while not (out / "over").exists():
            try:
                packet = capture.recv(65_535)
            except TimeoutError:
                packet = b""
            now = time.time()
            if now - began >= BIN:
                if bins:
                    book.write(json.dumps([began, [[*pair, octets] for pair, octets in bins.items()]]) + "\n")
                began, bins = now, collections.defaultdict(int)
            if len(packet) >= 20 and packet[0] >> 4 == 4:
                length, = struct.unpack_from("!H", packet, 2)
                ends = sorted(packet[at + 3] for at in (12, 16))
                if 5 not in ends:
                    bins[tuple(ends)] += length


def cut(router, out, seed):
    """Now and then lets nothing through that comes from one neighbour of a router."""
    draw = random.Random(f"{seed} {router}")
    links = [line.split(":")[1].split("@")[0].strip() for line in ip("-o", "link").stdout.splitlines()]
    links = [link for link in links if link.startswith("to-")]
    over = out / "over"
    with open(out / f"cuts-{router}.jsonl", "w") as book:
        while not over.exists():
            rest(draw.uniform(10, 60), over)
            link, seconds = draw.choice(links), draw.uniform(0.5, 12)
            rule = ["pref", "1", "iif", link, "blackhole"]
            if ip("rule", "add", *rule).returncode == 0:
                began = time.time()
                rest(seconds, over)
                ip("rule", "del", *rule)
                book.write(json.dumps([router, link, began, time.time()]) + "\n")
                book.flush()


def ip(*words):
    return subprocess.run(["ip", *words], capture_output=True, text=True, check=False)


def rest(seconds, over):
    end = time.monotonic() + seconds
    while time.monotonic() < end and not over.exists():
        time.sleep(0.05)


def fleet(*words):
    ran = subprocess.run([common.ISOBATH, "fleet", *words, "--nats", NATS], capture_output=True, text=True, check=False)
    return ran.returncode, ran.stdout, ran.stderr


def account():
    code, said, _ = fleet("runs", "soak", "--last", "24h", "--json")
    return json.loads(said) if code == 0 else None


def drive(out, seconds, seed):
    """On the hub: applies the file, kills for a time, pauses, and waits until everything is accounted for."""
    draw = random.Random(seed)
    hosts = "".join(f'[[host]]\nname = "{name}"\nsite = "{site}"\n' for name, site in HOSTS.items())
    (out / "fleet.toml").write_text(FLEET.format(seed=seed, hosts=hosts))
    common.eventually(lambda: fleet("apply", str(out / "fleet.toml"))[0] == 0, 60, 0.5)
    kills = collections.Counter()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(min(draw.uniform(2, 20), max(0, end - time.monotonic())))
        victim = draw.choice([*HOSTS, "nats"])
        try:
            os.kill(int((out / f"{victim}.pid").read_text()), signal.SIGKILL)
            kills[victim] += 1
        except (FileNotFoundError, ProcessLookupError, ValueError):
            pass
    common.eventually(lambda: fleet("pause", "soak")[0] == 0, 60, 0.5)
    common.eventually(lambda: (found := account()) and not found["counts"]["open"] and not found["counts"]["missing"], 180, 1)
    (out / "account.json").write_text(json.dumps(account()))
    fleet("export", "soak", "--out", str(out / "archive"))
    (out / "kills.json").write_text(json.dumps(kills))
    (out / "over").touch()


def overlaps(out):
    """Bins of the uplink, how many of them had a load, and those with two. A load lasts for longer than a bin: what a run hands over at its
    end, some 50 kB, is none."""
    lines = [json.loads(line) for line in (out / "uplink.jsonl").read_text().splitlines()]
    busy = [{tuple(pair) for *pair, octets in pairs if octets >= LOAD} for _, pairs in lines]
    around = zip([set(), *busy], busy, [*busy[1:], set()])
    loads = [now & (before | after) for before, now, after in around]
    return len(lines), sum(len(pairs) == 1 for pairs in loads), [line for line, pairs in zip(lines, loads) if len(pairs) > 1]


def judge(out):
    told, kills = (json.loads((out / name).read_text()) for name in ("account.json", "kills.json"))
    bins, loaded, met = overlaps(out)
    counts = told["counts"]
    print("counts     ", ", ".join(f"{count} {name}" for name, count in counts.items() if count))
    print("killed     ", ", ".join(f"{name} {count} times" for name, count in sorted(kills.items())))
    cuts = [json.loads(line) for router in ROUTERS for line in (out / f"cuts-{router}.jsonl").read_text().splitlines()]
    print(f"cut         {len(cuts)} links, {sum(end - began for *_, began, end in cuts):.0f} s together")
    print(f"uplink      {bins} tenths of a second, one load in {loaded}, two in {len(met)}")
    reasons = collections.Counter(run["reason"] for run in told["runs"] if run["status"] in ("missed", "failed", "incomplete"))
    for reason, count in reasons.most_common(8):
        print(f"  {count:5} {reason}")
    expected = {
        "missing": counts["missing"], "open": counts["open"], "twice": len(told["twice"]), "unplanned": len(told["unplanned"]),
        "two loads at once": len(met), "links never cut": not cuts, "nothing measured": not counts["complete"] + counts["invalid"], "uplink never loaded": not loaded,
    }
    wrong = {name: count for name, count in expected.items() if count}
    print("verdict    ", f"WRONG {wrong}" if wrong else "nothing lost, nothing twice, no two loads at once")
    return 1 if wrong else 0


def main():
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--minutes", type=float, default=60)
    asked.add_argument("--seed", type=int, default=random.SystemRandom().getrandbits(31))
    asked.add_argument("--out", type=Path, default=Path("isobath-runs") / time.strftime("fleet-%Y%m%d-%H%M%S"))
    asked.add_argument("--nats-server", default=shutil.which("nats-server") or UNPACKED)
    asked.add_argument("--inside", nargs=2, metavar=("ROLE", "NAME"), help=argparse.SUPPRESS)
    asked = asked.parse_args()
    out = asked.out.resolve()
    if asked.inside:
        role, name = asked.inside
        agent = [common.ISOBATH, "agent", "--nats", NATS, "--name", name, "--state", out / name]
        server = [asked.nats_server, "--jetstream", "--addr", "0.0.0.0", "--store_dir", out / "nats"]
        work = {
            "keep": lambda: keep(name, [*agent, "--site", HOSTS[name]], out), "nats": lambda: keep("nats", server, out),
            "watch": lambda: watch(out), "cut": lambda: cut(name, out, asked.seed), "drive": lambda: drive(out, asked.minutes * 60, asked.seed),
        }
        work[role]()
        return 0
    out.mkdir(parents=True)
    print(f"seed        {asked.seed}, everything is in {out}", flush=True)
    own = [sys.executable, Path(__file__).resolve(), "--out", out, "--minutes", asked.minutes, "--seed", asked.seed, "--nats-server", asked.nats_server]
    inside = lambda role, name="-": [str(word) for word in [*own, "--inside", role, name]]
    also = [("berlin", inside("watch")), ("hub", inside("nats")), *((name, inside("keep", name)) for name in HOSTS), *((name, inside("cut", name)) for name in ROUTERS)]
    also = [word for node, command in also for word in ("--also", f"{node}=exec {shlex.join(command)}")]
    ran = subprocess.run([common.ISOBATH, "lab", "run", "fleet", "--on", "hub", *also, "--", *inside("drive")], check=False)
    if ran.returncode:
        sys.exit(f"fleet: the lab ended with {ran.returncode}")
    return judge(out)


if __name__ == "__main__":
    sys.exit(main())
