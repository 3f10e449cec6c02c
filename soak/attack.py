#!/usr/bin/env python3
"""Strangers: what they send to a server of Isobath, in bounds, and what came back, as JSON.

    attack.py HOST PORT SECONDS [--datagrams 10000] [--connections 200]
"""

import argparse
import collections
import json
import os
import socket
import ssl
import struct
import threading
import time

# Connections that are kept open, unfinished.
OPEN = 150
GARBAGE = (b"GET / HTTP/1.1\r\n\r\n", b"\0" * 64, b"ISOB\1\1", b"SSH-2.0-x\r\n", b"\x16\x03\x01\xff\xff")


def probe(session):
    """A request with a tag of chance, of a session that is not there (docs/protocol.md)."""
    return struct.pack(">4sBBBBHHIQ", b"ISOB", 1, 1, 0, 0, 1, 0, 7, session) + os.urandom(8) + bytes(32)


def initial():
    """What looks like a client's first packet of QUIC (RFC 9000 section 17.2.2), and cannot be decrypted."""
    return b"\xc3\0\0\0\1\x08" + os.urandom(1194)


def datagrams():
    """What strangers send by UDP, over and over: requests, noise, and a query."""
    query = struct.pack(">HHHHHH", 7, 0x100, 1, 0, 0, 0) + b"\3www\7example\3org\0" + struct.pack(">HH", 1, 1)
    return [probe(int.from_bytes(os.urandom(8), "big")) for _ in range(64)] + [os.urandom(48) for _ in range(30)] + [initial() for _ in range(16)] + [query, b""]


def client_hello():
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    try:
        context.wrap_bio(incoming, outgoing, server_hostname="server").do_handshake()
    except ssl.SSLWantReadError:
        pass
    return outgoing.read()


def paced(rate, seconds):
    """Yields numbers, so many a second; late ones at once."""
    begin = time.monotonic()
    for number in range(int(rate * seconds)):
        ahead = begin + number / rate - time.monotonic()
        if ahead > 0:
            time.sleep(ahead)
        elif ahead < -1:
            return
        yield number


def flood(address, rate, seconds, told):
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sender.setblocking(False)
    forms = datagrams()
    sent = replies = 0
    for number in paced(rate, seconds):
        try:
            sender.sendto(forms[number % len(forms)], address)
            sent += 1
        except OSError:
            pass
        if number % 100 == 0:
            replies += heard(sender)
    time.sleep(0.5)
    told.update(datagrams=sent, replies=replies + heard(sender))


def heard(sender):
    count = 0
    while True:
        try:
            sender.recv(2048)
            count += 1
        except BlockingIOError:
            return count
        except OSError:
            # An ICMP error is no reply.
            continue


def connect(address, rate, seconds, told):
    hello = client_hello()
    kept = collections.deque()
    made = 0
    for number in paced(rate, seconds):
        try:
            stranger = socket.create_connection(address, timeout=1)
            made += 1
            stranger.setblocking(False)
            # A third says hello and no more, a third nonsense, a third nothing.
            if number % 3 == 0:
                stranger.send(hello)
            elif number % 3 == 1:
                stranger.send(GARBAGE[number // 3 % len(GARBAGE)])
            kept.append(stranger)
        except OSError:
            continue
        if len(kept) > OPEN:
            kept.popleft().close()
    for stranger in kept:
        stranger.close()
    told.update(connections=made)


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("host")
    options.add_argument("port", type=int)
    options.add_argument("seconds", type=float)
    options.add_argument("--datagrams", type=float, default=10_000, help="a second")
    options.add_argument("--connections", type=float, default=200, help="a second")
    asked = options.parse_args()
    told, address = {}, (asked.host, asked.port)
    threads = [threading.Thread(target=work, args=(address, rate, asked.seconds, told))
               for work, rate in ((flood, asked.datagrams), (connect, asked.connections)) if rate]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(json.dumps(told))


if __name__ == "__main__":
    main()
