"""A server of responsiveness over HTTP/3, by aioquic: `http3_server.py PORT CERTIFICATE KEY`.

It has what draft-ietf-ippm-responsiveness wants: a configuration, an object of one octet, one without end, and a place for uploads.
"""

import asyncio
import json
import sys
from typing import Any

from aioquic.asyncio.protocol import QuicConnectionProtocol
from aioquic.asyncio.server import serve
from aioquic.h3.connection import H3_ALPN, H3Connection
from aioquic.h3.events import HeadersReceived
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import QuicEvent

PIECE = b"z" * 16_384
WAITING = 200_000


class Server(QuicConnectionProtocol):
    """One connection."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.http = H3Connection(self._quic)
        self.under_way: set[asyncio.Task[None]] = set()

    def quic_event_received(self, event: QuicEvent) -> None:
        """Answers a request."""
        for heard in self.http.handle_event(event):
            if isinstance(heard, HeadersReceived):
                self.answer(heard.stream_id, dict(heard.headers))

    def answer(self, stream: int, headers: dict[bytes, bytes]) -> None:
        """The object without end is a task of its own; an upload is answered when it ends, which it does not."""
        path, base = headers[b":path"], "https://" + headers[b":authority"].decode()
        names = {"small_https_download_url": "small", "large_https_download_url": "large", "https_upload_url": "upload"}
        urls = {name: f"{base}/{place}" for name, place in names.items()}
        objects = {b"/.well-known/nq": json.dumps({"version": 1, "urls": urls}).encode(), b"/small": b"x"}
        if path == b"/upload":
            return
        is_known = path in objects or path == b"/large"
        self.http.send_headers(stream, [(b":status", b"200" if is_known else b"404")])
        if path == b"/large":
            self.under_way.add(asyncio.ensure_future(self.pour(stream)))
        else:
            self.http.send_data(stream, objects.get(path, b""), True)
            self.transmit()

    async def pour(self, stream: int) -> None:
        """Keeps so much waiting as a path takes in a few milliseconds."""
        sender = self._quic._streams[stream].sender
        while True:
            while len(sender._buffer) < WAITING:
                self.http.send_data(stream, PIECE, False)
            self.transmit()
            await asyncio.sleep(0.005)


async def main() -> None:
    """Serves until it is killed."""
    port, certificate, key = sys.argv[1:]
    configuration = QuicConfiguration(alpn_protocols=H3_ALPN, is_client=False)
    configuration.load_cert_chain(certificate, key)
    await serve("127.0.0.1", int(port), configuration=configuration, create_protocol=Server)
    print("ready", flush=True)
    await asyncio.Future()


asyncio.run(main())
