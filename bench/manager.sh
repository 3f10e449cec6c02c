#!/bin/bash
# What an overlay costs: TCP through two managers with riding off, and the delay that they add, beside the kernel alone over the
# same pair of interfaces, and beside another overlay of a program's own, wireguard-go, where it is installed (it encrypts, we do not). As root.
# Targets: 2 Gbit/s for one flow on two processors, 100 us of added delay (median, one way).
#
#   bench/manager.sh [PROGRAM]        SECONDS_EACH=5 REPEATS=3
set -eu
umask 077
program=$(realpath "${1:-$(dirname "$0")/../target/release/isobath}")
seconds=${SECONDS_EACH:-5}
repeats=${REPEATS:-3}
place=$(mktemp -d)
hosts=()
trap 'kill "${hosts[@]}" 2>/dev/null; rm -rf "$place"' EXIT

# Two hosts: network namespaces that live as long as their sleeper, joined by a pair of interfaces.
for host in 0 1; do
    unshare -n sleep 1000 &
    hosts+=($!)
done
sleep 0.3
on() { local host=$1; shift; nsenter -t "${hosts[$host]}" -n "$@"; }
# In the background, with nothing between this shell and the program: what is ended at the end is the program.
keep_on() { local host=$1; shift; exec nsenter -t "${hosts[$host]}" -n "$@"; }
ip link add bench0 netns "${hosts[0]}" type veth peer name bench1 netns "${hosts[1]}"
for host in 0 1; do
    on $host ip link set lo up
    on $host ip address add 10.98.0.$((host + 1))/24 dev bench$host
    on $host ip link set bench$host up
done

# Two managers whose packets go by a carrier, with an interface, a network and a port of their own.
managers() {
    local carrier=$1 net=$2 port=$3 key host
    cat > "$place/$carrier.1.toml" <<END
name = "far"
interface = "iso-$carrier"
addresses = ["$net.2/24"]
listen = "0.0.0.0:$port"
identity = "$place/identity.json"
socket = "$place/$carrier.1.sock"
delay = "0s"
[[peer]]
name = "near"
carrier = "$carrier"
routes = ["$net.1/32"]
END
    key=$("$program" manager up --config "$place/$carrier.1.toml" --show-key near)
    cat > "$place/$carrier.0.toml" <<END
name = "near"
interface = "iso-$carrier"
addresses = ["$net.1/24"]
socket = "$place/$carrier.0.sock"
delay = "0s"
[[peer]]
name = "far"
endpoint = "10.98.0.2:$port"
key = "$key"
carrier = "$carrier"
routes = ["$net.2/32"]
END
    chmod 600 "$place/$carrier.0.toml"
    for host in 1 0; do
        keep_on $host "$program" manager up --config "$place/$carrier.$host.toml" > "$place/$carrier.$host.log" &
        hosts+=($!)
    done
    until "$program" manager status --socket "$place/$carrier.0.sock" --json 2>/dev/null | grep -q "\"carrier\":\"$carrier\""; do sleep 0.1; done
}
managers udp 10.99.0 4890
managers raw 10.96.0 4891
# Two ends of WireGuard in user space, each with its interface in its host's namespace.
wireguard() {
    local host=$1 key other
    key=$(cat "$place/wg$host.key") other=$(wg pubkey < "$place/wg$((1 - host)).key")
    keep_on "$host" env WG_PROCESS_FOREGROUND=1 LOG_LEVEL=error wireguard-go "wgbench$host" > "$place/wg$host.log" 2>&1 &
    hosts+=($!)
    until [ -S "/var/run/wireguard/wgbench$host.sock" ]; do sleep 0.1; done
    on "$host" wg set "wgbench$host" listen-port 51820 private-key <(echo "$key") \
        peer "$other" endpoint "10.98.0.$((2 - host)):51820" allowed-ips 10.97.0.0/24
    on "$host" ip address add "10.97.0.$((host + 1))/24" dev "wgbench$host"
    on "$host" ip link set "wgbench$host" mtu 1420 up
}
peers_overlay=
if command -v wireguard-go >/dev/null && command -v wg >/dev/null; then
    for host in 0 1; do wg genkey > "$place/wg$host.key"; done
    for host in 0 1; do wireguard $host; done
    peers_overlay=10.97.0.2
fi

cat > "$place/far.py" <<'END'
import socket, threading
def sink():
    listener = socket.create_server(("", 9000))
    while True:
        stream = listener.accept()[0]
        room = bytearray(1 << 20)
        while stream.recv_into(room):
            pass
        stream.close()
threading.Thread(target=sink, daemon=True).start()
echo = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
echo.bind(("", 9001))
while True:
    data, peer = echo.recvfrom(64)
    echo.sendto(data, peer)
END
cat > "$place/near.py" <<'END'
import fcntl, socket, statistics, struct, sys, termios, time
host, seconds = sys.argv[1], float(sys.argv[2])
stream = socket.create_connection((host, 9000))
block, sent, start = bytes(1 << 18), 0, time.monotonic()
while time.monotonic() < start + seconds:
    sent += stream.send(block)
# What is not acknowledged yet has not arrived, perhaps.
sent -= struct.unpack("i", fcntl.ioctl(stream, termios.TIOCOUTQ, bytes(4)))[0]
rate = 8 * sent / (time.monotonic() - start) / 1e9
stream.close()
time.sleep(0.5)
echo, trips = socket.socket(socket.AF_INET, socket.SOCK_DGRAM), []
echo.settimeout(1)
for _ in range(1000):
    start = time.monotonic()
    echo.sendto(b"x" * 64, (host, 9001))
    echo.recv(64)
    trips.append((time.monotonic() - start) * 1e6)
    time.sleep(0.001)
print(f"{rate:.2f} Gbit/s, round trip median {statistics.median(trips):.0f} us, 99 % {sorted(trips)[990]:.0f} us", flush=True)
END
keep_on 1 python3 "$place/far.py" &
hosts+=($!)
sleep 0.5
for _ in $(seq "$repeats"); do
    echo "kernel alone: $(on 0 python3 "$place/near.py" 10.98.0.2 "$seconds")"
    echo "overlay, UDP: $(on 0 python3 "$place/near.py" 10.99.0.2 "$seconds")"
    echo "overlay, raw: $(on 0 python3 "$place/near.py" 10.96.0.2 "$seconds")"
    [ -z "$peers_overlay" ] || echo "wireguard-go: $(on 0 python3 "$place/near.py" "$peers_overlay" "$seconds")"
done
for carrier in udp raw; do
    "$program" manager stats --socket "$place/$carrier.0.sock"
done | grep -E 'unsent|overflows|undelivered|dropped' || true
