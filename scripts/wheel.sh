#!/bin/sh
# Builds the Python package as a wheel, dist/isobath-*.whl: the extension module, the Python on top of it, and the program itself as
# a script. `pip install dist/isobath-*.whl` then gives `import isobath` and `isobath`.
#   scripts/wheel.sh                       builds it for this machine
#   scripts/wheel.sh for MACHINE PROGRAM   builds it as a release has it: for every Linux on MACHINE with glibc 2.17 or newer, with this PROGRAM
#   scripts/wheel.sh try                   installs this machine's into an empty environment elsewhere, and measures something with it
set -eu
cd "$(dirname "$0")/.."
. scripts/reproducible.sh
maturin=1.16.0
tools=$PWD/target/python/maturin

# pack MACHINE PROGRAM [what maturin takes]: the wheel, with this program in it.
pack() {
    machine=$1
    documents=target/wheel/data/data/share/doc/isobath
    mkdir -p target/wheel/data/scripts "$documents" dist
    install -m 755 "$2" target/wheel/data/scripts/isobath
    scripts/sbom.py licences >"$documents/THIRD-PARTY.txt"
    shift 2
    if [ "$("$tools/bin/maturin" --version 2>/dev/null)" != "maturin $maturin" ]; then
        python3 -m venv "$tools"
        "$tools/bin/pip" install --quiet --disable-pip-version-check "maturin==$maturin"
    fi
    rm -f dist/isobath-*"_$machine.whl"
    "$tools/bin/maturin" build --quiet --locked --out dist "$@"
    ls -l dist/isobath-*"_$machine.whl"
}

build() {
    scripts/setup.sh build
    # One build of both: what they share is compiled once.
    "${CARGO:-cargo}" build --quiet --release --locked -p isobath -p isobath-python
    pack "$(uname -m)" "${CARGO_TARGET_DIR:-target}/release/isobath" --release
}

# Nothing of this machine is in it, and it is optimised as the program is; zig links with the C library of the oldest Linux.
release() {
    name=$1-unknown-linux-gnu
    reproducible "$name"
    export CARGO_ZIGBUILD_ZIG_PATH="$PWD/target/tools/zig/ziglang/zig"
    pack "$1" "$2" --profile dist --zig --target "$name" --compatibility manylinux2014 --target-dir "$work"
}

# As somebody who has no sources.
attempt() {
    wheel=$(ls "$PWD"/dist/isobath-*"_$(uname -m).whl")
    place=$(mktemp -d)
    trap 'rm -rf "$place"' EXIT
    python3 -m venv "$place/venv"
    "$place/venv/bin/pip" install --quiet --disable-pip-version-check "$wheel"
    cd "$place"
    "$place/venv/bin/isobath" --version
    # PATH has no program, and the environment names none: it is the wheel's.
    env -u ISOBATH_PROGRAM -u PYTHONPATH PATH=/usr/bin:/bin "$place/venv/bin/python" -c '
import isobath as ib
from isobath.program import find
print("program    ", find())
run = ib.rrul(lab="dsl", duration="10s", quiet=True)
print("measured   ", round(run.summary.latency_ms.loaded.p50), "ms under load,", run.status)
print("simulated  ", round(ib.sim.btc(rate="100Mbit", rtt="20ms", loss=0.001).summary.throughput_mbps, 1), "Mbit/s")
'
}

case "${1-} $#" in
" 0") build ;;
"for 3") release "$2" "$3" ;;
"try 1") attempt ;;
*)
    echo "usage: scripts/wheel.sh [for MACHINE PROGRAM | try]" >&2
    exit 2
    ;;
esac
