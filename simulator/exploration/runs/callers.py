"""Headers that contain the line of the integrator's code that makes a call. The simulator shows this line in the
timeline.
"""

from __future__ import annotations

import http.client
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import httpx

from simulator.exploration.judgement.evidence import CALLER
from simulator.exploration.runs.tracing.scenes import IS_SIMULATOR, own_file


@contextmanager
def named() -> Iterator[None]:
    """Add the calling line as a header to all requests made with httpx, requests, urllib or `http.client` in this
    process.
    """
    send, send_async, end = httpx.Client.send, httpx.AsyncClient.send, http.client.HTTPConnection.endheaders

    def sent(self: httpx.Client, request: httpx.Request, **more: Any) -> httpx.Response:
        _mark(request)
        return send(self, request, **more)

    async def sent_async(self: httpx.AsyncClient, request: httpx.Request, **more: Any) -> httpx.Response:
        _mark(request)
        return await send_async(self, request, **more)

    def ended(self: http.client.HTTPConnection, *given: Any, **more: Any) -> None:
        line = _caller()
        if line:
            self.putheader(CALLER, line)
        end(self, *given, **more)

    with ExitStack() as stack:
        stack.enter_context(patch.object(httpx.Client, "send", sent))
        stack.enter_context(patch.object(httpx.AsyncClient, "send", sent_async))
        stack.enter_context(patch.object(http.client.HTTPConnection, "endheaders", ended))
        yield


def _mark(request: httpx.Request) -> None:
    line = _caller()
    if line:
        request.headers[CALLER] = line


def _caller() -> str:
    """Return the innermost call stack line outside installed packages as FILE:LINE. Return "" for calls made by the
    test kit.
    """
    frame = sys._getframe(3)
    while frame is not None:
        name = own_file(frame.f_code)
        if name == IS_SIMULATOR:
            return ""
        if name:
            return f"{name}:{frame.f_lineno}".encode("ascii", "replace").decode()
        frame = frame.f_back  # type: ignore[assignment]  # None after the last frame ends the loop
    return ""
