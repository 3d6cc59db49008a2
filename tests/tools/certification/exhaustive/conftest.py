"""Exhaustive runs with sample applications, each with a separate server."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from simulator.certification.exhaustive.running import Bound, FlowReport, run
from simulator.certification.signing import Headers
from simulator.certification.stage import Service, running_stage
from simulator.engine.server.config import Config
from simulator.engine.webhooks import Outcome
from simulator.engine.webhooks.courier.transport import HttpTransport
from tests.remote import new_client, running
from tests.tools.certification.exhaustive.serving import serving

Search = Callable[..., FlowReport]


@pytest.fixture
def origin() -> Iterator[str]:
    """A simulator of its own, because a run makes a thousand orders and restores worlds."""
    with running(Config(clock="manual", scenarios=())) as (found, _):
        yield found


@pytest.fixture
def keys(origin: str) -> dict[str, str]:
    with new_client() as http:
        found: dict[str, str] = http.get(f"{origin}/_simulator/worlds/default").json()["credentials"]["sandbox"]
        return found


@pytest.fixture
def search(origin: str, keys: dict[str, str], tmp_path: Path) -> Iterator[Search]:
    """Return a function that searches one flow of an application. By default, its state is saved and restored."""
    with ExitStack() as stack:

        def search(name: str, flow: str, *, replays: bool = False, **more: Any) -> FlowReport:
            file = tmp_path / f"{name}.db"
            app = stack.enter_context(serving(name, keys, file=str(file)))
            given: dict[str, Any] = {} if replays else {"state": file}
            bound = Bound(f"{app}/books", flow, settle=job_of(app), **{**given, **more})
            (report,) = searched(bound, origin, keys["webhook_key"], f"{app}/webhooks")
            return report

        yield search


def job_of(app: str) -> str:
    return f"{sys.executable} -S -c \"import urllib.request as r; r.urlopen(r.Request('{app}/settle', b''))\""


def searched(
    bound: Bound, origin: str, key: str, url: str, service: Service | None = None, order: str | None = None
) -> list[FlowReport]:
    """Search flows without the command line. `order`: the command that makes an order."""

    async def work() -> list[FlowReport]:
        loop, transport = asyncio.get_running_loop(), HttpTransport()

        def post(headers: Headers, body: bytes) -> Future[Outcome]:
            return asyncio.run_coroutine_threadsafe(transport.post(url, headers, body, 10, "any"), loop)

        stage = running_stage(origin, key, None, service or Service())
        stage.ordering = order
        return await asyncio.to_thread(lambda: run(bound, stage, url, post))

    return asyncio.run(work())
