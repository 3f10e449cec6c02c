#!/usr/bin/env python3
"""Sends trains to a peer of a manager, and prints how each left and what rode on it (docs/mgrp.md, docs/manager.md).

    probe_client.py 10.99.0.2 --trains 50            probe_client.py 10.99.0.2 --listen
"""
import argparse, json, socket, struct, time

BEGIN, LISTEN, REFUSED, OUTCOME = 1, 3, 17, 18
options = argparse.ArgumentParser()
options.add_argument("peer", help="an overlay address of the peer")
options.add_argument("--socket", default="/run/isobath/manager.sock")
options.add_argument("--listen", action="store_true", help="send nothing; print what comes")
for name, value in dict(trains=50, probes=20, octets=500, gap_us=1000, rest_ms=20, channel=1).items():
    options.add_argument("--" + name.replace("_", "-"), type=int, default=value)
args = options.parse_args()

manager = socket.socket(socket.AF_UNIX)
manager.connect(args.socket)


def say(kind, body):
    message = struct.pack("!B3x", kind) + body
    manager.sendall(struct.pack("!I", len(message)) + message)


def hear():
    length = manager.recv(4, socket.MSG_WAITALL)
    if len(length) < 4:
        raise SystemExit("the manager is gone")
    message = manager.recv(struct.unpack("!I", length)[0], socket.MSG_WAITALL)
    return message[0], message[4:]


def train(number):
    to = socket.inet_pton(socket.AF_INET6, args.peer if ":" in args.peer else "::ffff:" + args.peer)
    probes = (struct.pack("!HHB3xQI", args.octets, 4, 1, 1000 * args.gap_us, place) for place in range(args.probes))
    say(BEGIN, struct.pack("!I16sB3xI", number, to, args.channel, args.probes) + b"".join(probes))
    while True:
        kind, body = hear()
        if kind == REFUSED:
            return {"train": number, "refused": body[4]}
        if kind == OUTCOME:
            called_off, _, lasted, planned, *rode = struct.unpack_from("!B3xQQQQQQQ", body, 4)
            gaps = list(struct.iter_unpack("!QQ", body[96:]))
            worst = max(abs(actual - wanted) for wanted, actual in gaps) if gaps else 0
            return {"train": number, "called_off": called_off, "lasted_us": lasted / 1e3, "planned_us": planned / 1e3,
                    "worst_gap_error_us": worst / 1e3, "riders": rode[0], "octets": rode[1], "competing": rode[2]}


if args.listen:
    say(LISTEN, struct.pack("!B3x", args.channel))
    while True:
        _, body = hear()
        octets, own, number, sent, arrived = struct.unpack_from("!HHQQQ", body, 20)
        print(json.dumps({"number": number, "octets": octets, "delay_us": (arrived - sent) / 1e3}), flush=True)
for number in range(args.trains):
    print(json.dumps(train(number)), flush=True)
    time.sleep(args.rest_ms / 1e3)
