"""One run: the laws and schemathesis, against the simulator that this starts or against a given base URL."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from simulator.client import CallRefused, Unreachable
from simulator.config import Config
from simulator.conformance.outcome import read_outcome
from simulator.conformance.playing import play_laws
from simulator.conformance.report import Report, Unreached
from simulator.conformance.rules import Tally
from simulator.conformance.settings import PUBLIC_KEY, SECRET_KEY, WEBHOOK_URL, ConformanceSettings, compose
from simulator.conformance.shapes import ShapeJudge
from simulator.contract.files import (
    contract_document,
    contract_file,
    contracts_directory,
    operation_ids,
    read_document,
)
from simulator.host import create_app
from simulator.server.process import serving

BASE = "/v1"
TOKEN = "POST /auth/token"


class Unusable(Exception):
    """The run cannot be made: schemathesis is missing, or the configuration or contract is refused."""


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


async def run(settings: ConformanceSettings, *, contract: Path | None = None) -> Report:
    """One run: the laws first, then schemathesis. Unusable, NoServer, TokenRefused."""
    if settings.only != "behaviour" and find_spec("schemathesis") is None:
        raise Unusable(
            "schemathesis is not installed: pip install -e '.[conformance]' in the directory of rampsim, "
            "or pip install schemathesis; or run the behaviour alone with --only behaviour"
        )
    unknown = [] if contract else sorted({*settings.operations} - {*operation_ids().values()})
    if unknown:
        raise Unusable(f"the contract has no operation {' or '.join(unknown)}")
    await asyncio.to_thread(ask_token, settings)
    report = Report(settings, Tally(secret=settings.secret_key))
    shapes = ShapeJudge(read_document(contract) if contract else contract_document())
    started = time.monotonic()
    if settings.plays_laws:
        try:
            await asyncio.to_thread(play_laws, report, shapes)
        except (Unreachable, CallRefused) as error:
            raise Unusable(f"the control interface does not answer as it should: {error}") from None
    if settings.only != "behaviour":
        await _fuzz(report, contract, shapes)
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
        if counts:
            often = ", ".join(f"{answer} ({times} times)" for answer, times in counts.most_common(3))
            yield Unreached(operation, f"it never succeeded; it answered {often}")
        elif report.settings.mode == "read-only":
            yield Unreached(operation, "the account has nothing of this kind, and a run that only reads makes nothing")
        else:
            yield Unreached(operation, "nothing in this run came to call it")


async def _fuzz(report: Report, contract: Path | None, shapes: ShapeJudge) -> None:
    """Run schemathesis in a process of its own and enter what it found."""
    settings = report.settings
    with tempfile.TemporaryDirectory(prefix="rampsim-conform-") as name:
        directory = Path(name)
        config = directory / "schemathesis.toml"
        config.write_text(compose(contract_file("schemathesis.toml").decode(), settings))
        summary, calls = directory / "report.json", directory / "calls.ndjson"
        command = [
            sys.executable, "-m", "schemathesis.cli", "--config-file", str(config),
            "run", str(contract or contracts_directory() / "openapi.json"), "--url", settings.base_url,
            "--phases", ",".join(settings.phases), "--no-color",
            "--report", "json,ndjson", "--report-json-path", str(summary), "--report-ndjson-path", str(calls),
        ]  # fmt: skip
        if settings.mode == "read-only":
            # Left out rather than chosen: what is chosen by method and by operation would be joined.
            for method in ("POST", "PUT", "PATCH", "DELETE"):
                command += ["--exclude-method", method]
        for operation in settings.operations:
            command += ["--include-operation-id", operation]
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=directory,
            env=_environment(settings),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        try:
            output, _ = await process.communicate()
        finally:
            if process.returncode is None:
                process.kill()
        text = output.decode(errors="replace").replace(settings.secret_key, "***")
        if process.returncode not in (0, 1) or not summary.exists():
            raise Unusable(f"schemathesis ended with {process.returncode}:\n{text}")
        found = json.loads(summary.read_text())
        if found["operations"]["selected"] == 0:
            raise Unusable(f"the contract has no operation {' or '.join(settings.operations)} to run in this mode")
        await asyncio.to_thread(read_outcome, report, found, calls, shapes)


def _environment(settings: ConformanceSettings) -> dict[str, str]:
    package = Path(__file__).resolve().parents[2]
    paths = [str(package), *filter(None, [os.environ.get("PYTHONPATH")])]
    more = {WEBHOOK_URL: settings.webhook_url} if settings.webhook_url else {}
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SCHEMATHESIS_")}
    return {
        **kept,
        "PYTHONPATH": os.pathsep.join(paths),
        PUBLIC_KEY: settings.public_key,
        SECRET_KEY: settings.secret_key,
        **more,
    }


def ask_token(settings: ConformanceSettings) -> None:
    """Ask for a token once before anything else, so that a wrong address or key pair is said in so many words."""
    keys = {"public_key": settings.public_key, "secret_key": settings.secret_key}
    request = Request(
        f"{settings.base_url}/auth/token",
        data=json.dumps(keys).encode(),
        headers={"Content-Type": "application/json"},
        method="POST",
    )
    try:
        with urlopen(request, timeout=30) as response:
            answer = json.load(response)
        if not (isinstance(answer, dict) and {"token_type", "expires_in"} <= answer.keys()):
            raise ValueError
    except HTTPError as error:
        with error:
            raise TokenRefused(f"{settings.base_url}/auth/token answers {error.code} to the key pair") from None
    except (URLError, OSError) as error:
        reason = getattr(error, "reason", error)
        raise NoServer(f"no server answers at {settings.base_url} ({reason})") from None
    except (ValueError, KeyError, TypeError):
        raise TokenRefused(f"{settings.base_url}/auth/token answers something that is no token") from None
