"""The table of a campaign, in Markdown."""

import os
import platform
import subprocess
import time

import common

DOCS = common.ROOT / "docs" / "reliability.md"
BEGIN, END = "<!-- the last campaign -->\n", "<!-- end of the last campaign -->\n"
# Failures of one row that are told.
TOLD = 5


def version():
    said = subprocess.run([common.ISOBATH, "--version"], capture_output=True, text=True).stdout.strip()
    commit = subprocess.run(["git", "-C", common.ROOT, "describe", "--always", "--dirty"], capture_output=True, text=True).stdout.strip()
    return f"{said} ({commit or 'no commit'})"


def number(count):
    return f"{count:,}"


def render(rows, began, is_cut):
    date = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(began))
    minutes = (time.time() - began) / 60
    failed = sum(len(row.failures) for row in rows)
    lines = [
        f"{date}, {version()}, Linux {platform.release()}, {os.cpu_count()} processors, {minutes:.0f} minutes{', cut short' if is_cut else ''}: "
        f"{'nothing failed' if not failed else f'{failed} failures'}.",
        "",
        "| part | what | times | failed | figures |",
        "|---|---|--:|--:|---|",
    ]
    lines += [f"| {row.part} | {row.what} | {number(row.times)} | {len(row.failures)} | {row.figures} |" for row in rows]
    said = [f"- {row.part}, {row.what}: {str(failure).replace('|', ';')}" for row in rows for failure in row.failures[:TOLD]]
    return "\n".join(lines + ([""] + said if said else [])) + "\n"


def write(campaign, began, is_cut):
    text = render(campaign.rows, began, is_cut)
    (campaign.out / "soak.md").write_text(text)
    return text


def update_docs(text):
    before = DOCS.read_text()
    head, tail = before.split(BEGIN)[0], before.split(END)[1]
    DOCS.write_text(head + BEGIN + text + END + tail)
