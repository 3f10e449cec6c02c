#!/usr/bin/env python3
"""Writes the delivery traces of the `lte` lab: `python3 labs/traces/make.py` from the project's folder.

Not a recording. The rate is a log-normal random walk that returns to its mean (time constant 0.5 s), as
fading and a scheduler's share make it, with an outage of 0.3 s; deliveries at that rate are a Poisson
process. Format: mahimahi's, one line for each opportunity to deliver 1,504 bytes, in ms.
"""
import math
import random

SECONDS = 10


def trace(mean_mbps: float, seed: int) -> list[int]:
    rng = random.Random(seed)
    level, lines, due = 0.0, [], rng.expovariate(1)
    spread, decay = 0.6, math.exp(-1 / 500)
    for ms in range(1, SECONDS * 1000 + 1):
        level = level * decay + spread * math.sqrt(1 - decay * decay) * rng.gauss(0, 1)
        outage = 6000 <= ms < 6300
        rate = 0 if outage else mean_mbps * 1e3 * math.exp(level - spread * spread / 2)
        due -= rate / (8 * 1504)
        while due <= 0:
            due += rng.expovariate(1)
            lines.append(ms)
    if lines[-1] != SECONDS * 1000:
        lines.append(SECONDS * 1000)
    return lines


for name, mbps, seed in [("lte-down", 12, 1), ("lte-up", 4, 2)]:
    with open(f"labs/traces/{name}.trace", "w", encoding="ascii") as file:
        file.writelines(f"{ms}\n" for ms in trace(mbps, seed))
