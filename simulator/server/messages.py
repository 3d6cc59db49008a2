"""HTTP messages as the shells pass them on: already read, not yet written."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Incoming:
    """An HTTP request: header names in lower case; `body` None when it was larger than allowed."""

    method: str
    path: str
    query: bytes
    headers: dict[str, str]
    body: bytes | None


@dataclass
class Outgoing:
    """An HTTP answer. `cut` means that the connection is dropped instead of answered."""

    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    cut: bool = False
