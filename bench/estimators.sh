#!/bin/bash
# Estimators against what a lab's links really have: capacities from 5 to 100 Mbit/s, loads of 0, 50 and 90 %, by even packets and by those
# of a recording, with its sizes and gaps. Prints a row for each cell: what was found, how far off it is, and whether it is believed.
# `available` is held against the capacity less what the others send. No run takes more than two minutes. As any user who may have labs.
#
#   bench/estimators.sh [PROGRAM]        RATES="5 20 100" LOADS="0 50 90" RUNS=1
set -eu
program=$(realpath "${1:-$(dirname "$0")/../target/release/isobath}")
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place"

# A link of $1 Mbit/s and 20 ms, with others' packets of kind $3 at $2 % of it.
lab() {
    local cross= kbit=$(($1 * $2 * 10))
    [ "$2" = 0 ] || cross=", cross = { pace = \"$3\", rates = [\"${kbit}kbit\"], $(sizes "$3") }"
    cat <<END
summary = "$1 Mbit/s, $2 % of it taken"
client = "near"
server = "far"
hosts = ["near", "far"]
[[link]]
between = ["near", "far"]
up = [{ kind = "rate", rate = "$1Mbit", queue = { kind = "fifo", packets = $(($1 * 9 > 60 ? $1 * 9 : 60)) }$cross }, { kind = "delay", delay = "10ms" }]
down = [{ kind = "rate", rate = "$1Mbit", queue = { kind = "fifo", packets = 900 } }, { kind = "delay", delay = "10ms" }]
END
}
sizes() { [ "$1" = even ] && echo 'sizes = [500]' || echo 'recording = "web-page", copies = 100'; }

row() {
    python3 - "$@" <<'END'
import json, sys
rate, load, kind, what, method, truth, status, file = sys.argv[1:]
run = json.load(open(file))
found, truth = run["summary"], float(truth)
value = found.get("value")
known = f"{value:8.2f} {100 * (value / truth - 1):+7.1f} %" if value is not None else f"{'-':>8} {'-':>9}"
holds = value is not None and found["low"] is not None and found["high"] is not None and found["low"] <= truth * 1.02 and found["high"] >= truth * 0.98
verdict = {"complete": "believed" if found["conclusive"] else "not believed"}.get(run["status"], run["status"])
print(f"{rate:>4} {load:>4} %  {kind:9} {what:10} {method:14} {truth:7.2f} {known}  {'holds' if holds else '     '}  {verdict}", flush=True)
END
}

echo "Mbit/s load  cross     what       estimator        truth    found     error  range  verdict"
for rate in ${RATES:-5 20 100}; do
    for load in ${LOADS:-0 50 90}; do
        for kind in even recorded; do
            [ "$load-$kind" != 0-recorded ] || continue
            lab "$rate" "$load" "$kind" > cell.toml
            truth=$(python3 -c "print($rate * (1 - $load / 100))")
            for run in $(seq "${RUNS:-1}"); do
                for how in "available pathload-fast $truth" "capacity pathrate $rate"; do
                    read -r what method true <<< "$how"
                    rm -rf r
                    status=0
                    timeout -s INT 120 "$program" estimate "$what" --estimator "$method" --lab cell.toml --seed "$run" -q -o r > /dev/null 2>&1 || status=$?
                    row "$rate" "$load" "$kind" "$what" "$method" "$true" "$status" r/run.json
                done
            done
        done
    done
done
