"""Headers with the line of the integrator's code that makes a call, which the timeline shows."""

from __future__ import annotations

import http.client
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import httpx

from simulator.exploration.judgement.evidence import CALLER
from simulator.exploration.runs.tracing.scenes import IS_SIMULATOR, own_file


@contextmanager
def named() -> Iterator[None]:
    """Add the calling line as a header to requests made with httpx, requests, urllib or `http.client`."""
    send, send_async, end = httpx.Client.send, httpx.AsyncClient.send, http.client.HTTPConnection.endheaders

    def sent(self: httpx.Client, request: httpx.Request, **more: Any) -> httpx.Response:
        _mark(request)
        return send(self, request, **more)

    async def sent_async(self: httpx.AsyncClient, request: httpx.Request, **more: Any) -> httpx.Response:
        _mark(request)
        return await send_async(self, request, **more)

    def ended(self: http.client.HTTPConnection, *given: Any, **more: Any) -> None:
        if line := _caller():
            self.putheader(CALLER, line)
        end(self, *given, **more)

    of_client, of_async = patch.object(httpx.Client, "send", sent), patch.object(httpx.AsyncClient, "send", sent_async)
    with of_client, of_async, patch.object(http.client.HTTPConnection, "endheaders", ended):
        yield


def _mark(request: httpx.Request) -> None:
    if line := _caller():
        request.headers[CALLER] = line


def _caller() -> str:
    """Return the innermost line outside installed packages as FILE:LINE, or "" for calls made by the test kit."""
    frame = sys._getframe(3)
    while frame is not None:
        name = own_file(frame.f_code)
        if name == IS_SIMULATOR:
            return ""
        if name:
            return f"{name}:{frame.f_lineno}".encode("ascii", "replace").decode()
        frame = frame.f_back  # type: ignore[assignment]  # None after the last frame ends the loop
    return ""
