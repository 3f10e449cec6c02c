"""Both ends of STAMP with scapy's packets, which know nothing of ours; of the authenticated mode, which scapy does not have, by RFC 8762 sections
4.2.2, 4.3.2 and 4.4 with Python's own HMAC."""

import hmac
import socket
import struct
import sys
import time

from scapy.contrib.stamp import (
    STAMPSessionReflectorTestUnauthenticated as Reflected,
    STAMPSessionSenderTestUnauthenticated as Request,
)

PORT = 8620
# From 1900 to 1970.
EPOCHS = 2_208_988_800
KEY = b"secret"
# Number, stamp, error estimate, session; the same of a reply, with the time of arrival, and the request's.
SIGNED_REQUEST = struct.Struct(">I12xQHH68x")
SIGNED_REPLY = struct.Struct(">I12xQHH4xQ8xI12xQH6xB15x")


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


def sign(packet):
    return packet + hmac.new(KEY, packet, "sha256").digest()[:16]


def fraction(moment):
    return int(moment * 2**32)


def reflect_signed():
    """A stateless reflector that answers what is signed alone; it knows no TLVs."""
    server = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    server.bind(("::", PORT))
    while True:
        octets, peer = server.recvfrom(2048)
        received = now()
        if octets[:112] != sign(octets[:96]):
            continue
        number, stamp, error, session = SIGNED_REQUEST.unpack(octets[:96])
        reply = SIGNED_REPLY.pack(number, fraction(now()), error, session, fraction(received), number, stamp, error, 64)
        server.sendto(sign(reply) + octets[112:], peer)


def send_signed(host):
    """Three requests, and one that is not signed, which gets no answer."""
    client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    client.connect((host, PORT))
    client.settimeout(0.2)
    for number in range(3):
        left = now()
        request = sign(SIGNED_REQUEST.pack(number, fraction(left), 0x1801, 7))
        for _ in range(100):
            try:
                client.send(bytes(112))
                client.send(request)
                while SIGNED_REPLY.unpack((octets := client.recv(2048))[:96])[5] != number:
                    pass
                break
            except (ConnectionRefusedError, TimeoutError):
                time.sleep(0.1)
        back = now()
        assert octets == sign(octets[:96]), "it is signed, and as long as the request"
        seq, replied, _, session, arrived, _, stamp, error, ttl = SIGNED_REPLY.unpack(octets[:96])
        assert (session, stamp, error) == (7, fraction(left), 0x1801) and 0 < ttl <= 64, octets.hex()
        # The lab's link takes 5 ms each way; the clock is the same.
        assert arrived / 2**32 - left > 0.005 and back - replied / 2**32 > 0.005, octets.hex()
    assert seq >= 2, "it counts"


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
    part, *host = sys.argv[1:]
    {"reflect": reflect, "send": send, "reflect_signed": reflect_signed, "send_signed": send_signed}[part](*host)
