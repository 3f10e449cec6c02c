"""Makes the captures in this folder: one conversation of TCP, in each encapsulation.

With scapy 2.8.0 from PyPI: `python3 make.py`. The conversation is always the same: handshake, a request of 100 octets, a
response of 500 and 700, FINs; six of its ten segments have no data. Frames that no layer of scapy makes (NFLOG, the
pseudowire's control word, a first fragment) are put together by hand.
"""

import struct

from scapy.all import (
    GRE, IP, IPv6, LLC, PPP, SNAP, TCP, UDP, ARP, CookedLinux, CookedLinuxV2, Dot1AD, Dot1AH, Dot1Q, Dot3, Ether,
    HDLC, PPPoE, Raw, wrpcap,
)
from scapy.contrib.etherip import EtherIP
from scapy.contrib.geneve import GENEVE, GeneveOptions
from scapy.contrib.gtp import GTPHeader, GTPPDUSessionContainer, GTP_U_Header
from scapy.contrib.mpls import MPLS
from scapy.layers.vxlan import VXLAN

MACS = {True: ("02:00:00:00:00:01", "02:00:00:00:00:02"), False: ("02:00:00:00:00:02", "02:00:00:00:00:01")}


def talk():
    """(whether the client sends it, its segment)"""
    a, b = 1000, 2000
    steps = [
        (True, "S", a, 0, 0), (False, "SA", b, a + 1, 0), (True, "A", a + 1, b + 1, 0),
        (True, "PA", a + 1, b + 1, 100), (False, "A", b + 1, a + 101, 500), (False, "PA", b + 501, a + 101, 700),
        (True, "A", a + 101, b + 1201, 0), (True, "FA", a + 101, b + 1201, 0), (False, "FA", b + 1201, a + 102, 0),
        (True, "A", a + 102, b + 1202, 0),
    ]
    for up, flags, seq, ack, size in steps:
        ports = dict(sport=40000, dport=80) if up else dict(sport=80, dport=40000)
        yield up, TCP(flags=flags, seq=seq, ack=ack, **ports) / Raw(bytes(size))


def v4(up, segment):
    ends = ("10.1.0.1", "10.2.0.1") if up else ("10.2.0.1", "10.1.0.1")
    return IP(src=ends[0], dst=ends[1]) / segment


def v6(up, segment):
    ends = ("fd01::1", "fd02::1") if up else ("fd02::1", "fd01::1")
    return IPv6(src=ends[0], dst=ends[1]) / segment


def ether(up, **more):
    ends = MACS[up]
    return Ether(src=ends[0], dst=ends[1], **more)


def outer(up):
    ends = ("192.0.2.1", "192.0.2.2") if up else ("192.0.2.2", "192.0.2.1")
    return ether(up) / IP(src=ends[0], dst=ends[1])


def outer6(up):
    ends = ("2001:db8::1", "2001:db8::2") if up else ("2001:db8::2", "2001:db8::1")
    return ether(up) / IPv6(src=ends[0], dst=ends[1])


def bridged(up, packet):
    """A whole frame within."""
    return ether(up) / packet


def nflog(up, packet, order):
    def attribute(kind, value):
        padding = bytes(-len(value) % 4)
        return struct.pack(order + "HH", len(value) + 4, kind) + value + padding

    inner = bytes(packet)
    family = 2 if inner[0] >> 4 == 4 else 10
    return Raw(
        struct.pack(">BBH", family, 0, 5)
        + attribute(1, struct.pack(">HBB", 0x0800, 0, 0))
        + attribute(10, b"a prefix\0")
        + attribute(9, inner)
    )


CONTROL_WORD = Raw(bytes(4))
UDP_PORT = dict(sport=50000)


def gtp(up, packet, **more):
    return outer(up) / UDP(sport=2152, dport=2152) / GTP_U_Header(teid=7, **more) / packet


KINDS = {
    "vlan": lambda up, p: ether(up) / Dot1Q(vlan=5) / p,
    "qinq": lambda up, p: ether(up) / Dot1AD(vlan=5) / Dot1Q(vlan=6) / p,
    "pbb": lambda up, p: ether(up) / Dot1AD(vlan=5) / Dot1AH(isid=77) / bridged(up, p),
    "pbb_vlan": lambda up, p: ether(up) / Dot1AH(isid=77) / ether(up) / Dot1Q(vlan=9) / p,
    "snap": lambda up, p: Dot3(src=MACS[up][0], dst=MACS[up][1]) / LLC(dsap=0xAA, ssap=0xAA, ctrl=3) / SNAP() / p,
    "llc_ip": lambda up, p: Dot3(src=MACS[up][0], dst=MACS[up][1]) / LLC(dsap=6, ssap=6, ctrl=3) / Raw(bytes(p)),
    "pppoe": lambda up, p: ether(up) / PPPoE(sessionid=3) / PPP() / p,
    "vlan_pppoe": lambda up, p: ether(up) / Dot1Q(vlan=7) / PPPoE(sessionid=3) / PPP() / p,
    "mpls": lambda up, p: ether(up) / MPLS(label=16, s=1) / p,
    "mpls_stack": lambda up, p: ether(up) / MPLS(label=16, s=0) / MPLS(label=17, s=0) / MPLS(label=18, s=1) / p,
    "mpls_ethernet": lambda up, p: ether(up) / MPLS(label=16, s=1) / CONTROL_WORD / Raw(bytes(bridged(up, p))),
    "gre": lambda up, p: outer(up) / GRE() / p,
    "gre_all": lambda up, p: outer(up) / GRE(chksum_present=1, key_present=1, key=9, seqnum_present=1) / p,
    "gre_ethernet": lambda up, p: outer(up) / GRE(proto=0x6558, key_present=1, key=9) / bridged(up, p),
    "gre_mpls": lambda up, p: outer(up) / GRE(proto=0x8847) / MPLS(label=16, s=1) / p,
    "gre_v6": lambda up, p: outer6(up) / GRE() / p,
    "ip_in_ip": lambda up, p: outer(up) / p,
    "ip_in_v6": lambda up, p: outer6(up) / p,
    "etherip": lambda up, p: outer(up) / EtherIP() / bridged(up, p),
    "vxlan": lambda up, p: outer(up) / UDP(dport=4789, **UDP_PORT) / VXLAN(flags=8, vni=42) / bridged(up, p),
    "vxlan_linux": lambda up, p: outer(up) / UDP(dport=8472, **UDP_PORT) / VXLAN(flags=8, vni=42) / bridged(up, p),
    "geneve": lambda up, p: outer(up) / UDP(dport=6081, **UDP_PORT) / GENEVE(vni=42) / bridged(up, p),
    "geneve_options": lambda up, p: outer(up) / UDP(dport=6081, **UDP_PORT)
    / GENEVE(vni=42, options=[GeneveOptions(classid=0x102, type=0x80, data=b"abcdefgh")]) / bridged(up, p),
    "gtp": lambda up, p: gtp(up, p),
    "gtp_sequence": lambda up, p: gtp(up, p, S=1, seq=5),
    "gtp_5g": lambda up, p: gtp(up, GTPPDUSessionContainer(type=1 if up else 0, QFI=9) / p, E=1, next_ex=0x85),
    "deep": lambda up, p: outer(up) / UDP(dport=4789, **UDP_PORT) / VXLAN(flags=8, vni=42) / ether(up) / Dot1Q(vlan=3)
    / IP(src="198.51.100.1", dst="198.51.100.2") / GRE() / IP(src="198.51.100.3", dst="198.51.100.4") / p,
}
LINKS = {
    "nflog": (239, lambda up, p: nflog(up, p, "<")),
    "nflog_big_endian": (239, lambda up, p: nflog(up, p, ">")),
    "ppp": (9, lambda up, p: HDLC() / PPP() / p),
    "cisco_hdlc": (104, lambda up, p: Raw(struct.pack(">BBH", 0x0F, 0, 0x0800)) / p),
    "llc_snap_atm": (100, lambda up, p: LLC(dsap=0xAA, ssap=0xAA, ctrl=3) / SNAP() / p),
    "sll_pppoe": (113, lambda up, p: CookedLinux(proto=0x8864) / PPPoE(sessionid=3) / PPP() / p),
    "sll2_mpls": (276, lambda up, p: CookedLinuxV2(proto=0x8847) / MPLS(label=16, s=1) / p),
}
# Within these the conversation is one of IPv6.
SIX = {"vlan_pppoe", "gre_v6", "gtp_sequence", "mpls_stack"}

for name, kind in KINDS.items():
    LINKS[name] = (1, kind)
for name, (link, kind) in LINKS.items():
    packets = []
    for number, (up, segment) in enumerate(talk()):
        packet = kind(up, (v6 if name in SIX else v4)(up, segment))
        packet.time = 1_700_000_000 + number / 100
        packets.append(packet)
    # NFLOG has the order of octets of the machine, which is that of its file.
    wrpcap(f"{name}.pcap", packets, linktype=link, endianness=">" if name == "nflog_big_endian" else "<")

# What is not read: MACsec, ESP, ARP, a GTP echo, GRE with CDP, one of a bridge's own.
others = [
    ether(True, type=0x88E5) / Raw(bytes(40)),
    ether(True, type=0x88E5) / Raw(bytes(40)),
    outer(True) / Raw(bytes(40)),
    ether(True) / ARP(),
    outer(True) / UDP(sport=2152, dport=2152) / GTPHeader(gtp_type=1) / Raw(bytes(4)),
    outer(True) / GRE(proto=0x2000) / Raw(bytes(40)),
    Dot3(src=MACS[True][0], dst="01:80:c2:00:00:00") / LLC(dsap=0x42, ssap=0x42, ctrl=3) / Raw(bytes(35)),
]
others[2][IP].proto = 50
for number, packet in enumerate(others):
    packet.time = 1_700_000_000 + number / 100
wrpcap("not_read.pcap", others, linktype=1)
