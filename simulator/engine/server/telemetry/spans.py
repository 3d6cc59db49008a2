"""What is told of a server to who makes spans of it."""

from __future__ import annotations

from typing import Protocol

from simulator.engine.server.http.messages import Outgoing
from simulator.engine.server.http.request import Request
from simulator.engine.webhooks.courier import port


class Tracing(port.Tracing, Protocol):
    """Who is told of every call and every attempt to deliver; never raises."""

    def called(self, request: Request, outgoing: Outgoing) -> None:
        """A call of the interface is about to be answered."""
