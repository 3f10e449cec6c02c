#!/usr/bin/env bash
# Installs what the benches compare with: irtt, iperf3, tcptrace, tshark, wireguard-go, ns-2 and ns-3 from Debian or Ubuntu, rattan by cargo (built here, some
# minutes), Flent into a Python environment of its own. What cannot be installed is said, and the benches do without.
#
# netperf, which Flent needs for its load, is not in Debian's main section: it is used where it is already there.
set -uo pipefail
cd "$(dirname "$0")"
peers=$PWD/.peers
missing=0
lack() { echo "not installed: $*" >&2; missing=1; }

packages=()
for tool in irtt iperf3 tcptrace tshark; do command -v "$tool" >/dev/null || packages+=("$tool"); done
command -v ns >/dev/null && [ -d /usr/share/doc/ns2/examples ] || packages+=(ns2 ns2-examples)
[ -d /usr/include/ns3 ] || packages+=(g++ libns3-dev)
command -v wireguard-go >/dev/null && command -v wg >/dev/null || packages+=(wireguard-go wireguard-tools)
command -v python3 >/dev/null || packages+=(python3 python3-venv)
if [ ${#packages[@]} -gt 0 ]; then
    sudo=$([ "$(id -u)" = 0 ] || echo sudo)
    $sudo apt-get update -qq && $sudo apt-get install -y --no-install-recommends "${packages[@]}" ||
        lack "${packages[@]}"
fi
if [ ! -x "$peers/bin/rattan" ]; then
    CARGO_TARGET_DIR=$peers/target cargo install rattan --version 0.1.1 --root "$peers" --locked ||
        CARGO_TARGET_DIR=$peers/target cargo install rattan --version 0.1.1 --root "$peers" || lack rattan
    rm -rf "$peers/target"
fi
if [ ! -x "$peers/flent/bin/flent" ]; then
    { python3 -m venv "$peers/flent" && "$peers/flent/bin/pip" install --quiet flent==2.1.1; } || lack flent
fi
[ -d "${HTSIM:-../target/release/peers/csg-htsim}" ] || echo "htsim is not here: clone Broadcom/csg-htsim and set HTSIM to its folder, for the bench sim-peers"
command -v netserver >/dev/null || echo "netperf is not here: the bench rrul-cpu will compare with iperf3 instead of Flent"
exit $missing
