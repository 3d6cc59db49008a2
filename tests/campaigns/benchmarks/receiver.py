"""A webhook receiver with minimal cost for the sender: it responds to every POST with 200 and counts requests.

`GET` answers with the count so far.
"""

from __future__ import annotations

import asyncio
import re

import uvloop

_LENGTH = re.compile(rb"(?i)\r\ncontent-length: *(\d+)")
_ANSWER = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n\r\nok"

_count = 0


class _Receiver(asyncio.Protocol):
    def __init__(self) -> None:
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: asyncio.Transport = transport  # type: ignore[assignment]  # of TCP

    def data_received(self, data: bytes) -> None:
        global _count
        self._buffer += data
        while True:
            head, found, rest = self._buffer.partition(b"\r\n\r\n")
            length = _LENGTH.search(head)
            wanted = int(length[1]) if length else 0
            if not found or len(rest) < wanted:
                return
            self._buffer = rest[wanted:]
            if head.startswith(b"GET "):
                text = str(_count).encode()
                self._transport.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(text), text))
            else:
                _count += 1
                self._transport.write(_ANSWER)


async def _serve() -> None:
    server = await asyncio.get_running_loop().create_server(_Receiver, "127.0.0.1", 0)
    print(f"Ready on http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)  # noqa: T201
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(_serve())
