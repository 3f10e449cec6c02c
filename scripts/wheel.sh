#!/bin/sh
# Builds the Python package as a wheel, dist/isobath-*.whl: the extension module, the Python on top of it, and the program itself as
# a script. `pip install dist/isobath-*.whl` then gives `import isobath` and `isobath`; `uvx --from dist/isobath-*.whl isobath` runs it.
#   scripts/wheel.sh          builds it
#   scripts/wheel.sh try      builds it, installs it into an empty environment elsewhere, and measures something with it
set -eu
cd "$(dirname "$0")/.."
maturin=1.16.0
target=${CARGO_TARGET_DIR:-$PWD/target}
tools=$PWD/target/python/maturin

build() {
    scripts/setup.sh build
    # One build of both: what they share is compiled once.
    "${CARGO:-cargo}" build --quiet --release --locked -p isobath -p isobath-python
    mkdir -p target/wheel/data/scripts dist
    install -m 755 "$target/release/isobath" target/wheel/data/scripts/isobath
    if [ ! -x "$tools/bin/maturin" ]; then
        python3 -m venv "$tools"
        "$tools/bin/pip" install --quiet --disable-pip-version-check "maturin==$maturin"
    fi
    rm -f dist/isobath-*.whl
    "$tools/bin/maturin" build --quiet --release --locked --out dist
    ls -l dist/isobath-*.whl
}

# As somebody who has no sources.
attempt() {
    place=$(mktemp -d)
    trap 'rm -rf "$place"' EXIT
    wheel=$(ls "$PWD"/dist/isobath-*.whl)
    python3 -m venv "$place/venv"
    "$place/venv/bin/pip" install --quiet --disable-pip-version-check "$wheel"
    cd "$place"
    "$place/venv/bin/isobath" --version
    # PATH has no program, and the environment names none: it is the wheel's.
    env -u ISOBATH_PROGRAM -u PYTHONPATH PATH=/usr/bin:/bin "$place/venv/bin/python" -c '
import isobath as ib
from isobath.program import find
print("program    ", find())
run = ib.btc(lab="lan", duration="2s", quiet=True)
print("measured   ", round(run.summary.throughput_mbps), "Mbit/s,", run.status)
print("simulated  ", round(ib.sim.btc(rate="100Mbit", rtt="20ms", loss=0.001).summary.throughput_mbps, 1), "Mbit/s")
'
}

case "${1:-}" in
"") build ;;
try)
    build
    attempt
    ;;
*)
    echo "usage: scripts/wheel.sh [try]" >&2
    exit 2
    ;;
esac
