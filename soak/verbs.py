"""The verbs that leave records, each as a command that lasts longer than it is let live, in a lab that costs little."""

from dataclasses import dataclass

SMALL_LAB = """summary = "a small link"
client = "near"
server = "far"
hosts = ["near", "far"]
[[link]]
between = ["near", "far"]
up = [{ kind = "rate", rate = "8Mbit", queue = { kind = "fifo", bytes = "30kB" } }, { kind = "delay", delay = "5ms" }]
down = [{ kind = "rate", rate = "8Mbit", queue = { kind = "fifo", bytes = "30kB" } }, { kind = "delay", delay = "5ms" }]
"""
# The path is cut for 3 s in every 6.
OUTAGES = "".join(f"{ms}\n" for ms in range(1, 3000)) + "6000\n"
CUT_LAB = SMALL_LAB.replace('kind = "rate", rate = "8Mbit"', 'kind = "trace", trace = "outages.trace"')


def plan(seconds):
    return f"""summary = "a short run"
idle_before = "1s"
duration = "{seconds}s"
settle = "500ms"
idle_after = "500ms"
[[load]]
direction = "both"
[[probe]]
kind = "udp_rr"
class = "EF"
[[probe]]
kind = "tcp_rr"
"""


PROBES = """summary = "round trips"
idle_before = "500ms"
duration = "1s"
idle_after = "500ms"
[[probe]]
kind = "udp_rr"
"""

BATCH = """name = "short"
repetitions = 3
pause = "100ms"
plans = ["probes.toml"]
labs = ["small.toml"]
"""

EXPERIMENT = """title = "A small grid?"
about = "Some short cells."
[study.grid]
congestion_control = "reno"
repeats = 3
shortest = "2s"
round_trips = 1
losses = 1
longest = "2s"
[study.grid.range]
rates = ["5Mbit", "10Mbit"]
rtts = ["20ms"]
losses = [0.0]
queues = [1]
[study.grid.often]
rates = ["10Mbit"]
rtts = ["20ms"]
losses = [0.0]
queues = [1]
"""


def vectors(count):
    """Connections 100 ms apart."""
    def one(at):
        head = f"SEQ {at * 100_000} 2 {at} {at}\nw 65535 65535\nr {10_000 + at * 1_000}\nl 0.000000 0.000000\n"
        return head + "> 100\nt 0\n< 5000\nt 0\n> 200\nt 600000\n< 20000\nt 0\n"
    return "".join(map(one, range(count)))


FILES = {
    "small.toml": SMALL_LAB,
    "cut.toml": CUT_LAB,
    "outages.trace": OUTAGES,
    "plan.toml": plan(30),
    "short.toml": plan(3),
    "probes.toml": PROBES,
    "batch.toml": BATCH,
    "experiment.toml": EXPERIMENT,
    "v.cvec": vectors(400),
    "few.cvec": vectors(20),
}


@dataclass(frozen=True)
class Verb:
    """A verb, and how to say that it is to be short."""

    name: str
    long: tuple
    short: tuple
    # The verb of its far end, where that is a program of its own.
    far_end: str = ""


LAB = ("--lab", "small.toml")
MBM = ("mbm", *LAB, "--rate", "2Mbit", "--rtt", "20ms")
TRIAL = ("manager", "trial", "--probes", "pk2", "--riding", "on", "--each", "2s")
GRID = ("experiment", "run", "experiment.toml", "--jobs", "1", "--with-invalid")


def in_lab(servers, *command):
    """A verb that wants somebody's server, in the small lab with one."""
    return ("lab", "run", LAB[1], "--also", f"far=exec ISOBATH serve --also {servers} --quiet --ephemeral --json > /dev/null", "--", "ISOBATH", *command)


def udpst(seconds):
    return in_lab("udpst --udpst-key 1:secret", "udpst", "far", "--udpst-key", "1:secret", "--duration", f"{seconds}s")


def rpm(seconds):
    return in_lab("rpm", "rpm", "https://far:4043", "--insecure", "--interval", "1s", "--most", f"{seconds}s")


VERBS = (
    Verb("rrul", ("rrul", *LAB, "--plan", "plan.toml"), ("rrul", *LAB, "--plan", "short.toml")),
    Verb("btc", ("btc", *LAB, "--duration", "30s"), ("btc", *LAB, "--duration", "3s")),
    Verb("mbm", (*MBM, "--suite"), (*MBM, "--test", "paced-full-rate")),
    Verb("estimate", ("estimate", "available", *LAB), ("estimate", "rtt", *LAB)),
    Verb("replay", ("replay", "v.cvec"), ("replay", "few.cvec")),
    Verb("manager trial", (*TRIAL, "--cross", "1Mbit,2Mbit,1Mbit,2Mbit", "--duration", "30s"), (*TRIAL, "--cross", "1Mbit", "--duration", "4s")),
    Verb("batch", ("batch", "batch.toml"), ("batch", "batch.toml")),
    Verb("experiment", GRID, GRID),
    Verb("udpst", udpst(30), udpst(5), far_end="serve"),
    Verb("rpm", rpm(30), rpm(4), far_end="serve"),
)


def place(campaign):
    """A folder with the files that the verbs need."""
    folder = campaign.folder()
    for name, text in FILES.items():
        (folder / name).write_text(text)
    return folder
