"""Strangers at a server and at a manager while somebody measures: nobody answers them, and nobody notices them."""

import json
import os
import statistics
import subprocess
import sys
import time

from common import HERE, Row
from overlay import Overlay
from server import Server

PART = "strangers"
# Percent of a core that strangers may take, and milliseconds that they may add to the 99th percentile.
MOST_CORE = 10
MOST_ADDED_MS = 1
PING = """summary = "round trips"
idle_before = "500ms"
duration = "{seconds}s"
idle_after = "500ms"
[[probe]]
kind = "udp_rr"
[[probe]]
kind = "tcp_rr"
"""


def attack(campaign, host, port, seconds, before=()):
    command = [*before, sys.executable, HERE / "attack.py", host, str(port), str(seconds)]
    return subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, text=True, env=campaign.environment())


def judge(row, usage, alone, beside, told):
    """A turn: the client's figures and the processor's time in percent, without strangers and with them, and what they sent."""
    ((lost, p99), core), ((lost_beside, p99_beside), core_beside) = alone, beside
    row.expect(told["replies"] == 0, f"{told['replies']} replies to strangers")
    row.expect(core_beside - core < MOST_CORE, f"strangers take {core_beside - core:.1f} % of a core")
    row.expect(lost_beside <= lost, f"the client lost {lost_beside}, without strangers {lost}")
    row.expect(p99_beside - p99 < MOST_ADDED_MS, f"p99 {p99:.2f} ms without, {p99_beside:.2f} ms with strangers")
    row.figures = (f"{told['datagrams']} datagrams, {told['connections']} connections, {told['replies']} replies; {core:.1f} % of a core without, "
                   f"{core_beside:.1f} % with strangers; "
                   f"client lost {lost_beside:g}, p99 {p99:.2f} to {p99_beside:.2f} ms; RSS {usage.rss_kb() / 1024:.1f} MB")


def busy(usage, work):
    """Runs it; how much of a core the process took meanwhile, percent."""
    begin, cpu = time.monotonic(), usage.cpu_s()
    result = work()
    return result, 100 * (usage.cpu_s() - cpu) / (time.monotonic() - begin)


def at_server(campaign, seconds):
    row = Row(PART, "serve")
    campaign.rows.append(row)
    folder = campaign.folder()
    server = Server(campaign, folder, "--quiet")
    (folder / "ping.toml").write_text(PING.format(seconds=max(2, round(seconds) - 2)))

    def measure():
        ran = campaign.run(["rrul", server.host, "--key", server.key, "--plan", "ping.toml", "--json", "-q"], folder)
        row.expect(ran.code in (0, 4), f"{ran.command}: {ran.code}: {ran.tail()}")
        summary = json.loads(ran.stdout)["summary"]
        # Without load all is idle time.
        return summary["loss_pct"]["idle"], summary["latency_ms"]["idle"]["p99"]

    alone = busy(server, measure)
    campaign.progress("strangers: serve")
    strangers = attack(campaign, "127.0.0.1", server.port, seconds + 2)
    time.sleep(1)
    beside = busy(server, measure)
    told = json.loads(strangers.communicate()[0])
    row.times = told["datagrams"] + told["connections"]
    judge(row, server, alone, beside, told)
    ran = server.stop()
    row.expect(ran.complaint() is None, ran.complaint())


def pinged(folder, overlay, seconds):
    """Packets lost, and the 99th percentile of round trips, over the overlay."""
    count = int(seconds * 50)
    ping = subprocess.run([*overlay.near, "ping", "-i", "0.02", "-c", str(count), "-W", "1", "10.99.0.2"], capture_output=True, text=True)
    trips = [float(line.rsplit("time=", 1)[1].split()[0]) for line in ping.stdout.splitlines() if "time=" in line]
    return count - len(trips), statistics.quantiles(trips, n=100)[98] if len(trips) > 1 else float("inf")


def at_manager(campaign, seconds):
    row = Row(PART, "manager")
    campaign.rows.append(row)
    if os.geteuid() != 0:
        row.figures = "not tried: needs root"
        return
    folder = campaign.folder()
    with Overlay(campaign, folder) as overlay:
        alone = busy(overlay.usage, lambda: pinged(folder, overlay, seconds))
        campaign.progress("strangers: manager")
        strangers = attack(campaign, overlay.address, overlay.port, seconds + 2, overlay.near)
        time.sleep(1)
        beside = busy(overlay.usage, lambda: pinged(folder, overlay, seconds))
        told = json.loads(strangers.communicate()[0])
        row.times = told["datagrams"] + told["connections"]
        judge(row, overlay.usage, alone, beside, told)
        for ran in overlay.stop():
            row.expect(ran.complaint() is None, ran.complaint())


def run(campaign, seconds):
    turn = min(60, max(5, seconds / 4))
    at_server(campaign, turn)
    at_manager(campaign, turn)
