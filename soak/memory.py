"""A server and two linked managers that live as long as the campaign, with clients and strangers all the time: do they grow?"""

import os
import shutil
import statistics
import threading
import time

from common import MOST_LINES, Row
from overlay import Overlay
from server import Server
from strangers import attack
from verbs import PROBES

PART = "memory"
# Seconds between two turns of clients.
PAUSE = 5
# Percent that the resident set may grow over the last half of the campaign.
MOST_GROWTH = 5
# Resident set that a server or a manager may have at any time, megabytes.
MOST_MB = 100
# Samples without which nothing is said about growth.
FEWEST = 40


def growth(samples):
    """Of the median of the last quarter over that of the quarter before it, percent."""
    quarter = len(samples) // 4
    before, after = samples[-2 * quarter:-quarter], samples[-quarter:]
    return 100 * (statistics.median(after) / statistics.median(before) - 1)


class Residents:
    """See the module. Rests while somebody measures (`rests`)."""

    def __init__(self, campaign):
        self.campaign = campaign = campaign.beside("residents")
        self.folder = campaign.folder()
        (self.folder / "probes.toml").write_text(PROBES)
        self.server = Server(campaign, self.folder, "--quiet")
        self.overlay = Overlay(campaign, self.folder).__enter__() if os.geteuid() == 0 else None
        self.watched = {"serve": self.server}
        if self.overlay:
            self.watched["manager"] = self.overlay.usage
        self.samples = {name: [] for name in self.watched}
        self.turns = 0
        self.failures = []
        self.is_over = threading.Event()
        self.rests = threading.Lock()
        self.began = time.monotonic()
        self.thread = threading.Thread(target=self.live, daemon=True)
        self.thread.start()

    def live(self):
        while not self.is_over.wait(PAUSE):
            with self.rests:
                self.turn()
            for name, usage in self.watched.items():
                try:
                    self.samples[name].append(usage.rss_kb())
                except OSError as error:
                    self.failures.append(f"{name} is gone: {error}")
                    return

    def turn(self):
        key = ["--key", self.server.key, "-q"]
        verbs = (["rrul", "--plan", "probes.toml"], ["btc", "--duration", "1s"], ["btc", "--reverse", "--duration", "1s"], ["estimate", "rtt"])
        verb, *more = verbs[self.turns % len(verbs)]
        ran = self.campaign.run([verb, *more, self.server.host, *key, "-o", "resident"], self.folder)
        shutil.rmtree(self.folder / "resident", ignore_errors=True)
        if ran.complaint():
            self.failures.append(ran.complaint())
        strangers = [attack(self.campaign, "127.0.0.1", self.server.port, 1, [])]
        if self.overlay:
            strangers.append(attack(self.campaign, self.overlay.address, self.overlay.port, 1, self.overlay.near))
            self.campaign.run(["manager", "status", "--socket", "m3.sock"], self.folder)
        for stranger in strangers:
            stranger.wait()
        self.turns += 1

    def end(self):
        """Ends them, and adds a row for each."""
        self.is_over.set()
        self.thread.join(120)
        for name, samples in self.samples.items():
            row = Row(PART, name, self.turns, self.failures)
            self.failures = []
            if samples:
                row.figures = f"RSS {samples[0] / 1024:.1f} MB first, {samples[-1] / 1024:.1f} last, {max(samples) / 1024:.1f} at most"
                row.expect(max(samples) / 1024 < MOST_MB, f"{max(samples) / 1024:.0f} MB")
            if len(samples) >= FEWEST:
                grown = growth(samples)
                row.figures += f"; last quarter over the one before {grown:+.1f} %"
                row.expect(grown < MOST_GROWTH, f"grew by {grown:.1f} %")
            else:
                row.figures += f"; {len(samples)} samples are too few to speak of growth"
            self.campaign.rows.append(row)
        endings = [self.server.stop()] + (self.overlay.stop() if self.overlay else [])
        # They tell of strangers, within limits of their own: a line a minute.
        most_lines = MOST_LINES + round((time.monotonic() - self.began) / 60)
        for ran in endings:
            complaint = ran.complaint(most_lines)
            self.campaign.rows[-1].expect(complaint is None, complaint)
        if self.overlay:
            self.overlay.__exit__()
