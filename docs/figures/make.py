#!/usr/bin/env python3
"""Draws a record of `isobath rrul`: round trips over time, and below them what was delivered.

    isobath rrul --lab dsl --out RUN
    isobath export RUN --csv
    python3 docs/figures/make.py RUN docs/rrul-dsl.svg

Every dot is one answered UDP request of the table `samples`; the curves are payload delivered at the receivers, from the
table `series`, in steps of 0.5 s. Nothing is smoothed. Needs the standard library only.
"""
import csv
import json
import re
import sys
from collections import defaultdict
from pathlib import Path

WIDTH, LEFT, RIGHT = 780, 62, 16
# Top and height of the two panels, in pixels.
LATENCY, THROUGHPUT = (64, 210), (318, 110)
STEP_S = 0.5
# Okabe and Ito's colours, told apart with all kinds of colour vision.
CLASSES = {"EF": "#E69F00", "CS0": "#56B4E9", "CS1": "#009E73"}
DIRECTIONS = {"down": ("#0072B2", ""), "up": ("#D55E00", "5 3")}
STYLE = """
  .paper { fill: #ffffff } .ink { fill: #24292f } .faint { fill: #57606a }
  .grid { stroke: #d0d7de } .axis { stroke: #57606a } .load { fill: #8c959f; fill-opacity: 0.13 }
  text { font-family: system-ui, sans-serif; font-size: 13px } .title { font-size: 15px; font-weight: 600 }
  @media (prefers-color-scheme: dark) {
    .paper { fill: #0d1117 } .ink { fill: #e6edf3 } .faint { fill: #9198a1 }
    .grid { stroke: #30363d } .axis { stroke: #9198a1 }
  }
"""


def rows(run: Path, table: str) -> list[dict[str, str]]:
    with open(run / "csv" / f"{table}.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def seconds(span: str) -> float:
    """A span as run.json writes it: `5s`, `1500ms`, `2min`."""
    number, unit = re.fullmatch(r"([\d.]+)([a-z]+)", span).groups()
    return float(number) * {"us": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "h": 3600}[unit]


def nice(most: float) -> tuple[float, float]:
    """The end of an axis and the distance of its ticks, for values up to `most`."""
    for step in (scale * 10**power for power in range(-1, 6) for scale in (1, 2, 5)):
        if most / step <= 6:
            return (int(most / step) + 1) * step, step
    raise ValueError(most)


class Panel:
    """An area with time across and a quantity up."""

    def __init__(self, place: tuple[int, int], until: float, most: float):
        self.top, self.height = place
        self.until = until
        self.end, self.step = nice(most)

    def x(self, t: float) -> float:
        return LEFT + t / self.until * (WIDTH - LEFT - RIGHT)

    def y(self, value: float) -> float:
        return self.top + self.height * (1 - value / self.end)

    def frame(self, label: str, load: tuple[float, float]) -> list[str]:
        bottom = self.top + self.height
        x0, x1 = (self.x(t) for t in load)
        out = [f'<rect class="load" x="{x0:.1f}" y="{self.top}" width="{x1 - x0:.1f}" height="{self.height}"/>']
        for tick in range(int(self.end / self.step + 0.5) + 1):
            value = tick * self.step
            y = self.y(value)
            out.append(f'<path class="grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>')
            out.append(f'<text class="faint" x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{value:g}</text>')
        out.append(f'<path class="axis" d="M{LEFT} {bottom}H{WIDTH - RIGHT}"/>')
        out.append(f'<text class="ink" x="12" y="{self.top - 12}">{label}</text>')
        return out

    def dots(self, points: list[tuple[float, float]], colour: str) -> str:
        # Dots on the same half pixel are one dot.
        places = {(round(self.x(t) * 2) / 2, round(self.y(v) * 2) / 2) for t, v in points}
        path = "".join(f"M{x:g} {y:g}h0" for x, y in sorted(places))
        return f'<path d="{path}" stroke="{colour}" stroke-width="2.4" stroke-linecap="round" stroke-opacity="0.7"/>'

    def curve(self, points: list[tuple[float, float]], colour: str, dash: str) -> str:
        path = "L".join(f"{self.x(t):.1f} {self.y(v):.1f}" for t, v in points)
        return f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"/>'


def round_trips(run: Path) -> dict[str, list[tuple[float, float]]]:
    """Time in s and round trip in ms of every answered UDP request, by class."""
    udp = {row["id"]: row["class"] for row in rows(run, "streams") if row["kind"] == "udp_rr"}
    points = defaultdict(list)
    for row in rows(run, "samples"):
        if row["stream"] in udp and row["rtt_ns"]:
            points[udp[row["stream"]]].append((int(row["t_ns"]) / 1e9, int(row["rtt_ns"]) / 1e6))
    return points


def delivered(run: Path, until: float) -> dict[str, list[tuple[float, float]]]:
    """Time in s and Mbit/s delivered at the receivers, by direction."""
    receivers = {("down", "client"), ("up", "server")}
    steps = int(until / STEP_S)
    bits = {direction: [0.0] * steps for direction in DIRECTIONS}
    for row in rows(run, "series"):
        if (row["direction"], row["end"]) in receivers:
            # A bin belongs to the step in which its middle lies.
            middle = (int(row["t_ns"]) - int(row["bin_ns"]) / 2) / 1e9
            step = min(max(int(middle / STEP_S), 0), steps - 1)
            bits[row["direction"]][step] += int(row["delivered_bytes"] or 0) * 8
    return {
        direction: [((step + 0.5) * STEP_S, value / STEP_S / 1e6) for step, value in enumerate(values)]
        for direction, values in bits.items()
    }


def legend(entries: list[tuple[str, str]], y: int) -> list[str]:
    out, x = [], WIDTH - RIGHT
    for name, colour in reversed(entries):
        out.append(f'<text class="ink" x="{x}" y="{y}" text-anchor="end">{name}</text>')
        x -= 8 * len(name) + 12
        out.append(f'<circle cx="{x}" cy="{y - 4}" r="4.5" fill="{colour}"/>')
        x -= 16
    return out


def draw(run: Path) -> str:
    record = json.loads((run / "run.json").read_text(encoding="utf-8"))
    plan, lab = record["plan"], record["path"]["lab"]
    towards = f"lab {lab['name']}" if lab else record["path"]["server"]["addresses"][0]
    before, load, after = (seconds(plan[key]) for key in ("idle_before", "duration", "idle_after"))
    until = before + load + after
    trips, rates = round_trips(run), delivered(run, until)
    upper = Panel(LATENCY, until, max(ms for points in trips.values() for _, ms in points))
    lower = Panel(THROUGHPUT, until, max(mbps for points in rates.values() for _, mbps in points))
    height = THROUGHPUT[0] + THROUGHPUT[1] + 46
    idle, loaded = (record["summary"]["latency_ms"][key]["p50"] for key in ("idle", "loaded"))
    about = f"Round trips of small packets: {idle:.0f} ms idle, {loaded:.0f} ms while TCP fills the line (medians)."
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img">',
        f"<title>{plan['name']} against {towards}</title><desc>{about}</desc><style>{STYLE}</style>",
        f'<rect class="paper" width="{WIDTH}" height="{height}" rx="6"/>',
        f'<text class="ink title" x="12" y="24">{plan["name"]}, {towards}: {idle:.0f} ms idle, {loaded:.0f} ms under load</text>',
        *upper.frame("round trip of each UDP probe (ms)", (before, before + load)),
        *legend(list(CLASSES.items()), LATENCY[0] - 12),
        *(upper.dots(trips[name], colour) for name, colour in CLASSES.items() if name in trips),
        *lower.frame("TCP payload delivered (Mbit/s)", (before, before + load)),
        *legend([(name, colour) for name, (colour, _) in DIRECTIONS.items()], THROUGHPUT[0] - 12),
        *(lower.curve(rates[name], *style) for name, style in DIRECTIONS.items()),
    ]
    for t in range(0, int(until) + 1, 10 if until > 30 else 5):
        out.append(f'<text class="faint" x="{lower.x(t):.1f}" y="{height - 28}" text-anchor="middle">{t}</text>')
    out.append(f'<text class="ink" x="{(LEFT + WIDTH - RIGHT) / 2:.0f}" y="{height - 9}" text-anchor="middle">time (s); shaded: load</text>')
    return "\n".join([*out, "</svg>", ""])


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    Path(sys.argv[2]).write_text(draw(Path(sys.argv[1])), encoding="utf-8")
