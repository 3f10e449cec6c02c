#!/usr/bin/env python3
"""What a script would do to play connection vectors: asyncio streams, a task for each end of each connection.

replay-script.py serve VECTORS.cvec PORT SECONDS OUT.json
replay-script.py play VECTORS.cvec HOST:PORT SECONDS OUT.json

The first four octets of a connection are its number, by which the server knows what to say. Waits below 500 ms are left out, as
in a replay. After SECONDS (the server: when it is told to end) all is cut; OUT.json has how late each connection was opened, the
octets that this end took, and the most connections open at once.
"""

import asyncio
import gc
import json
import os
import resource
import signal
import socket
import sys
import time

THRESHOLD = 500_000
CHUNK = bytes(65536)
SIDES = {">": 0, "<": 1, "c>": 0, "c<": 1}


def read(path):
    """Of each connection its start in seconds, whether its ends take turns, and its turns: side, seconds before it, octets."""
    connections = []
    for line in open(path):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        kind = words[0]
        if kind in ("SEQ", "CONC"):
            waits = [0, 0]
            turns = []
            connections.append((int(words[1]) * 1e-6, kind == "SEQ", turns))
        elif kind in SIDES:
            side = SIDES[kind]
            clock = side if kind.startswith("c") else 0
            wait = waits[clock] if waits[clock] >= THRESHOLD else 0
            waits[clock] = 0
            turns.append((side, wait * 1e-6, int(words[1])))
        elif kind == "t":
            waits[0] += int(words[1])
        elif kind in ("t>", "t<"):
            waits[0 if kind == "t>" else 1] += int(words[1])
    return connections


class Books:
    """What is known of a run."""

    def __init__(self):
        self.late_ms, self.octets, self.open, self.most = [], 0, 0, 0

    def tell(self, path):
        """Writes it, and ends the process with all that is open."""
        with open(path, "w") as file:
            json.dump({"late_ms": self.late_ms, "open": self.most, "octets": self.octets}, file)
        os._exit(0)


async def send(writer, octets):
    while octets > 0:
        part = CHUNK[:octets] if octets < len(CHUNK) else CHUNK
        writer.write(part)
        octets -= len(part)
        await writer.drain()


async def take(reader, octets, books):
    while octets > 0:
        data = await reader.read(min(octets, 65536))
        if not data:
            raise ConnectionError("closed early")
        octets -= len(data)
        books.octets += len(data)


async def turns_of(reader, writer, me, turns, books):
    """One end of a connection whose ends take turns."""
    for side, wait, octets in turns:
        if side == me:
            if wait:
                await asyncio.sleep(wait)
            await send(writer, octets)
        else:
            await take(reader, octets, books)


async def both(reader, writer, me, turns, books):
    """One end of a connection whose ends do not."""
    mine = [turn for turn in turns if turn[0] == me]
    others = sum(octets for side, _, octets in turns if side != me)
    await asyncio.gather(turns_of(reader, writer, me, mine, books), take(reader, others, books))


async def end(reader, writer, me, connection, books):
    """Plays an end, and closes it when the other has closed or after it."""
    _, sequential, turns = connection
    try:
        writer.transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        await (turns_of if sequential else both)(reader, writer, me, turns, books)
        writer.close()
        await writer.wait_closed()
    except (ConnectionError, OSError):
        writer.transport.abort()


async def serve(connections, port, _, out):
    books = Books()

    async def accepted(reader, writer):
        try:
            number = int.from_bytes(await reader.readexactly(4), "big")
        except (asyncio.IncompleteReadError, OSError):
            return
        await end(reader, writer, 1, connections[number], books)

    await asyncio.start_server(accepted, "0.0.0.0", int(port), backlog=4096)
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    await stop.wait()
    books.tell(out)


async def play(connections, address, seconds, out):
    host, port = address.split(":")
    books = Books()
    origin = time.monotonic() + 0.5

    async def one(number, connection):
        books.late_ms.append((time.monotonic() - origin - connection[0]) * 1e3)
        books.open += 1
        books.most = max(books.most, books.open)
        try:
            reader, writer = await asyncio.open_connection(host, int(port))
            writer.write(number.to_bytes(4, "big"))
            await end(reader, writer, 0, connection, books)
        except OSError:
            pass
        finally:
            books.open -= 1

    tasks = set()
    for number, connection in sorted(enumerate(connections), key=lambda item: item[1][0]):
        if connection[0] >= seconds:
            break
        wait = origin + connection[0] - time.monotonic()
        if wait > 0:
            await asyncio.sleep(wait)
        if time.monotonic() >= origin + seconds:
            break
        task = asyncio.create_task(one(number, connection))
        tasks.add(task)
        task.add_done_callback(tasks.discard)
    await asyncio.sleep(max(0, origin + seconds - time.monotonic()))
    books.tell(out)


def main():
    verb, path, where, seconds, out = sys.argv[1:6]
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    connections = read(path)
    # What has been read lives to the end; the collector need not look at it.
    gc.freeze()
    run = serve if verb == "serve" else play
    asyncio.run(run(connections, where, int(seconds), out))


main()
