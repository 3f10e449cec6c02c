"""Two managers in network namespaces of their own, joined by a pair of interfaces, and linked. As root."""

import signal
import subprocess

from common import eventually
from server import Usage

FAR = """name = "m5"
addresses = ["10.99.0.2/24"]
listen = "0.0.0.0:4890"
identity = "m5.json"
socket = "m5.sock"
delay = "0s"
[[peer]]
name = "m3"
routes = ["10.99.0.1/32"]
"""
NEAR = """name = "m3"
addresses = ["10.99.0.1/24"]
socket = "m3.sock"
delay = "0s"
[[peer]]
name = "m5"
endpoint = "10.98.0.2:4890"
key = "{key}"
routes = ["10.99.0.2/32"]
"""


class Overlay:
    """See the module; `near` and `far` are prefixes of commands."""

    address, port = "10.98.0.2", 4890

    def __init__(self, campaign, folder):
        self.campaign, self.folder = campaign, folder
        self.hosts, self.managers = [], []

    def __enter__(self):
        try:
            self.wire()
            self.link()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for process in self.managers:
            process.kill()
        for host in self.hosts:
            host.kill()
            host.wait()

    def wire(self):
        for _ in range(2):
            self.hosts.append(subprocess.Popen(["unshare", "-n", "sleep", "100000"], env=self.campaign.environment()))
        ids = [str(host.pid) for host in self.hosts]
        self.near, self.far = (["nsenter", "-t", id, "-n"] for id in ids)
        own = subprocess.check_output(["readlink", "/proc/self/ns/net"])
        eventually(lambda: all(subprocess.check_output(["readlink", f"/proc/{id}/ns/net"]) != own for id in ids))
        subprocess.run(["ip", "link", "add", "soak0", "netns", ids[0], "type", "veth", "peer", "name", "soak1", "netns", ids[1]], check=True)
        for number, on in enumerate((self.near, self.far)):
            for words in (["link", "set", "lo", "up"], ["address", "add", f"10.98.0.{number + 1}/24", "dev", f"soak{number}"],
                          ["link", "set", f"soak{number}", "up"]):
                subprocess.run([*on, "ip", *words], check=True)

    def link(self):
        (self.folder / "m5.toml").write_text(FAR)
        key = self.campaign.run(["manager", "up", "--config", "m5.toml", "--show-key", "m3"], self.folder).stdout.strip()
        near = self.folder / "m3.toml"
        near.write_text(NEAR.format(key=key))
        near.chmod(0o600)
        for name, on in (("m5", self.far), ("m3", self.near)):
            self.managers.append(self.campaign.start(["manager", "up", "--config", f"{name}.toml"], self.folder, before=on))
        status = ["manager", "status", "--socket", "m3.sock", "--json"]
        if not eventually(lambda: '"linked":true' in self.campaign.run(status, self.folder).stdout, 30, 0.2):
            raise RuntimeError("the managers did not link: " + " ".join(one.said("stderr") for one in self.managers)[-300:])
        self.usage = Usage(self.managers[0].id)

    def stop(self):
        for manager in self.managers:
            manager.signal(signal.SIGTERM)
        return [manager.finish() for manager in self.managers]
