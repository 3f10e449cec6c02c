"""All fuzz targets in turn, each for its share of the time: executions, and what crashed."""

import re
import shutil
import subprocess
import time
from pathlib import Path

from common import ROOT, Row

PART = "fuzz"
FUZZ = ROOT / "fuzz"
# One input may take so much memory (MB), and so long (seconds).
MEMORY = 1024
SLOW = 10


def build():
    """Builds all targets (scripts/fuzz.sh); where they are."""
    done = subprocess.run([ROOT / "scripts" / "fuzz.sh", "--build"], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"the fuzz targets were not built: {done.stderr.strip()[-300:]}")
    return Path(done.stdout.strip().splitlines()[-1])


def targets():
    return sorted(path.stem for path in (FUZZ / "fuzz_targets").glob("*.rs"))


def fuzz(campaign, row, program, seconds):
    """One target; what it found goes to the campaign's folder."""
    target = program.name
    found, crashes = (campaign.out / "fuzz" / kind / target for kind in ("corpus", "crashes"))
    for folder in (found, crashes):
        folder.mkdir(parents=True, exist_ok=True)
    options = [f"-max_total_time={max(1, round(seconds))}", f"-artifact_prefix={crashes}/", "-print_final_stats=1", f"-rss_limit_mb={MEMORY}",
               f"-timeout={SLOW}", "-seed=0"]
    began = time.monotonic()
    ran = subprocess.run([program, found, FUZZ / "corpus" / target, *options], capture_output=True, text=True, errors="replace", cwd=campaign.work)
    executions = re.search(r"stat::number_of_executed_units:\s*(\d+)", ran.stderr)
    peak = re.search(r"stat::peak_rss_mb:\s*(\d+)", ran.stderr)
    coverage = re.findall(r"cov: (\d+)", ran.stderr)
    row.times = int(executions[1]) if executions else 0
    row.figures = f"{time.monotonic() - began:.0f} s, coverage {coverage[-1] if coverage else '?'}, {peak[1] if peak else '?'} MB"
    if ran.returncode:
        names = ", ".join(path.name for path in sorted(crashes.iterdir()))
        log = campaign.keep(f"fuzz-{target}.log", ran.stderr[-20_000:])
        row.failures.append(f"{names or 'no input kept'} (fuzz/crashes/{target}, {log})")


def run(campaign, seconds):
    campaign.progress("fuzz: building the targets")
    folder = build()
    names = targets()
    deadline = time.monotonic() + seconds
    for number, target in enumerate(names):
        row = Row(PART, target)
        campaign.rows.append(row)
        share = (deadline - time.monotonic()) / (len(names) - number)
        if shutil.which(folder / target) is None:
            row.failures.append(f"not built: {folder / target}")
            continue
        fuzz(campaign, row, folder / target, share)
        campaign.progress(f"fuzz: {target}: {row.times} executions, {row.figures}, failures {len(row.failures)}")
