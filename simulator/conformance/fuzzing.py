"""Runs of schemathesis, in a process of its own: with the contract, and with that of the control interface."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import orjson

from simulator.conformance.laws import Rulebook
from simulator.conformance.outcome import read_control, read_outcome
from simulator.conformance.report import Report, nobody
from simulator.conformance.settings import PUBLIC_KEY, SECRET_KEY, WEBHOOK_URL, ConformanceSettings, compose
from simulator.conformance.shapes import ShapeJudge
from simulator.contract.files import contract_file, contracts_directory, strict_document
from simulator.engine.text.json import Shown

CONTROL_EXAMPLES = 3
CONTROL_PHASES = ("examples", "coverage", "fuzzing")

LEFT_OUT = {
    "stream": "it does not end",
    "wait_for_event": "it waits in real time",
    "inbox_wait": "it waits in real time",
    "advance": "a generated span takes the clock through years of timers",
    "put_clock": "the same, and a clock that runs by itself makes no two runs alike",
    "put_state": "it puts another world in the place of the one that is judged",
    "delete_world": "it ends the world that is judged",
    "openapi_json": "it is longer than what the record of a run keeps",
}
"""Operations of the control interface that are not called, and why."""


class Unusable(Exception):
    """The run could not be made; the text says why."""


async def fuzz(
    report: Report, contract: Path | None, shapes: ShapeJudge, rulebook: Rulebook,
    told: Callable[[str], None] = nobody,
) -> None:  # fmt: skip
    """Run schemathesis with the contract against the target, and enter what it found. Unusable."""
    settings = report.settings
    arguments: list[str] = []
    if settings.mode == "read-only":
        # Left out rather than chosen: what is chosen by method and by operation would be joined.
        for method in ("POST", "PUT", "PATCH", "DELETE"):
            arguments += ["--exclude-method", method]
    for operation in settings.operations:
        arguments += ["--include-operation-id", operation]
    config = compose(contract_file("schemathesis.toml").decode(), settings)
    run = _schemathesis(settings, contract, settings.base_url, config, settings.phases, arguments, told)
    async with run as (summary, calls):
        told("reading what schemathesis has found")
        if summary["operations"]["selected"] == 0:
            raise Unusable(f"the contract has no operation {' or '.join(settings.operations)} to run in this mode")
        await asyncio.to_thread(read_outcome, report, summary, calls, shapes, rulebook)


async def fuzz_control(report: Report, origin: str, told: Callable[[str], None] = nobody) -> None:
    """Run schemathesis with the contract of the control interface against a simulator of its own. Unusable."""
    settings = report.settings
    config = (
        f"seed = {settings.seed}\ncontinue-on-failure = true\nrequest-timeout = 30\n"
        f'suppress-health-check = ["all"]\nhooks = "simulator.conformance.control_hooks"\n'
        f'[cache]\nenabled = false\n[generation]\nmax-examples = {CONTROL_EXAMPLES}\ndatabase = "none"\n'
        # The answers are judged from the record of the run. What is refused depends on what there is in the world,
        # which a schema does not know.
        "[checks]\nenabled = false\n[checks.not_a_server_error]\nenabled = true\n"
    )
    arguments = [word for operation in LEFT_OUT for word in ("--exclude-operation-id", operation)]
    document = contracts_directory() / "control.json"
    shapes = ShapeJudge(orjson.loads(document.read_bytes()))
    async with _schemathesis(settings, document, origin, config, CONTROL_PHASES, arguments, told) as (_, calls):
        await asyncio.to_thread(read_control, report, calls, shapes)
    report.notes.append(
        "Not called of the control interface: " + "; ".join(f"{name}, because {why}" for name, why in LEFT_OUT.items())
    )


@asynccontextmanager
async def _schemathesis(
    settings: ConformanceSettings, document: Path | None, url: str, config: str, phases: Sequence[str],
    arguments: Sequence[str], told: Callable[[str], None],
) -> AsyncIterator[tuple[Shown, Path]]:  # fmt: skip
    """One run, without a document that of the interface; gives its summary and the file of its calls."""
    with tempfile.TemporaryDirectory(prefix="rampsim-conform-") as name:
        directory = Path(name)
        (directory / "schemathesis.toml").write_text(config)
        if document is None:
            # It reads JSON in a hundredth of the time that it takes for YAML.
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
        following = asyncio.create_task(_follow(calls, told))
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


async def _follow(calls: Path, told: Callable[[str], None]) -> None:
    """Tell, for as long as it runs, how many calls schemathesis has written down."""
    count = at = 0
    while True:
        told(f"schemathesis: {count:,} calls")
        await asyncio.sleep(_LOOK_EVERY_SECONDS)
        if calls.exists():
            with calls.open("rb") as file:
                file.seek(at)
                more = file.read()
            at, count = at + len(more), count + more.count(b'"status_code"')


def _environment(settings: ConformanceSettings) -> Mapping[str, str]:
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
