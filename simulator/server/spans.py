"""What is told of a server to who makes spans of it."""

from __future__ import annotations

from typing import Protocol

from simulator.courier import port
from simulator.server.messages import Outgoing
from simulator.server.request import Request


class Tracing(port.Tracing, Protocol):
    """Who is told of every call and every attempt to deliver; never raises."""

    def called(self, request: Request, outgoing: Outgoing) -> None:
        """A call of the interface is about to be answered."""
