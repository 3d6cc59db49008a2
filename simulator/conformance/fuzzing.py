"""Runs schemathesis in a subprocess, with the contract of the API or of the control API."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import orjson

from simulator.conformance.laws import Rulebook
from simulator.conformance.outcome import read_control, read_outcome
from simulator.conformance.report import Report
from simulator.conformance.settings import PUBLIC_KEY, SECRET_KEY, WEBHOOK_URL, ConformanceSettings, compose
from simulator.conformance.shapes import ShapeJudge
from simulator.contract.files import contract_file, contracts_directory, strict_document
from simulator.engine.text.json import Shown
from simulator.engine.text.progress import SILENT, ProgressListener

CONTROL_EXAMPLES = 3
CONTROL_PHASES = ("examples", "coverage", "fuzzing")

LEFT_OUT = {
    "stream": "the call does not end",
    "wait_for_event": "it waits in real time",
    "inbox_wait": "it waits in real time",
    "seed": "a generated history would take minutes",
    "advance": "a generated duration would advance the clock through years of timers",
    "put_clock": "a generated time would advance the clock through years of timers, and runs with a running clock "
    "differ",
    "put_state": "it replaces the world under test",
    "delete_world": "it deletes the world under test",
    "openapi_json": "its response is too long to be recorded",
}
"""Operations in the control API that are not called, with the reason for each."""


class Unusable(Exception):
    """The run is impossible. The message contains the reason."""


async def fuzz(
    report: Report, contract: Path | None, shapes: ShapeJudge, rulebook: Rulebook,
    listener: ProgressListener[None] = SILENT,
) -> None:  # fmt: skip
    """Run schemathesis with the API contract, and report the results. Raise `Unusable` if schemathesis cannot run."""
    settings = report.settings
    arguments: list[str] = []
    if settings.mode == "read-only":
        # Exclude the writing methods. An included method would select operations in addition to the included ones.
        for method in ("POST", "PUT", "PATCH", "DELETE"):
            arguments += ["--exclude-method", method]
    for operation in settings.operations:
        arguments += ["--include-operation-id", operation]
    config = compose(contract_file("schemathesis.toml").decode(), settings)
    run = _schemathesis(settings, contract, settings.base_url, config, settings.phases, arguments, listener)
    async with run as (summary, calls):
        listener.running("reading the results of schemathesis")
        if summary["operations"]["selected"] == 0:
            raise Unusable(
                f"the contract has no operation {' or '.join(settings.operations)} to run in this mode; "
                "`rampsim docs reference/api` lists the operations"
            )
        await asyncio.to_thread(read_outcome, report, summary, calls, shapes, rulebook)


async def fuzz_control(report: Report, origin: str, listener: ProgressListener[None] = SILENT) -> None:
    """Run schemathesis with the control API's contract against the new simulator at `origin`, and report the results.
    Raise `Unusable` if schemathesis cannot run.
    """
    settings = report.settings
    config = (
        f"seed = {settings.seed}\ncontinue-on-failure = true\nrequest-timeout = 30\n"
        f'suppress-health-check = ["all"]\nhooks = "simulator.conformance.control_hooks"\n'
        f'[cache]\nenabled = false\n[generation]\nmax-examples = {CONTROL_EXAMPLES}\ndatabase = "none"\n'
        # Responses are checked afterwards, based on the recorded calls. Refusals depend on the world's state, which a
        # schema does not describe.
        "[checks]\nenabled = false\n[checks.not_a_server_error]\nenabled = true\n"
    )
    arguments = [word for operation in LEFT_OUT for word in ("--exclude-operation-id", operation)]
    document = contracts_directory() / "control.json"
    shapes = ShapeJudge(orjson.loads(document.read_bytes()))
    async with _schemathesis(settings, document, origin, config, CONTROL_PHASES, arguments, listener) as (_, calls):
        await asyncio.to_thread(read_control, report, calls, shapes)
    report.notes.append(
        "Operations of the control interface that were not called: "
        + "; ".join(f"{name}, because {why}" for name, why in LEFT_OUT.items())
    )


@asynccontextmanager
async def _schemathesis(
    settings: ConformanceSettings, document: Path | None, url: str, config: str, phases: Sequence[str],
    arguments: Sequence[str], listener: ProgressListener[None],
) -> AsyncIterator[tuple[Shown, Path]]:  # fmt: skip
    """Run schemathesis, by default with the API contract. Yield its summary, and the file that lists its calls."""
    with tempfile.TemporaryDirectory(prefix="rampsim-conform-") as name:
        directory = Path(name)
        (directory / "schemathesis.toml").write_text(config)
        if document is None:
            # Reading JSON takes a hundredth of the time that YAML takes.
            document = directory / "contract.json"
            document.write_bytes(orjson.dumps(strict_document()))
        summary, calls = directory / "report.json", directory / "calls.ndjson"
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "schemathesis.cli", "--config-file", str(directory / "schemathesis.toml"),
            "run", str(document), "--url", url, "--phases", ",".join(phases), "--no-color",
            "--report", "json,ndjson", "--report-json-path", str(summary), "--report-ndjson-path", str(calls),
            *arguments,
            cwd=directory, env=_environment(settings), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
        )  # fmt: skip
        following = asyncio.create_task(_follow(calls, listener))
        try:
            output, _ = await process.communicate()
        finally:
            following.cancel()
            if process.returncode is None:
                process.kill()
        if process.returncode not in (0, 1) or not summary.exists():
            text = output.decode(errors="replace").replace(settings.secret_key, "***")
            raise Unusable(f"schemathesis ended with {process.returncode}:\n{text}")
        yield json.loads(summary.read_text()), calls


_LOOK_EVERY_SECONDS = 0.5


async def _follow(calls: Path, listener: ProgressListener[None]) -> None:
    """Report the number of recorded calls until the task is cancelled."""
    count = at = 0
    while True:
        listener.running(f"schemathesis: {count:,} calls")
        await asyncio.sleep(_LOOK_EVERY_SECONDS)
        if calls.exists():
            with calls.open("rb") as file:
                file.seek(at)
                more = file.read()
            at, count = at + len(more), count + more.count(b'"status_code"')


def _environment(settings: ConformanceSettings) -> Mapping[str, str]:
    paths = [str(Path(__file__).resolve().parents[2]), *filter(None, [os.environ.get("PYTHONPATH")])]
    more = {WEBHOOK_URL: settings.webhook_url} if settings.webhook_url else {}
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SCHEMATHESIS_")}
    keys = {PUBLIC_KEY: settings.public_key, SECRET_KEY: settings.secret_key}
    return {**kept, "PYTHONPATH": os.pathsep.join(paths), **keys, **more}
