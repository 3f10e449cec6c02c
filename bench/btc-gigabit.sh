#!/bin/sh
# Whether `isobath btc` fills 1 Gbit/s with one core for the sender, beside iperf3's TCP over the same link.
#
#   near (10.77.0.1) ---- veth, 1 Gbit/s of packets by a token bucket ---- far (10.77.0.2)
#
# Two namespaces and a veth pair; the bucket (tbf) counts the octets of Ethernet frames, and its queue of 3 MB is longer
# than the windows. The sender has processor 0 and the receiver processor 1. The most that segments of 1448 octets can
# carry there is 1448 / 1514 of 1 Gbit/s: 956.4 Mbit/s.
# Needs root, ip, tc, taskset and iperf3; leaves nothing behind.
#
#   usage: bench/btc-gigabit.sh [SECONDS] [PROGRAM]
set -eu

seconds=${1:-10}
program=${2:-target/release/isobath}
near=isobath-near-$$
far=isobath-far-$$
folder=$(mktemp -d)
server=

cleanup() {
    if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; fi
    ip netns delete "$near" 2>/dev/null || true
    ip netns delete "$far" 2>/dev/null || true
    rm -rf "$folder"
}
trap cleanup EXIT INT TERM

ip netns add "$near"
ip netns add "$far"
ip link add isb-near netns "$near" type veth peer name isb-far netns "$far"
ip -n "$near" address add 10.77.0.1/24 dev isb-near
ip -n "$far" address add 10.77.0.2/24 dev isb-far
for side in near far; do
    eval "space=\$$side"
    ip -n "$space" link set lo up
    ip -n "$space" link set "isb-$side" up
done
tc -n "$near" qdisc add dev isb-near root tbf rate 1gbit burst 64kb limit 3mb

ip netns exec "$far" taskset -c 1 "$program" serve --ephemeral --json >"$folder/server.json" &
server=$!
while [ ! -s "$folder/server.json" ]; do sleep 0.1; done
key=$(sed 's/.*"key":"\([^"]*\)".*/\1/' "$folder/server.json")

for cc in reno cubic; do
    ip netns exec "$near" taskset -c 0 "$program" btc 10.77.0.2 --key "$key" --cc "$cc" \
        --duration "${seconds}s" --window 1000 --json --quiet --out "$folder/btc-$cc" >"$folder/$cc.json" || true
    printf 'btc %s: ' "$cc"
    python3 - "$folder/$cc.json" <<'PYTHON'
import json, sys
run = json.load(open(sys.argv[1]))
summary, instrument = run["summary"], run["instrument"]
print(f"{summary['throughput_mbps']:.0f} Mbit/s, {summary['loss_pct']:.3f} % lost, "
      f"sender's thread {instrument['sender_thread_pct']:.0f} % of a core, "
      f"receiver's {instrument['receiver_thread_pct']:.0f} %, {run['status']}")
PYTHON
done
kill "$server"
wait "$server" 2>/dev/null || true
server=

ip netns exec "$far" taskset -c 1 iperf3 -s -1 >/dev/null &
server=$!
sleep 0.5
ip netns exec "$near" taskset -c 0 iperf3 -c 10.77.0.2 -t "$seconds" -C reno -J >"$folder/iperf3.json"
python3 - "$folder/iperf3.json" <<'PYTHON'
import json, sys
end = json.load(open(sys.argv[1]))["end"]
rate = end["sum_received"]["bits_per_second"] / 1e6
host = end["cpu_utilization_percent"]["host_total"]
print(f"iperf3 reno (segmentation by the kernel): {rate:.0f} Mbit/s, sender {host:.0f} % of a core")
PYTHON
