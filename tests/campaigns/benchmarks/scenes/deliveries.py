"""Webhook deliveries to sixteen endpoints: the number per second of the sender's CPU time.

The action `emit` creates events, each of which goes to all endpoints. For comparison, a bare loop sends the same
requests to the same receiver, over reused connections and over a new connection for each request, as the simulator
does.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Any
from urllib.request import urlopen

from tests.campaigns.benchmarks.machine import LOAD_CORE, SERVER_CORE, on_core
from tests.campaigns.benchmarks.plan import Plan, Side, sample, sides
from tests.campaigns.benchmarks.results import Sample
from tests.campaigns.benchmarks.servers import TWIN, Server, Subject, listening
from tests.places import ROOT

ENDPOINTS = 16
_OWN = ("host", "content-length")
"""Headers that the client makes itself."""


def measure(simulators: Sequence[Subject], plan: Plan) -> Iterator[Sample]:
    events = 20 if plan.quick else 150
    with ExitStack() as stack:
        receiver = stack.enter_context(listening(["-m", "tests.campaigns.benchmarks.receiver"], ROOT, LOAD_CORE))
        urls = [f"{receiver.origin}/endpoint/{number}" for number in range(ENDPOINTS)]
        found = sides(stack, simulators)
        for side in found:
            for url in urls:
                side.client.call("POST", "/v1/webhooks", {"url": url, "events": ["*"]})
            _emit(side, receiver, 10)
        sent = found[0].client.call("GET", "/_simulator/deliveries?limit=1")["data"][0]
        same = {
            "urls": urls,
            "times": events,
            "headers": {name: text for name, text in sent["request_headers"].items() if name.lower() not in _OWN},
            "body": sent["request_body"],
        }
        for _ in range(plan.rounds):
            yield sample("deliveries", TWIN, events * ENDPOINTS / _bare({**same, "keeps": True}))
            yield sample("deliveries-apart", TWIN, events * ENDPOINTS / _bare({**same, "keeps": False}))
            for side in found:
                rate = events * ENDPOINTS / _emit(side, receiver, events)
                yield sample("deliveries", side.subject, rate)
                yield sample("deliveries-apart", side.subject, rate)


def _emit(side: Side, receiver: Server, events: int) -> float:
    """The processor time until so many events have reached every endpoint."""
    arrived, before = _arrived(receiver), side.server.cpu
    for _ in range(events):
        side.client.act("emit", type="transaction.completed")
    side.client.call("POST", "/_simulator/settle", {})
    spent = side.server.cpu - before
    if _arrived(receiver) - arrived != events * ENDPOINTS:
        raise RuntimeError(f"{_arrived(receiver) - arrived} deliveries arrived instead of {events * ENDPOINTS}")
    return spent


def _bare(what: dict[str, Any]) -> float:
    with on_core(SERVER_CORE):
        told = subprocess.run(
            [sys.executable, "-m", "tests.campaigns.benchmarks.sender"],
            input=json.dumps(what), capture_output=True, text=True, check=True, cwd=ROOT,
        )  # fmt: skip
    return float(told.stdout)


def _arrived(receiver: Server) -> int:
    with urlopen(receiver.origin) as answer:
        return int(answer.read())
