"""The sanitised exchanges of a run of `rampsim probe`."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence

from simulator.engine.text.json import JsonObject
from simulator.evidence.corpus.exchange import Traffic
from simulator.evidence.corpus.pseudonyms import Pseudonyms
from simulator.evidence.corpus.sanitising import sanitise

_MOST_BYTES = 1024**2
"""The size of the largest body that is recorded."""


class Journal:
    """Sanitises the calls of one run with the same pseudonyms."""

    def __init__(self) -> None:
        self._pseudonyms = Pseudonyms()
        self.exchanges: list[JsonObject] = []
        """The exchanges in the form of a line of a corpus."""

    def add(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str],
        body: bytes | None,
        status: int,
        response_headers: Sequence[tuple[str, str]],
        response: bytes,
    ) -> None:
        """Record a call with its response. `path` may include a query."""
        bare, _, query = path.partition("?")
        traffic = Traffic(
            n=len(self.exchanges) + 1,
            at_ms=time.time_ns() // 1_000_000,
            method=method,
            path=bare,
            query=query,
            headers=list(headers.items()),
            body=None if body is not None and len(body) > _MOST_BYTES else body or b"",
            status=status,
            response_headers=response_headers,
            response=None if len(response) > _MOST_BYTES else response,
        )
        self.exchanges.append(json.loads(sanitise(traffic, self._pseudonyms).line()))
