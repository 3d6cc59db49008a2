"""`rampsim conform`: checks the simulator, or another server that implements the API, against the contract."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simulator.cli.options import control_token, key_pair, option, target_keys
from simulator.cli.output import Exit, exits, fail, require_writable, say, write_file
from simulator.cli.progress import Line, Running
from simulator.cli.remote import control_on_loopback, is_address, refuse_foreign
from simulator.contract import files
from simulator.engine.text.progress import ProgressListener

if TYPE_CHECKING:
    from simulator.conformance.report import Report
    from simulator.conformance.settings import ConformanceSettings

_FILE = click.Path(dir_okay=False, path_type=Path)


@click.command()
@option("--target", metavar="URL", help="Base URL that ends with /v1.  [default: a new simulator]")
@target_keys
@option(
    "--mode",
    type=click.Choice(["read-only", "full"]),
    help="read-only: only GET and the token exchange. full: all operations.  [default: read-only for a "
    "target, else full]",
)
@option(
    "--only",
    type=click.Choice(["behaviour", "shapes", "control"]),
    help="Run only the behaviour rules, only schemathesis, or only the control interface tests on a new simulator.",
)
@option("--strict", is_flag=True, help="Also fail if the target differs from an assumption.")
@option("--control", metavar="URL",
        help="Origin of the target's control interface, or none. If the target is a simulator, a full run controls it, "
             "for example to move the clock.  [default: the target itself, if it is on loopback]")  # fmt: skip
@control_token
@option("--seed", metavar="N", type=click.IntRange(min=0), default=1, help="Seed of the generated calls.")
@option("--max-examples", metavar="N", type=click.IntRange(min=1), default=20, help="Cases per operation.")
@option(
    "--rate-limit",
    metavar="auto|LIMIT",
    default="auto",
    help="auto: wait as 429 responses require. Otherwise a limit such as 10/s or 100/m.",
)
@option("--phase", "phases", multiple=True, type=click.Choice(["examples", "coverage", "fuzzing", "stateful"]),
        help="Only this phase of schemathesis; repeatable.  [default: all]")  # fmt: skip
@option("--operation", "operations", metavar="ID", multiple=True,
        help="Run only schemathesis for this operationId; repeatable.  [default: all]")  # fmt: skip
@option(
    "--webhook-url", metavar="URL", help="URL for webhook endpoints.  [default: the inbox of the simulator under test]"
)
@option("--contract", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Use this contract file.")
@option("--json", "as_json", type=_FILE, help="Write the report as JSON to this file.")
@option("--junit", type=_FILE, help="Write a JUnit report to this file.")
@option("--report", type=_FILE, help="Also write the report to this file.")
def conform(
    target: str | None, public_key: str | None, secret_key: str | None, mode: str | None, control: str | None,
    phases: tuple[str, ...], contract: Path | None, as_json: Path | None, junit: Path | None, report: Path | None,
    **given: Any,
) -> None:  # fmt: skip
    """Check a service against the contract: shapes and behaviour.

    Schemathesis checks shapes. More than 200 rules check behaviour.

    The report separates rules of the specification from assumptions of this contract. Exits with 1 if a rule of the
    specification is broken, or if an operation never returned 2xx. With --strict, it also exits with 1 if the target
    differs from an assumption. The default mode for a --target only reads. Use it for a target that is not yours.
    """
    import asyncio

    from simulator.conformance import fuzzing, running, settings

    pair = ("pk_test_simulator", "sk_test_simulator") if target is None else key_pair(public_key, secret_key)
    if target is not None and not is_address(target):
        fail(f"--target: {target!r} is not an http or https URL")
    if control not in (None, "none"):
        refuse_foreign(control)
    require_writable(report, as_json, junit)
    order = settings.ConformanceSettings(
        (target or "").rstrip("/"), *pair,
        mode="full" if mode == "full" or (mode is None and target is None) else "read-only",
        phases=tuple(phase for phase in settings.PHASES if phase in phases) or settings.PHASES,
        control_url=None if control == "none" else control or control_on_loopback(target), **given,
    )  # fmt: skip
    if order.only == "behaviour" and order.narrowed:
        fail("--operation and --phase have no effect with `--only behaviour`, which does not run schemathesis")
    if order.only == "control" and (target is not None or order.narrowed):
        fail("--only control cannot be combined with --target, --operation or --phase")
    line = Line()
    try:
        with (
            exits(fuzzing.Unusable, files.ContractError),
            exits(running.NoServer, code=Exit.UNREACHABLE),
            exits(running.TokenRefused, code=Exit.REFUSED),
        ):
            outcome = asyncio.run(_run(order, contract, Running(line)))
    finally:
        line.clear()
    text = outcome.readable()
    for path, content in ((report, text), (as_json, outcome.json()), (junit, outcome.junit())):
        write_file(path, content)
    say(text, nl=False)
    if not outcome.passed:
        raise SystemExit(Exit.REFUSED)


async def _run(order: ConformanceSettings, contract: Path | None, listener: ProgressListener[None]) -> Report:
    from simulator.conformance import running

    if order.base_url:
        return await running.run(order, contract=contract, listener=listener)
    async with running.own_simulator() as base_url:
        own = replace(order, base_url=base_url, control_url=control_on_loopback(base_url), own=True)
        return await running.run(own, contract=contract, listener=listener)
