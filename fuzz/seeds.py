#!/usr/bin/env python3
"""Writes the seeds of the corpus: inputs as real ones are, by hand (datagrams, control lines) or from this repository (captures, TOML).

    fuzz/seeds.py          writes corpus/TARGET/seed-*; what runs have found beside them stays
"""

import gzip
import io
import json
import struct
import tarfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
# Files longer than this are cut: a fuzzer is quick with short ones.
LONGEST = 12_000


def put(target, name, octets):
    folder = HERE / "corpus" / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"seed-{name}").write_bytes(octets if isinstance(octets, bytes) else octets.encode())


def files(target, pattern, longest=LONGEST):
    for path in sorted(ROOT.glob(pattern)):
        put(target, path.name, path.read_bytes()[:longest])


def head(kind, flags, blocks, stream, length, number, session=1):
    """The first 24 octets of a datagram of the data plane, and a tag of zeros (docs/protocol.md)."""
    return struct.pack(">4sBBBBHHIQ8x", b"ISOB", 1, kind, flags, blocks, stream, length, number, session)


def probe(kind, octets):
    return head(kind, 0xB8, 0, 1, 0, 7) + struct.pack(">QQQ", 1, 2, 3) + bytes(octets - 56)


def segment(number, flags=0, length=24, kind=4):
    """As long as the TCP segment that it stands for, but never shorter than its header."""
    header = head(kind, flags, 0, 1, length, number) + struct.pack(">QQ", 5, number)
    return header + bytes(max(0, length + 24 - 48))


def ack(number, blocks=(), ece=0):
    tail = b"".join(struct.pack(">II", *block) for block in blocks)
    return head(5, ece, len(blocks), 1, 0, number) + struct.pack(">QQQII", 5, number, number, 1000, 1000) + tail


def receiver(window, every, numbers):
    """Rules, then segments of one length with a wait before each."""
    rules = struct.pack(">IB3s", window, every, b"\0\0\0")
    return rules + b"".join(bytes([wait]) + segment(number & 0xFFFFFFFF) for wait, number in numbers)


def line(**fields):
    return json.dumps(fields, separators=(",", ":"))


def datagrams():
    for kind, octets in ((1, 64), (2, 64), (3, 92), (1, 1472)):
        put("datagram", f"{kind}-{octets}", probe(kind, octets))
    put("preamble", "source", struct.pack(">4sBBHQQ8x", b"ISOB", 1, 1, 3, 1, 0))
    for name, octets in (("data", segment(7, length=1448)), ("last", segment(8, flags=1)), ("probe", segment(9, length=0, kind=6)),
                         ("ack", ack(7)), ("sack", ack(7, [(9, 12), (20, 21)], ece=1)), ("four", ack(1, [(3, 4), (5, 6), (7, 8), (9, 10)]))):
        put("segment", name, octets)


def receivers():
    in_order = [(1, number) for number in range(12)]
    put("receiver", "in-order", receiver(1 << 20, 2, in_order))
    put("receiver", "gaps", receiver(1 << 20, 2, [(1, 0), (1, 2), (1, 5), (9, 1), (1, 3), (1, 3)]))
    put("receiver", "small-window", receiver(3, 1, in_order))
    # A number as far ahead as the largest windows let it be: what is kept must not grow with the number.
    for window in (300_000_001, 0x7FFFFFFF, 0xFFFFFFFF):
        put("receiver", f"far-ahead-{window:x}", receiver(window, 2, [(1, 0), (1, min(window - 1, 0x7FFFFFFE)), (1, 1)]))
    put("receiver", "wrapped", receiver(1 << 20, 2, [(1, 0), (1, 0xFFFFFFFF), (1, 0x80000000)]))


def overlays():
    def packet(units, channel=1, padding=0, flags=None):
        count = len(units) | (4 if padding else 0) if flags is None else flags
        tuns = [kind << 14 | len(octets) for kind, octets in units] + [0, 0]
        stamp = (1234567).to_bytes(6, "big")
        return struct.pack(">I6sBBHH", 5, stamp, count, channel, *tuns[:2]) + b"".join(octets for _, octets in units) + bytes(padding)

    ip = bytes.fromhex("4500002000010000401100000a4d00010a4d0002") + struct.pack(">HHHH", 1, 2, 12, 0) + b"data"
    pieces = [struct.pack(">IHBB", 7, at, last, 17) + ip[at:at + 16] for at, last in ((0, 0), (16, 1))]
    packets = [packet([(1, b"probe")], padding=40), packet([(2, ip)]), packet([(1, b"probe"), (2, ip)]),
               packet([(1, b"x"), (3, pieces[1])], padding=3), packet([(3, pieces[0])])]
    put("mgrp", "all", b"".join(struct.pack(">H", len(one)) + one for one in packets))
    for number, one in enumerate(packets):
        put("mgrp", str(number), struct.pack(">H", len(one)) + one)
    to = bytes(10) + b"\xff\xff\x0a\x4d\x00\x02"
    probes = b"".join(struct.pack(">HHB3xQ", octets, 4, 1, 1000) + b"tool" for octets in (200, 1500))
    begin = b"\1\0\0\0" + struct.pack(">I", 1) + to + b"\1\0\0\0" + struct.pack(">I", 2) + probes
    listen, cancel = b"\3\0\0\0\1\0\0\0", b"\2\0\0\0" + struct.pack(">I", 1)
    framed = [struct.pack(">I", len(one)) + one for one in (listen, begin, cancel)]
    put("mgrp_message", "tool", b"\xff" + b"".join(framed))
    put("mgrp_message", "piecemeal", b"\3" + b"".join(framed))
    enveloped = [struct.pack(">QQ", 0, 0) + one for one in packets]
    turns = [(1, framed[1]), (0, ip), (0, ip)] + [(2, one) for one in enveloped] + [(0, b"\x05\x00")]
    put("mgrp_peer", "train", b"".join(struct.pack(">H", kind << 14 | len(octets)) + octets for kind, octets in turns))
    put("tun_read", "udp", bytes(10) + ip)
    v6 = bytes.fromhex("600000000014067f") + bytes(16) + bytes(15) + b"\1" + struct.pack(">HHIIBBHHH", 1, 2, 3, 4, 0x50, 0x18, 5, 0, 0)
    # virtio_net_hdr: to be checksummed, TCP over IPv6 in pieces of 100 octets.
    put("tun_read", "tcp6-burst", struct.pack("<BBHHHH", 1, 4, 60, 100, 40, 16) + v6 + bytes(450))


# Of a server that has never been.
KEY = "iso1-qozk4rnyr5kxasa5rccel5mw4tf65zj5ce6slxuftwuwyqyaqdulczen4jyykjweqeg3xqxjh2hcar32"


def control():
    hello = line(protocol=[1, 1], version="0.1.0")
    proof = line(protocol=[1, 1], version="0.1.0", proof={"nonce": "A" * 43, "mac": "A" * 43})
    refusal = line(refused={"code": "busy", "message": "16 sessions at once"})
    for name, text in (("hello", hello), ("proof", proof), ("refusal", refusal), ("two", hello + "\n" + refusal)):
        put("control_line", name, b"\x0f" + text.encode() + b"\n")
    role = {"echo": {"size": 64}}
    streams = [{"id": 22, "role": role, "class": "EF", "cc": None, "start": "0s", "stop": "78s"},
               {"id": 1, "role": "sink", "class": "CS1", "cc": "cubic", "start": "13s", "stop": "73s"}]
    put("far_setup", "rrul", line(origin_ns=5, total="78s", streams=streams))
    options = {"receive_window": 2147483648}
    transfer = {"id": 0, "tool": "udp", "sends": True, "options": options, "limit": {"time": "10s"}, "class": "CS0", "patience": "10s"}
    put("far_setup", "btc", line(round=[transfer]))
    put("far_setup", "replay", line(connections=2, adus=4, open=2, duration_ns=10**9, congestion_control="cubic"))
    put("far_setup", "cast", line(cast=[{"sequential": [65535, 65535]}, {"adu": [False, 400, 0]}, {"concurrent": [[1, 1], [None, 5]]}]))
    put("access_key", "key", KEY)
    put("access_key", "spaced", f" {KEY[:20].upper()} {KEY[20:]}\n")
    put("access_key", "short", KEY[:-1])


def far_ends():
    """Which protocol (stamp, irtt, ntp, dns, dot, doh, h3, icmp), how long requests are, and a datagram."""
    head = struct.pack(">IQHH", 3, 0xEB000000 << 32, 0x1801, 7)
    reply = head + struct.pack(">QIQHBxB3x", 0xEB000000 << 32, 3, 0xEB000000 << 32, 0x1801, 0, 64)
    put("far_end", "stamp", b"\0\x40" + reply[:44])
    tlvs = bytes([0x80, 4, 0, 4, 184, 0, 0, 0, 0x80, 1, 0, 3, 0, 0, 0])
    put("far_end", "stamp_tlvs", b"\0\x40" + head.ljust(44, b"\0") + tlvs)
    opened = b"\x14\xa7\x5b\3" + struct.pack("<Q", 7) + bytes([1, 2, 4, 0xd8, 2, 5, 2, 6, 6, 7, 2])
    put("far_end", "irtt_open", b"\1\x40" + opened)
    put("far_end", "irtt_reply", b"\1\x40" + b"\x14\xa7\x5b\2" + struct.pack("<QIIQQ", 7, 3, 4, 5, 6))
    put("far_end", "ntp", b"\2\x40" + bytes([0x24, 2, 6, 0xE9]) + bytes(20) + struct.pack(">QQQ", 7 ^ 3, 1 << 60, 1 << 60))
    put("far_end", "dns", b"\3\x40" + struct.pack(">HHHHHH", 7 ^ 3, 0x8180, 1, 0, 0, 0) + b"\0\0\2\0\1")
    put("far_end", "h3", b"\6\x40\xc0" + struct.pack(">IBQBQI", 0, 8, (7 << 32) ^ 3, 8, 7, 1))
    put("far_end", "icmp", b"\7\x41" + struct.pack(">BBHHHQ", 0, 0, 0, 0, 3, 7))


def iperf3():
    """Whose words (a server's, a client's, a datagram), and the words."""
    framed = lambda value: struct.pack(">I", len(json.dumps(value))) + json.dumps(value).encode()
    stream = dict(id=1, bytes=1 << 20, retransmits=2, jitter=0.001, errors=1, packets=9, start_time=0, end_time=1.5)
    results = framed(dict(cpu_util_total=1.5, cpu_util_user=1, cpu_util_system=0.5, sender_has_retransmits=1, streams=[stream, dict(stream, id=3)]))
    put("iperf3", "server", b"\0" + bytes([9, 10, 1, 2, 13]) + results + bytes([14]))
    put("iperf3", "busy", b"\0\xff")
    put("iperf3", "error", b"\0\x09\xfe" + struct.pack(">II", 134, 2))
    params = framed(dict(tcp=True, omit=1, time=10, num=0, blockcount=0, parallel=2, reverse=True, len=131072, bandwidth=1e11, TOS=32))
    put("iperf3", "client", b"\1" + b"a" * 36 + b"\0" + params + bytes([4]) + results + bytes([16]))
    udp = framed(dict(udp=True, omit=0, time=1, parallel=1, bidirectional=True, len=1448, bandwidth=1048576, udp_counters_64bit=1))
    put("iperf3", "udp", b"\1" + b"a" * 36 + b"\0" + udp + bytes([12]))
    put("iperf3", "datagram", b"\2" + struct.pack(">III", 7, 999_999, 3))
    put("iperf3", "datagram_64", b"\x80" + struct.pack(">IIQ", 7, 1_000_001, 1 << 40))


def configurations():
    urls = lambda host, older="": {f"small{older}_download_url": f"https://{host}/s", f"large{older}_download_url": f"https://{host}/l?x=1",
                                   f"{older[1:] + '_' if older else ''}upload_url": f"https://{host}/u"}
    put("nq", "plain", json.dumps(dict(version=1, urls=urls("h.example:4043"))))
    put("nq", "endpoint", json.dumps(dict(version=1, urls=urls("[2001:db8::1]:443"), test_endpoint="near.example:8443")))
    put("nq", "older", json.dumps(dict(version=1, urls=urls("h.example", "_https"))))
    put("nq", "other_version", json.dumps(dict(version=2, urls=urls("h.example"))))


def capacities():
    setup = struct.pack(">HHBBHBBHHBB", 0xACE1, 20, 0, 1, 7, 1, 0, 0x8000 | 100, 0, 1, 1) + struct.pack(">I32sBBH", 1764190000, b"d" * 32, 0, 0, 0)
    rate = struct.pack(">7I", 100, 1222, 1, 1000, 1222, 3, 847)
    terms = struct.pack(">HHBBHHHHBBHBBHHBBBB", 0xACE2, 20, 1, 1, 30, 90, 50, 10, 0, 0, 0xFFFF, 0, 10, 3, 10, 1, 2, 1, 0)
    activation = terms + rate + struct.pack(">HHHBB", 1000, 0, 0, 0, 1) + bytes(40)
    load = lambda number, answers: struct.pack(">HBBIHHIIIIHH", 0xBEEF, 0, 0, number, 1222, 0, answers, 5, 1764190000, number * 1000, 3, 0)
    sub_interval = struct.pack(">IQ11I", 100, 122200, 1000000, 1, 2, 3, 0, 9, 99, 100, 0, 9, 1000)
    status = struct.pack(">HBBI", 0xFEED, 0, 1, 3) + rate + struct.pack(">I", 1) + sub_interval
    status += struct.pack(">3I5I2IBBH3III", 1, 0, 0, 7, 0, 9, 90, 10, 24, 5, 1, 0, 0, 50000, 10, 12220, 1764190000, 7) + bytes(44)
    framed = lambda *pdus: b"".join(bytes([len(pdu)]) + pdu for pdu in pdus)
    put("udpst", "setup", b"\0" + setup)
    put("udpst", "response", b"\0" + setup[:8] + b"\2\1" + setup[10:])
    put("udpst", "activation", b"\0" + activation)
    put("udpst", "null", b"\0" + struct.pack(">HHB", 0xDEAD, 20, 1) + bytes(43))
    put("udpst", "load", b"\1" + framed(load(1, 0), load(2, 0), load(5, 1764190000), load(4, 1764190000), load(5, 1764190001)))
    put("udpst", "feedback", b"\1" + framed(load(1, 0), status, load(2, 1764190000)))


def measurements():
    tcp = dict(ElapsedTime=1_000_000, BytesAcked=1 << 40, RTT=25_000, MinRTT=24_000, RTTVar=12, BusyTime=9, TotalRetrans=3, SndCwnd=99)
    ends = dict(Client="192.0.2.1:4000", Server="[2001:db8::1]:443", UUID="x")
    put("ndt7", "nothing", "{}")
    put("ndt7", "counted", json.dumps(dict(AppInfo=dict(ElapsedTime=1, NumBytes=1 << 33), Origin="client", Test="upload")))
    put("ndt7", "whole", json.dumps(dict(AppInfo=dict(ElapsedTime=1), ConnectionInfo=ends, Origin="server", Test="download", TCPInfo=tcp)))


def browsers():
    """What a page has found in a run of 17 s: streams 0, 2, 4, 6 come from the server, the others go there."""
    samples = [[at, 24.5 + at % 7, 1000 + at] for at in range(0, 17_000, 400)] + [[17_000, None, None]]
    down = [dict(stream=stream, opened=3900.5 + stream, bins=[0] * 40 + [62_500] * 40) for stream in (0, 2, 4, 6)]
    found = dict(agent="Browser/1", hidden=False, samples=samples, down=down, up=[[stream, 3950] for stream in (1, 3, 5, 7)], failures=[])
    put("browser", "whole", line(**found))
    put("browser", "nothing", line(**dict(found, samples=[], down=[], up=[])))
    call = {"sent": [0.1, 20.2, None, 60.1], "heard": [[0, 12.5], [3, 75]]}
    put("browser", "call", line(**dict(found, call=call)))
    objects = [dict(object=0, found=0, connect=21.4, wait=50.9, receive=25.8, total=105.1, bytes=18_000, status=200)]
    objects += [dict(object=5, found=93.5, blocked=14.4, tls=0.1, wait=29.2, receive=0, total=47.8, bytes=28_000)]
    loaded = dict(started=4002.15, first_byte=79.3, loaded=280.3, error=None, spent=280.3, objects=objects)
    pages = [loaded, dict(started=17_000, spent=900, objects=objects[:1]), dict(started=18_000, spent=5, error="no page", objects=[])]
    put("browser", "pages", line(**dict(found, pages=pages)))
    put("browser", "failed", line(**dict(found, hidden=True, down=down[:1], failures=["stream 2: closed"])))
    put("browser", "clocks", line(**dict(found, samples=[[0.5, 20.25, -30_000.5], [40.125, 1e-9, 1e4], [80, None, None]])))


def names():
    label = lambda text: bytes([len(text)]) + text.encode()
    name = label("www") + label("0000000000000002") + label("isobath") + label("test") + b"\0"
    for kind, number in (("a", 1), ("aaaa", 28)):
        question = name + struct.pack(">HH", number, 1)
        put("dns_answer", kind, struct.pack(">HHHHHH", 7, 0x0100, 1, 0, 0, 0) + question)
        octets = bytes([10, 0, 0, 1]) if number == 1 else bytes(16)
        answer = b"\xc0\x0c" + struct.pack(">HHIH", number, 1, 0, len(octets)) + octets
        put("dns_reply", kind, struct.pack(">HHHHHH", 7, 0x8180, 1, 1, 0, 0) + question + answer)
    opt = b"\0" + struct.pack(">HHIH", 41, 1232, 0, 0)
    put("dns_answer", "edns", struct.pack(">HHHHHH", 7, 0x0100, 1, 0, 0, 1) + name + struct.pack(">HH", 1, 1) + opt)
    put("dns_reply", "refused", struct.pack(">HHHHHH", 7, 0x8183, 1, 0, 0, 0) + name + struct.pack(">HH", 1, 1))
    put("socks", "greeting", b"\5\2\0\2")
    put("socks", "name", b"\5\1\0\3\x0bexample.com\x01\xbb")
    put("socks", "v4", b"\5\1\0\1\x7f\0\0\1\0\x50")
    put("socks", "v6", b"\5\1\0\4" + bytes(15) + b"\1\0\x50")


CVEC_HEAD = "w 65535 65535\nr 20000\nl 0.000000 0.010000\nm 1460 1380\n"
CVEC = {
    "sequential": "SEQ 5 2 1 1\n" + CVEC_HEAD + "> 253\nt 123693\n< 510\nt 6308497\n> 9\n< 7\nt 0\n",
    "concurrent": "# two sides\n\nCONC 5 2 1 7 7\n" + CVEC_HEAD + "c> 169\nt> 2740219\nc< 219\nc> 4\nt< 2085676\n",
    "alternate": "S 5 1 1 1\n" + CVEC_HEAD + "I 0 0 253\nA 0 123693 510\nA 6308497 0 0\nC 9 1 1 2 2\n" + CVEC_HEAD + "I 0 0 1\nA 0 0 1\n",
}


def texts():
    files("topology", "labs/*.toml")
    files("target", "targets/*.toml")
    files("fit", "mixes/*.toml")
    files("fleet_file", "examples/fleet/*.toml")
    fleet = "name = 'f'\nseed = 3\n" + "".join(f"[[host]]\nname = 'h{n}'\ndaily = '1GB'\n" for n in range(3)) + "[[link]]\nname = 'l'\nbehind = ['h0']\n"
    for name, pairs in (("mesh", "{ mesh = ['all'] }"), ("star", "{ star = { centre = 'h0', hosts = ['h1'] } }"), ("random", "{ random = ['all'] }")):
        measure = f"[[measure]]\nname = 'm'\nrun = 'btc'\ntakes = '20s'\npoisson = '30min'\noctets = '50MB'\npairs = {pairs}\n"
        put("fleet_file", name, fleet + measure)
    put("fleet_file", "cron", fleet + measure.replace("poisson = '30min'", "cron = '*/10 8-17 15W,3 FEB MON#2'"))
    files("page_model", "pages/*.toml")
    files("trace", "labs/traces/*.trace", 2_000)
    put("trace", "mahimahi", "0\n5\n5\n12\n20\n")
    for name, text in CVEC.items():
        put("cvec", name, text)
    put("flent_import", "minimal", line(version=4, metadata={"NAME": "ping", "TOTAL_LENGTH": 3}, x_values=[0, 1, 2], results={"Ping": [1, None, 2]}, raw_values={}))
    for path in sorted(ROOT.glob("crates/flent/tests/data/ping.flent.gz")):
        put("flent_import", path.name, path.read_bytes()[:20_000])
        put("flent_import", path.stem, gzip.decompress(path.read_bytes())[:LONGEST])


def twamps():
    """What a server says to a client, and a client to a server, behind the octet that cuts it (RFC 5357 section 3)."""
    greeting = bytes(12) + struct.pack(">I", 1) + bytes(32) + struct.pack(">I", 1024) + bytes(12)
    accept = struct.pack(">BBH", 0, 0, 862) + bytes(44)
    put("twamp", "server", bytes([64]) + greeting + bytes(48) + accept + bytes(32))
    request = struct.pack(">BBBBIIHH", 5, 4, 0, 0, 0, 0, 50_000, 862) + bytes(48) + struct.pack(">I", 158) + bytes(44)
    start, stop = bytes([2]) + bytes(31), bytes([3, 0, 0, 0, 0, 0, 0, 1]) + bytes(24)
    put("twamp", "client", bytes([164]) + struct.pack(">I", 1) + bytes(160) + request + start + stop)
    put("twamp", "elsewhere", bytes([164]) + struct.pack(">I", 1) + bytes(160) + request[:16] + bytes([198, 51, 100, 1]) + request[20:] + start)


def bundles():
    run = {"schema": "isobath.run/1", "test": "rrul", "started": "2026-11-28T09:00:00Z"}
    for name, files in (
        ("record", [("page/run.json", line(**run)), ("page/samples.arrows", "")]),
        ("other", [("page/run.json", "{}"), ("page/notes.txt", "x")]),
        ("outside", [("../../run.json", line(**run))]),
    ):
        archive = io.BytesIO()
        with tarfile.open(fileobj=archive, mode="w", format=tarfile.USTAR_FORMAT) as tar:
            for path, text in files:
                about = tarfile.TarInfo(path)
                about.size = len(text)
                tar.addfile(about, io.BytesIO(text.encode()))
        put("bundle", name, archive.getvalue()[:3_072])


def main():
    datagrams()
    receivers()
    overlays()
    control()
    far_ends()
    iperf3()
    configurations()
    measurements()
    capacities()
    browsers()
    bundles()
    twamps()
    names()
    texts()
    for target in ("capture", "extract"):
        files(target, "crates/capture/tests/encapsulations/*.pcap", 3_000)


if __name__ == "__main__":
    main()
