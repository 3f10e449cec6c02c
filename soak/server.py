"""`isobath serve` on loopback, and what /proc says of a process."""

import json
import os
import signal
from pathlib import Path

from common import eventually

TICK = os.sysconf("SC_CLK_TCK")


class Usage:
    """Processor time and memory of a process."""

    def __init__(self, id):
        self.id = id

    def cpu_s(self):
        fields = Path(f"/proc/{self.id}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICK

    def rss_kb(self):
        status = Path(f"/proc/{self.id}/status").read_text()
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS:"))


class Server(Usage):
    """A server on a port of its own; it has its own identity, so that it can be started again as the same."""

    def __init__(self, campaign, folder, *more, port=0):
        self.folder = folder
        line = ["serve", "--address", "127.0.0.1", "--port", str(port), "--json", "--identity", "identity.json", *more]
        self.running = campaign.start(line, folder)
        listens = eventually(lambda: self.running.said().endswith("\n") or self.running.is_over())
        if not listens or self.running.is_over():
            raise RuntimeError(f"isobath serve: {self.running.said('stderr').strip()}")
        said = json.loads(self.running.said())
        self.host, self.key = said["address"], said["key"]
        self.port = int(self.host.rsplit(":", 1)[1])
        super().__init__(self.running.id)

    def stop(self):
        self.running.signal(signal.SIGTERM)
        return self.running.finish()
