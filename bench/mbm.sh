#!/bin/sh
# What a verdict costs, beside a flood of ten seconds: octets and seconds of `isobath mbm` for applications that have a target, and
# of iperf3 over the same link. Then whether one core paces 1 Gbit/s within the test's own preconditions.
#
#   near (10.78.0.1) ---- veth, 100 Mbit/s of packets by a token bucket; then without one ---- far (10.78.0.2)
#
# Needs root, ip, tc, taskset and iperf3; leaves nothing behind.
#
#   usage: bench/mbm.sh [PROGRAM]
set -eu

program=${1:-target/release/isobath}
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
ip -n "$near" address add 10.78.0.1/24 dev isb-near
ip -n "$far" address add 10.78.0.2/24 dev isb-far
for side in near far; do
    eval "space=\$$side"
    ip -n "$space" link set lo up
    ip -n "$space" link set "isb-$side" up
done
tc -n "$near" qdisc add dev isb-near root tbf rate 100mbit burst 32kb limit 1mb

ip netns exec "$far" taskset -c 1 iperf3 -s -1 >/dev/null &
server=$!
sleep 0.5
ip netns exec "$near" taskset -c 0 iperf3 -c 10.78.0.2 -t 10 -C reno -J >"$folder/flood.json"
wait "$server" || true

ip netns exec "$far" taskset -c 1 "$program" serve --ephemeral --json >"$folder/server.json" &
server=$!
while [ ! -s "$folder/server.json" ]; do sleep 0.1; done
key=$(sed 's/.*"key":"\([^"]*\)".*/\1/' "$folder/server.json")

measure() { # NAME OPTIONS...
    name=$1
    shift
    ip netns exec "$near" taskset -c 0 "$program" mbm 10.78.0.2 --key "$key" --test paced-full-rate --yes \
        --json --quiet --out "$folder/$name" "$@" >"$folder/$name.json" || true
    python3 - "$folder/$name.json" "$folder/flood.json" "$name" <<'PYTHON'
import json, sys
run, flood = (json.load(open(name)) for name in sys.argv[1:3])
test = run["summary"]["tests"][0]
sent = flood["end"]["sum_sent"]
cpu = ", ".join(f"{cpu['host']} {cpu['mean_pct']:.0f} % of its processors" for cpu in run["instrument"]["cpu"])
print(f"{sys.argv[3]:14}{run['verdict']:13}{test['seconds']:6.1f} s{test['bytes_sent'] / 1e6:9.1f} MB"
      f"{sent['seconds'] / test['seconds']:8.1f}{sent['bytes'] / test['bytes_sent']:8.1f}   {cpu}")
if run["verdict"] != "PASS":
    print(f"    {test['verdict']['says']}")
PYTHON
}

python3 - "$folder/flood.json" <<'PYTHON'
import json, sys
sent = json.load(open(sys.argv[1]))["end"]["sum_sent"]
print(f"{'iperf3':14}{'-':13}{sent['seconds']:6.1f} s{sent['bytes'] / 1e6:9.1f} MB")
print(f"{'':47}flood / verdict")
print(f"{'target':14}{'verdict':13}{'time':>8}{'sent':>12}{'time':>8}{'octets':>8}")
PYTHON
for target in voip video-hd cloud-game video-4k; do
    measure "$target" --target "$target"
done
tc -n "$near" qdisc del dev isb-near root
measure 1Gbit-5ms --rate 1Gbit --rtt 5ms
