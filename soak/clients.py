"""More clients at once than a server takes, and a server that goes away and comes back."""

import signal
import time

from common import Row
from server import Server

PART = "clients"
CLIENTS = 30
SESSIONS = 16
PLAN = """summary = "round trips"
idle_before = "500ms"
duration = "{seconds}s"
idle_after = "500ms"
[[probe]]
kind = "udp_rr"
"""


def measure(campaign, folder, server, number):
    line = ["rrul", server.host, "--key", server.key, "--plan", "plan.toml", "--json", "-q", "-o", f"out-{number}"]
    return campaign.start(line, folder)


def crowd(campaign, row, seconds):
    folder = campaign.folder()
    (folder / "plan.toml").write_text(PLAN.format(seconds=seconds))
    server = Server(campaign, folder, "--quiet", "--sessions", str(SESSIONS))
    ends = [client.finish() for client in [measure(campaign, folder, server, number) for number in range(CLIENTS)]]
    served = sum(ran.code in (0, 4) for ran in ends)
    busy = [ran for ran in ends if ran.code == 3]
    row.times += CLIENTS
    row.expect(served == SESSIONS and len(busy) == CLIENTS - SESSIONS, f"{served} served, {len(busy)} refused of {CLIENTS}")
    for ran in busy:
        row.expect("busy" in ran.stderr and ran.complaint() is None, f"{ran.command}: {ran.tail()}")
    row.figures = f"{served} served, {len(busy)} told that it is busy; RSS {server.rss_kb() / 1024:.1f} MB"
    ran = server.stop()
    row.expect(ran.complaint() is None, ran.complaint())


def restart(campaign, row):
    """The server is killed under its client, and serves again on the same port."""
    folder = campaign.folder()
    (folder / "plan.toml").write_text(PLAN.format(seconds=4))
    server = Server(campaign, folder, "--quiet")
    client = measure(campaign, folder, server, "cut")
    time.sleep(2)
    server.running.kill()
    again = Server(campaign, folder, "--quiet", port=server.port)
    ran = client.finish()
    row.expect(ran.code == 3 and ran.complaint() is None, f"cut: {ran.command}: {ran.code}: {ran.tail()}")
    row.expect(again.key == server.key, "another key after the restart")
    next_one = measure(campaign, folder, again, "next").finish()
    row.expect(next_one.code in (0, 4), f"next: {next_one.code}: {next_one.tail()}")
    stopped = measure(campaign, folder, again, "stopped")
    time.sleep(1)
    again.running.signal(signal.SIGSTOP)
    time.sleep(3)
    again.running.signal(signal.SIGCONT)
    ran = stopped.finish()
    row.expect(ran.complaint() is None, ran.complaint())
    row.times += 3
    ran = again.stop()
    row.expect(ran.complaint() is None, ran.complaint())


def run(campaign, seconds):
    crowded, restarted = Row(PART, f"{CLIENTS} at a server of {SESSIONS}"), Row(PART, "server killed, restarted, stopped for 3 s")
    campaign.rows += [crowded, restarted]
    deadline = time.monotonic() + seconds
    while True:
        crowd(campaign, crowded, 10)
        restart(campaign, restarted)
        campaign.progress(f"clients: {crowded.times}, failures {len(crowded.failures) + len(restarted.failures)}")
        if time.monotonic() > deadline:
            return
