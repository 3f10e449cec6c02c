"""Both ends of STAMP with scapy's packets, which know nothing of ours."""

import socket
import sys
import time

from scapy.contrib.stamp import (
    STAMPSessionReflectorTestUnauthenticated as Reflected,
    STAMPSessionSenderTestUnauthenticated as Request,
)

PORT = 8620
# From 1900 to 1970.
EPOCHS = 2_208_988_800


def now():
    return time.time() + EPOCHS


def reflect():
    """A stateless reflector: it repeats the sender's number."""
    server = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    server.bind(("::", PORT))
    while True:
        octets, peer = server.recvfrom(2048)
        received = now()
        request = Request(octets[:44])
        reply = Reflected(
            seq=request.seq, ts=now(), err_estimate=request.err_estimate, ssid=request.ssid, ts_rx=received, seq_sender=request.seq,
            ts_sender=request.ts, err_estimate_sender=request.err_estimate, ttl_sender=64)
        server.sendto(bytes(reply) + octets[44:], peer)


def send(host):
    """Three requests, each again until it is answered."""
    client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    client.connect((host, PORT))
    client.settimeout(0.2)
    for number in range(3):
        request = Request(seq=number, ts=now(), ssid=7)
        for _ in range(100):
            try:
                client.send(bytes(request))
                # A reply to the request before may be late.
                while Reflected(octets := client.recv(2048)).seq_sender != number:
                    pass
                break
            except (ConnectionRefusedError, TimeoutError):
                time.sleep(0.1)
        back = now()
        reply = Reflected(octets)
        assert len(octets) == len(request), (len(octets), len(request))
        assert (reply.seq_sender, reply.ssid, reply.ts_sender) == (number, 7, Request(bytes(request)).ts), reply.show2(dump=True)
        # The lab's link takes 5 ms each way; the clock is the same.
        assert reply.ts_rx - request.ts > 0.005 and back - reply.ts > 0.005, reply.show2(dump=True)
        assert reply.ts >= reply.ts_rx and 0 < reply.ttl_sender <= 64, reply.show2(dump=True)
    assert reply.seq >= 2, "it counts"


if __name__ == "__main__":
    reflect() if sys.argv[1] == "reflect" else send(sys.argv[2])
