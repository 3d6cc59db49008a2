"""One conformance run: behaviour rules and schemathesis, against a new simulator or a given base URL."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path

from simulator.conformance.bench import Bench
from simulator.conformance.fuzzing import Unusable, fuzz, fuzz_control
from simulator.conformance.laws import Rulebook, observe, play
from simulator.conformance.report import Report
from simulator.conformance.rules import Tally
from simulator.conformance.service import TIMEOUT_SECONDS, Answer, Service, parsed
from simulator.conformance.settings import ConformanceSettings
from simulator.conformance.shapes import ShapeJudge, judge_shape
from simulator.conformance.world import controlled_world
from simulator.contract.files import operation_ids, read_document, strict_document
from simulator.engine.clients.control import CallRefused, Unreachable
from simulator.engine.clients.guard import LiveKey
from simulator.engine.clients.synchronous import NoResponse, SyncClient
from simulator.engine.server.config import Config
from simulator.engine.server.process import serving
from simulator.engine.text.progress import SILENT, ProgressListener
from simulator.host import create_app
from simulator.service import LIVE_KEYS, TOKEN_EXCHANGE, TOOLING
from simulator.version import wheel

BASE = "/v1"


class NoServer(Exception):
    """No server is running at the address."""


class TokenRefused(Exception):
    """The server refused the key pair."""


@asynccontextmanager
async def own_simulator() -> AsyncIterator[str]:
    """Start a simulator with a manual clock, yield its base URL, and stop the simulator at the end of the block."""
    async with serving(create_app(Config(clock="manual"))) as origin:
        # Malformed requests are intentional.
        logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
        yield f"{origin}{BASE}"


async def run(
    settings: ConformanceSettings, *, contract: Path | None = None, listener: ProgressListener[None] = SILENT
) -> Report:
    """Check the behaviour rules, then run schemathesis. Raise `Unusable`, `NoServer` or `TokenRefused` if that is
    impossible.
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
            await asyncio.to_thread(play_laws, report, shapes, TOOLING.rulebook(), listener)
        except (Unreachable, CallRefused) as error:
            raise Unusable(f"the control interface of the target does not work: {error}") from None
    if settings.fuzzes:
        await fuzz(report, contract, shapes, TOOLING.rulebook(), listener)
    if settings.judges_control:
        async with own_simulator() as base_url:
            await fuzz_control(report, base_url.removesuffix(BASE), listener)
    if settings.plays_laws:
        report.unreached = dict(_unreached(report))
    report.seconds = time.monotonic() - started
    return report


def _unreached(report: Report) -> Iterator[tuple[str, str]]:
    reads = report.settings.mode == "read-only"
    for operation in operation_ids():
        counts = report.answers.get(operation, Counter())
        callable_here = not reads or operation.startswith("GET ") or operation == TOKEN_EXCHANGE.operation
        if callable_here and not any(answer.startswith("2") for answer in counts):
            yield operation, _why(counts, reads=reads)


def _why(counts: Counter[str], *, reads: bool) -> str:
    """Return the reason why an operation never succeeded, based on its responses."""
    # Refusals caused by wrong tokens and bodies are intended, so they do not count as a reason.
    telling = Counter({answer: times for answer, times in counts.items() if answer[:3] not in ("400", "401")})
    if not counts:
        return "this run never called it"
    most = (telling or counts).most_common(3)
    often = ", ".join(f"{answer} ({'once' if count == 1 else f'{count} times'})" for answer, count in most)
    if not telling and all(answer.startswith("401") for answer in counts):
        return f"it was called only without a valid token, or it rejects every token: {often}"
    if reads and all(answer.startswith("404") for answer in telling):
        return f"it returned {often}; a run that only reads needs an account with such a resource"
    return f"it returned {often}"


def ask_token(settings: ConformanceSettings) -> None:
    """Request a token, to detect a wrong address or key pair before the run. Raise `NoServer` or `TokenRefused`."""
    keys = {"public_key": settings.public_key, "secret_key": settings.secret_key}
    headers = {"Content-Type": "application/json"}
    try:
        client = SyncClient(settings.base_url, any_host=True, live_keys=LIVE_KEYS)
        answer = client.request("POST", TOKEN_EXCHANGE.path, json.dumps(keys).encode(), headers, TIMEOUT_SECONDS)
    except NoResponse as error:
        raise NoServer(f"no server responds at {settings.base_url} ({error})") from None
    url = settings.base_url + TOKEN_EXCHANGE.path
    if not 200 <= answer.status < 300:
        raise TokenRefused(f"{url} returns {answer.status} for the key pair; check --public-key and --secret-key")
    if TOKEN_EXCHANGE.token_in(parsed(answer.content)) is None:
        raise TokenRefused(f"{url} returns a response without a token; check --target")


def play_laws(
    report: Report, shapes: ShapeJudge, rulebook: Rulebook, listener: ProgressListener[None] = SILENT
) -> None:
    """Check the service against the behaviour rules. Add the verdicts to the report. Raise `MissingField` if a response
    has no token.
    """
    settings, tally = report.settings, report.tally

    def on_answer(answer: Answer) -> None:
        bench.answer = answer
        judge_shape(tally, shapes, answer)
        observe(rulebook.always, tally, answer)
        report.answers[answer.operation][answer.short] += 1
        report.calls += 1

    service = Service(settings.base_url, settings.public_key, settings.secret_key, TOKEN_EXCHANGE, on_answer)
    writes, event_faults = settings.mode == "full", shapes.event_faults
    tally.assumed = rulebook.assumed
    tally.knows([row.rule for row in rulebook.always])
    control = settings.control_url if writes else None
    with controlled_world(control, settings.public_key, settings.control_token) as world:
        bench = Bench(service, tally, world, writes=writes, hook=settings.webhook_url, event_faults=event_faults)
        try:
            play(bench, rulebook.laws, rulebook.provide, listener)
        finally:
            bench.close()
    for row in rulebook.always:
        if not tally.judged.get(row.rule.name):
            tally.unjudged[row.rule.name] = "no response in this run has this field"
