"""What the tests share."""

import struct
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from isobath.path import Stages

PATH: Stages = [
    {"kind": "rate", "rate": "10Mbit", "queue": {"kind": "fifo", "packets": 40}},
    {"kind": "delay", "delay": "10ms"},
]
BACK: Stages = [{"kind": "delay", "delay": "10ms"}]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test works in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def segment(at_us: int, ends: tuple[int, int], flags: int, seq: int, ack: int, length: int) -> bytes:
    """A TCP segment over IPv4 as a record of a pcap; `ends` are the ports of who sends and of who receives."""
    hosts = [bytes([10, 0, 0, 1 if port == 80 else 2]) for port in ends]
    tcp = struct.pack("!HHIIBBHHH", *ends, seq, ack, 5 << 4, flags, 65_535, 0, 0) + bytes(length)
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(tcp), 0, 0, 64, 6, 0, *hosts)
    packet = ip + tcp
    return struct.pack("<IIII", at_us // 10**6, at_us % 10**6, len(packet), len(packet)) + packet


def conversation(port: int, start_us: int, request: int, response: int) -> Iterator[bytes]:
    """A connection in which one end asks and the other answers."""
    out, back = (port, 80), (80, port)
    syn, ack, fin, push = 2, 16, 1, 8
    yield segment(start_us, out, syn, 1_000, 0, 0)
    yield segment(start_us + 100, back, syn | ack, 5_000, 1_001, 0)
    yield segment(start_us + 20_000, out, ack, 1_001, 5_001, 0)
    yield segment(start_us + 20_100, out, ack | push, 1_001, 5_001, request)
    yield segment(start_us + 21_000, back, ack | push, 5_001, 1_001 + request, response)
    yield segment(start_us + 41_000, out, ack, 1_001 + request, 5_001 + response, 0)
    yield segment(start_us + 42_000, out, ack | fin, 1_001 + request, 5_001 + response, 0)
    yield segment(start_us + 43_000, back, ack | fin, 5_001 + response, 1_002 + request, 0)
    yield segment(start_us + 63_000, out, ack, 1_002 + request, 5_002 + response, 0)


def write_capture(path: Path, sizes: list[tuple[int, int]]) -> Path:
    """A capture of one connection after the other, with requests and responses of these octets."""
    head = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 101)
    records = [b"".join(conversation(40_000 + at, 10**6 * at, *size)) for at, size in enumerate(sizes)]
    path.write_bytes(head + b"".join(records))
    return path


@pytest.fixture
def capture() -> Callable[[Path, list[tuple[int, int]]], Path]:
    """Writes captures."""
    return write_capture
