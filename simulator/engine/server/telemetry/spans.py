"""The protocol of a span exporter."""

from __future__ import annotations

from typing import Protocol

from simulator.engine.server.http.messages import Outgoing
from simulator.engine.server.http.request import Request
from simulator.engine.webhooks.courier import port


class Tracing(port.Tracing, Protocol):
    """Receives every call and every delivery attempt. Never raises."""

    def called(self, request: Request, outgoing: Outgoing) -> None:
        """An API call is about to be answered."""
