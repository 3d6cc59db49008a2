"""One ASGI request and its response, without a server."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, MutableMapping
from typing import Any

from simulator.testing.receiving.loopback import Answer

Message = MutableMapping[str, Any]


def scope_of(
    method: str, path: str, query: bytes, headers: Iterable[tuple[bytes, bytes]], host: str, **more: Any
) -> dict[str, Any]:
    """Return the ASGI scope of a request."""
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": query,
        "headers": list(headers),
        "client": ("127.0.0.1", 0),
        "server": (host, 80),
        **more,
    }


class Conversation:
    """One request and its response as ASGI messages. After `over` is set, the application receives a disconnect."""

    def __init__(self, body: bytes) -> None:
        self._incoming: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]
        self._told: list[Message] = []
        self.over = asyncio.Event()

    @property
    def has_begun(self) -> bool:
        return bool(self._told)

    @property
    def is_complete(self) -> bool:
        return len(self._told) > 1 and not self._told[-1].get("more_body", False)

    async def receive(self) -> Message:
        if self._incoming:
            return self._incoming.pop()
        await self.over.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        if message["type"] in ("http.response.start", "http.response.body"):
            self._told.append(message)

    def answer(self, *, cut: bool = False) -> Answer:
        """Return the response so far, or a 500. `cut`: True if the connection was closed before the end."""
        head, *rest = self._told or [{"status": 500}]
        headers = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in head.get("headers", ()))
        return Answer(head["status"], headers, b"".join(message.get("body", b"") for message in rest), cut)
