#!/usr/bin/env bash
# Runs the benches named (all by default), one after the other: never two at once, they would measure each other.
#
#   bench/run.sh [emulator] [pacer] [rrul-cpu] [sim-peers] [sim-hour] [btc-gigabit] [quic-gigabit] [mbm] [trace-extract] [replay] [tmix-ns2] [manager] [fleet]
#
# Each prints our figures beside the peer's, taken in turns in the same run. As root: network namespaces and packet
# sockets. Takes some minutes. Set REPEATS for more or fewer turns.
set -uo pipefail
cd "$(dirname "$0")"
./install-peers.sh || echo "some peers are missing; what there is will be measured" >&2
cargo build --release --locked -p isobath -p isobath-sys --examples --bins || exit 3
status=0
[ $# -gt 0 ] || set -- emulator pacer rrul-cpu sim-peers sim-hour btc-gigabit quic-gigabit mbm trace-extract replay tmix-ns2 manager fleet
for name in "$@"; do
    case $name in
        emulator | pacer | rrul-cpu | sim-peers | sim-hour | quic-gigabit | trace-extract | replay | tmix-ns2 | fleet) "./$name" || status=1 ;;
        btc-gigabit) ./btc-gigabit.sh 10 ../target/release/isobath || status=1 ;;
        manager) ./manager.sh ../target/release/isobath || status=1 ;;
        mbm) ./mbm.sh ../target/release/isobath || status=1 ;;
        *) echo "no bench is called '$name' - use emulator, pacer, rrul-cpu, sim-peers, sim-hour, btc-gigabit, quic-gigabit, mbm, trace-extract, replay, tmix-ns2, manager or fleet" >&2; exit 2 ;;
    esac
done
exit $status
