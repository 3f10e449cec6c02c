#!/usr/bin/env python3
"""Captures of a known shape, in pcap, 96 octets of each packet: `make-traces.py KIND FILE`.

long   8 connections, each a download of 500,000 segments with an acknowledgement for two: 6 million packets
short  100,000 connections of 12 packets, about 1,000 open at a time: 1.2 million packets, five times over
open   the same 100,000 connections, all open at once, packet by packet in turns
"""
import struct
import sys

HEADER = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 96, 1)
ETHERNET = bytes(12) + b"\x08\x00"
SYN, FIN, ACK, PSH = 2, 1, 16, 8


def packet(at_us, from_end, to_end, seq, ack, flags, payload, tsval, tsecr):
    """A record: Ethernet, IPv4, TCP with clocks."""
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 52 + payload, 0, 0x4000, 64, 6, 0, from_end[0], to_end[0])
    tcp = struct.pack(">HHIIBBHHH", from_end[1], to_end[1], seq & 0xFFFFFFFF, ack & 0xFFFFFFFF, 0x80, flags, 500, 0, 0)
    octets = ETHERNET + ip + tcp + struct.pack(">BBBBII", 1, 1, 8, 10, tsval, tsecr)
    length = len(octets) + payload
    octets += bytes(min(payload, 96 - len(octets)))
    return struct.pack("<IIII", at_us // 1_000_000, at_us % 1_000_000, len(octets), length) + octets


def ends(number):
    """Client and server of a connection."""
    client = struct.pack(">I", (10 << 24) + 256 + number // 50_000)
    return (client, 10_000 + number % 50_000), (b"\x0a\x02\x00\x01", 443)


def short(number, at_us):
    """Handshake, a request, a response of three segments, and an end of both sides: 12 packets, in ms."""
    client, server = ends(number)
    a, b, ms = number * 977, number * 991, at_us // 1000
    yield packet(at_us, client, server, a, 0, SYN, 0, ms, 0)
    yield packet(at_us + 20_000, server, client, b, a + 1, SYN | ACK, 0, ms + 20, ms)
    yield packet(at_us + 30_000, client, server, a + 1, b + 1, ACK, 0, ms + 30, ms + 20)
    yield packet(at_us + 30_100, client, server, a + 1, b + 1, ACK | PSH, 400, ms + 30, ms + 20)
    for part in range(3):
        yield packet(at_us + 60_000 + part, server, client, b + 1 + 1448 * part, a + 401, ACK, 1448, ms + 60, ms + 30)
    yield packet(at_us + 70_000, client, server, a + 401, b + 2897, ACK, 0, ms + 70, ms + 60)
    yield packet(at_us + 70_100, client, server, a + 401, b + 4345, ACK, 0, ms + 70, ms + 60)
    yield packet(at_us + 71_000, client, server, a + 401, b + 4345, ACK | FIN, 0, ms + 71, ms + 60)
    yield packet(at_us + 91_000, server, client, b + 4345, a + 402, ACK | FIN, 0, ms + 91, ms + 71)
    yield packet(at_us + 101_000, client, server, a + 402, b + 4346, ACK, 0, ms + 101, ms + 91)


def in_turns(connections):
    """One packet of each, then the next of each."""
    for packets in zip(*connections):
        yield from packets


def make_short(out):
    for turn in range(5):
        for first in range(0, 100_000, 1_000):
            at_us = (turn * 100_000 + first) * 110
            connections = [short(number, at_us) for number in range(first, first + 1_000)]
            for record in in_turns(connections):
                out.write(record)


def make_open(out):
    for record in in_turns([short(number, 0) for number in range(100_000)]):
        out.write(record)


def make_long(out):
    pairs = [ends(number) for number in range(8)]
    for client, server in pairs:
        out.write(packet(0, client, server, 0, 0, SYN, 0, 0, 0))
        out.write(packet(20_000, server, client, 0, 1, SYN | ACK, 0, 20, 0))
        out.write(packet(30_000, client, server, 1, 1, ACK, 0, 30, 20))
        out.write(packet(30_100, client, server, 1, 1, ACK, 400, 30, 20))
    for step in range(250_000):
        at_us = 60_000 + step * 200
        ms, seq = at_us // 1000, 1 + step * 2896
        for client, server in pairs:
            out.write(packet(at_us, server, client, seq, 401, ACK, 1448, ms, ms - 10))
            out.write(packet(at_us + 12, server, client, seq + 1448, 401, ACK, 1448, ms, ms - 10))
            out.write(packet(at_us + 100, client, server, 401, seq + 2896, ACK, 0, ms, ms))


def main():
    kind, path = sys.argv[1:]
    with open(path, "wb", buffering=1 << 20) as out:
        out.write(HEADER)
        {"long": make_long, "short": make_short, "open": make_open}[kind](out)


main()
