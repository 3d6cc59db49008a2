"""One run: the laws and schemathesis, against the simulator that this starts or against a given base URL."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path

from simulator.conformance.fuzzing import Unusable, fuzz, fuzz_control
from simulator.conformance.playing import play_laws
from simulator.conformance.report import Report, Unreached, nobody
from simulator.conformance.rules import Tally
from simulator.conformance.service import TIMEOUT_SECONDS, TOKEN, parsed
from simulator.conformance.settings import ConformanceSettings
from simulator.conformance.shapes import ShapeJudge
from simulator.contract.files import operation_ids, read_document, strict_document
from simulator.engine.clients.control import CallRefused, Unreachable
from simulator.engine.clients.guard import LiveKey
from simulator.engine.clients.synchronous import NoResponse, SyncClient
from simulator.engine.server.config import Config
from simulator.engine.server.process import serving
from simulator.host import create_app
from simulator.service import LIVE_KEYS, TOOLING
from simulator.version import wheel

BASE = "/v1"


class NoServer(Exception):
    """No server answers at the address."""


class TokenRefused(Exception):
    """The server gives no token for the key pair."""


@asynccontextmanager
async def own_simulator() -> AsyncIterator[str]:
    """A simulator with a fresh world under a manual clock; gives its base URL."""
    application = create_app(Config(clock="manual"))
    async with serving(application) as origin:
        # Broken requests are sent on purpose.
        logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
        yield f"{origin}{BASE}"


async def run(
    settings: ConformanceSettings, *, contract: Path | None = None, told: Callable[[str], None] = nobody
) -> Report:
    """One run: the laws first, then schemathesis. Unusable, NoServer, TokenRefused.

    `told` hears what it does, from a thread or the loop.
    """
    try:
        LIVE_KEYS.check(f"{settings.public_key} {settings.secret_key}", "The key pair")
    except LiveKey as error:
        raise Unusable(str(error)) from None
    needed = ("jsonschema_rs", "schemathesis") if settings.only != "behaviour" else ("jsonschema_rs",)
    missing = [name.replace("_", "-") for name in needed if find_spec(name) is None]
    if missing:
        raise Unusable(
            f"{' and '.join(missing)} not installed: pip install '{wheel('conformance')}', "
            f"or pip install {' '.join(missing)}"
        )
    unknown = [] if contract else sorted({*settings.operations} - {*operation_ids().values()})
    if unknown:
        raise Unusable(f"the contract has no operation {' or '.join(unknown)}")
    await asyncio.to_thread(ask_token, settings)
    report = Report(settings, Tally(secret=settings.secret_key))
    shapes = ShapeJudge(read_document(contract) if contract else strict_document())
    started = time.monotonic()
    if settings.plays_laws:
        try:
            await asyncio.to_thread(play_laws, report, shapes, TOOLING.rulebook(), told)
        except (Unreachable, CallRefused) as error:
            raise Unusable(f"the control interface does not answer as it should: {error}") from None
    if settings.fuzzes:
        await fuzz(report, contract, shapes, TOOLING.rulebook(), told)
    if settings.judges_control:
        async with own_simulator() as base_url:
            await fuzz_control(report, base_url.removesuffix(BASE), told)
    if settings.plays_laws:
        report.unreached = list(_unreached(report))
    report.seconds = time.monotonic() - started
    return report


def _unreached(report: Report) -> Iterator[Unreached]:
    for operation in operation_ids():
        if report.settings.mode == "read-only" and not operation.startswith("GET ") and operation != TOKEN:
            continue
        counts = report.answers.get(operation, Counter())
        if any(answer.startswith("2") for answer in counts):
            continue
        yield Unreached(operation, _why(counts, reads=report.settings.mode == "read-only"))


def _why(counts: Counter[str], *, reads: bool) -> str:
    """Why an operation did not succeed once, by what it answered."""
    # Refusals that were asked for, with a wrong token or body, are no reason.
    telling = Counter({answer: times for answer, times in counts.items() if answer[:3] not in ("400", "401")})
    if not counts:
        return "nothing in this run came to call it"
    often = ", ".join(f"{answer} ({_times(count)})" for answer, count in (telling or counts).most_common(3))
    if not telling and all(answer.startswith("401") for answer in counts):
        return f"only calls without a valid token came to it, or it takes none: {often}"
    if reads and all(answer.startswith("404") for answer in telling):
        return f"it answered {often}; a run that only reads needs an account that has something of this kind"
    return f"it answered {often}"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def ask_token(settings: ConformanceSettings) -> None:
    """Ask for a token once before anything else, so that a wrong address or key pair is said in so many words."""
    keys = {"public_key": settings.public_key, "secret_key": settings.secret_key}
    headers = {"Content-Type": "application/json"}
    try:
        client = SyncClient(settings.base_url, any_host=True, live_keys=LIVE_KEYS)
        answer = client.request("POST", "/auth/token", json.dumps(keys).encode(), headers, TIMEOUT_SECONDS)
    except NoResponse as error:
        raise NoServer(f"no server answers at {settings.base_url} ({error})") from None
    if not 200 <= answer.status < 300:
        raise TokenRefused(f"{settings.base_url}/auth/token answers {answer.status} to the key pair")
    if not isinstance(parsed(answer.content).get("access_token"), str):
        raise TokenRefused(f"{settings.base_url}/auth/token answers something that is no token")
