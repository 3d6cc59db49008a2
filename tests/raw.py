"""HTTP as bytes on a socket, for requests that no proper client sends."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager


def address_of(origin: str) -> tuple[str, int]:
    host, _, port = origin.removeprefix("http://").partition(":")
    return host, int(port)


def request(method: str, path: str, *headers: str, host: str | None = "127.0.0.1", body: bytes = b"") -> bytes:
    """The bytes of a request; `Content-Length` is that of the body unless the headers say otherwise."""
    lines = [f"{method} {path} HTTP/1.1", *headers]
    if host is not None:
        lines.append(f"Host: {host}")
    if body and not any(line.lower().startswith("content-length:") for line in headers):
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


@contextmanager
def connected(origin: str) -> Iterator[socket.socket]:
    with socket.create_connection(address_of(origin), timeout=20) as connection:
        yield connection


def read_answer(connection: socket.socket, *, head: bool = False) -> tuple[int, dict[str, str], bytes]:
    """One answer: status, headers, and as much of a body as its head promises."""
    data = b""
    while b"\r\n\r\n" not in data:
        chunk = connection.recv(65536)
        if not chunk:
            raise ConnectionError(f"no whole answer, only {data!r}")
        data += chunk
    top, _, body = data.partition(b"\r\n\r\n")
    status_line, *lines = top.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    status = int(status_line.split()[1])
    length = 0 if head or status in (204, 304) else int(headers.get("content-length", "0"))
    while len(body) < length:
        body += connection.recv(65536)
    assert len(body) == length, f"bytes beyond the answer: {body[length:]!r}"
    return status, headers, body


def ask(origin: str, raw: bytes) -> tuple[int, dict[str, str], bytes]:
    """Send these bytes on a new connection and read one answer."""
    with connected(origin) as connection:
        connection.sendall(raw)
        return read_answer(connection)


def ends(connection: socket.socket) -> bool:
    """Whether the server closes the connection (waits until it does)."""
    try:
        while connection.recv(65536):
            pass
    except ConnectionError:
        pass
    return True


def refusal(answer: tuple[int, dict[str, str], bytes]) -> tuple[int, str]:
    """The status and the code of an answer that refuses."""
    status, _, body = answer
    return status, json.loads(body)["error"]["code"]
