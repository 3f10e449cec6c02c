"""One-way delay between two sockets of this machine, by the kernel's stamps on both sides.

    one-way.py receive PORT FILE              until no datagram has come for a second, after the first
    one-way.py send HOST PORT GAP_MS COUNT FILE

Each writes the stamp (nanoseconds, wall clock) of every datagram by its number, as one JSON object.
"""

import json
import socket
import struct
import sys
import time

SO_TIMESTAMPING = 37
TX_SOFTWARE, RX_SOFTWARE, SOFTWARE, OPT_ID, OPT_TSONLY = 1 << 1, 1 << 3, 1 << 4, 1 << 7, 1 << 11


def stamp(ancillary):
    """Nanoseconds of the software stamp, and the number of the datagram it is of, if told."""
    when = number = None
    for level, kind, data in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, SO_TIMESTAMPING):
            seconds, nanoseconds = struct.unpack_from("qq", data)
            when = seconds * 10**9 + nanoseconds
        elif len(data) >= 16:  # struct sock_extended_err; its last field is the number
            number = struct.unpack_from("IBBBBII", data)[6]
    return when, number


def receive(port, file):
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPING, RX_SOFTWARE | SOFTWARE)
    sock.bind(("", port))
    stamps = {}
    while True:
        sock.settimeout(1 if stamps else 20)
        try:
            data, ancillary, _, _ = sock.recvmsg(64, 256)
        except TimeoutError:
            break
        stamps[struct.unpack("!Q", data)[0]] = stamp(ancillary)[0]
    json.dump(stamps, open(file, "w"))


def send(host, port, gap, count, file):
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPING, TX_SOFTWARE | SOFTWARE | OPT_ID | OPT_TSONLY)
    sock.connect((host, port))
    stamps = {}

    def collect():
        while True:
            try:
                _, ancillary, _, _ = sock.recvmsg(64, 256, socket.MSG_ERRQUEUE)
            except BlockingIOError:
                return
            when, number = stamp(ancillary)
            stamps[number] = when

    start = time.monotonic()
    for number in range(count):
        time.sleep(max(0, start + number * gap - time.monotonic()))
        sock.send(struct.pack("!Q", number))
        collect()
    time.sleep(0.1)
    collect()
    json.dump(stamps, open(file, "w"))


if sys.argv[1:2] == ["receive"]:
    receive(int(sys.argv[2]), sys.argv[3])
elif sys.argv[1:2] == ["send"]:
    send(sys.argv[2], int(sys.argv[3]), float(sys.argv[4]) / 1e3, int(sys.argv[5]), sys.argv[6])
else:
    sys.exit(__doc__)
