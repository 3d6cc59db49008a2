"""`rampsim conform`: checks the simulator, or another server that implements the API, against the contract."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from simulator.cli.output import EXIT_REFUSED, EXIT_UNREACHABLE, EXIT_USAGE, fail, say
from simulator.cli.progress import Line
from simulator.cli.remote import control_on_loopback, is_address, refuse_foreign
from simulator.engine.text.progress import ProgressListener

if TYPE_CHECKING:
    from simulator.conformance.report import Report
    from simulator.conformance.settings import ConformanceSettings, Part

_FILE = click.Path(dir_okay=False, path_type=Path)


@click.command()
@click.option("--target", metavar="URL", help="Base URL that ends with /v1.  [default: a new simulator]")
@click.option(
    "--public-key", metavar="KEY", envvar="RAMPSIM_PUBLIC_KEY", show_envvar=True, help="Public key for the target."
)
@click.option(
    "--secret-key", metavar="KEY", envvar="RAMPSIM_SECRET_KEY", show_envvar=True, help="Secret key for the target."
)
@click.option(
    "--mode",
    type=click.Choice(["read-only", "full"]),
    help="read-only: only GET and the token exchange. full: all operations.  [default: read-only for a "
    "target, else full]",
)
@click.option(
    "--only",
    type=click.Choice(["behaviour", "shapes", "control"]),
    help="Run only the behaviour rules, only schemathesis, or only the control interface tests on a new simulator.",
)
@click.option("--strict", is_flag=True, help="Also fail if the target differs from an assumption.")
@click.option(
    "--control", metavar="URL",
    help="Origin of the target's control interface, or none. If the target is a simulator, a full run controls it, for "
    "example to move the clock.  [default: the target itself, if it is on loopback]",
)  # fmt: skip
@click.option(
    "--control-token",
    metavar="TOKEN",
    envvar="SIMULATOR_CONTROL_TOKEN",
    show_envvar=True,
    help="Control token of that simulator.",
)
@click.option(
    "--seed", metavar="N", type=click.IntRange(min=0), default=1, show_default=True, help="Seed of the generated calls."
)
@click.option(
    "--max-examples",
    metavar="N",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    help="Cases per operation.",
)
@click.option(
    "--rate-limit",
    metavar="auto|LIMIT",
    default="auto",
    show_default=True,
    help="auto: wait as 429 responses require. Otherwise a limit such as 10/s or 100/m.",
)
@click.option("--phase", "phases", multiple=True, type=click.Choice(["examples", "coverage", "fuzzing", "stateful"]),
              help="Only this phase of schemathesis; repeatable.  [default: all]")  # fmt: skip
@click.option("--operation", "operations", metavar="ID", multiple=True,
              help="Run only schemathesis for this operationId; repeatable.  [default: all]")  # fmt: skip
@click.option(
    "--webhook-url", metavar="URL", help="URL for webhook endpoints.  [default: the inbox of the simulator under test]"
)
@click.option(
    "--contract", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Use this contract file."
)
@click.option("--json", "as_json", type=_FILE, help="Write the report as JSON to this file.")
@click.option("--junit", type=_FILE, help="Write a JUnit report to this file.")
@click.option("--report", type=_FILE, help="Also write the report to this file.")
def conform(
    target: str | None, public_key: str | None, secret_key: str | None, mode: str | None, only: Part | None,
    strict: bool, control: str | None, control_token: str | None, seed: int, max_examples: int, rate_limit: str,
    phases: tuple[str, ...], operations: tuple[str, ...], webhook_url: str | None, contract: Path | None,
    as_json: Path | None, junit: Path | None, report: Path | None,
) -> None:  # fmt: skip
    """Check a service against the contract: shapes and behaviour.

    Schemathesis checks shapes. More than 200 rules check behaviour.

    The report separates rules of the specification from assumptions of this contract. Exits with 1 if a rule of the
    specification is broken, or if an operation never returned 2xx. With --strict, it also exits with 1 if the target
    differs from an assumption. The default mode for a --target only reads. Use it for a target that is not yours.
    """
    import asyncio

    from simulator.conformance.fuzzing import Unusable
    from simulator.conformance.running import NoServer, TokenRefused
    from simulator.conformance.settings import PHASES, ConformanceSettings
    from simulator.contract.files import ContractError

    if target is not None and not (public_key and secret_key):
        fail(["--target needs a key pair: --public-key and --secret-key"], EXIT_USAGE)
    if target is not None and not is_address(target):
        fail([f"--target: {target!r} is not an http or https URL"], EXIT_USAGE)
    if control not in (None, "none"):
        refuse_foreign(control)
    for wanted in (report, as_json, junit):
        if wanted is not None and not wanted.absolute().parent.is_dir():
            fail([f"{wanted}: the directory does not exist; create it first"], EXIT_USAGE)
    settings = ConformanceSettings(
        base_url=(target or "").rstrip("/"),
        public_key=(public_key or "") if target else "pk_test_simulator",
        secret_key=(secret_key or "") if target else "sk_test_simulator",
        mode="full" if mode == "full" or (mode is None and target is None) else "read-only",
        seed=seed,
        max_examples=max_examples,
        rate_limit=rate_limit,
        phases=tuple(phase for phase in PHASES if phase in phases) or PHASES,
        operations=operations,
        webhook_url=webhook_url,
        only=only,
        strict=strict,
        control_url=None if control == "none" else control or control_on_loopback(target),
        control_token=control_token,
    )
    if settings.only == "behaviour" and settings.narrowed:
        fail(
            ["--operation and --phase have no effect with `--only behaviour`, which does not run schemathesis"],
            EXIT_USAGE,
        )
    if settings.only == "control" and (target is not None or settings.narrowed):
        fail(["--only control cannot be combined with --target, --operation or --phase"], EXIT_USAGE)
    line = Line()
    try:
        outcome = asyncio.run(_run(settings, contract, _Progress(line)))
    except (Unusable, ContractError) as error:
        fail([str(error)], EXIT_USAGE)
    except NoServer as error:
        fail([str(error)], EXIT_UNREACHABLE)
    except TokenRefused as error:
        fail([str(error)], EXIT_REFUSED)
    finally:
        line.clear()
    text = outcome.readable()
    for path, content in ((report, text), (as_json, outcome.json()), (junit, outcome.junit())):
        if path is not None:
            path.write_text(content, encoding="utf-8")
    say(text, nl=False)
    if not outcome.passed:
        raise SystemExit(EXIT_REFUSED)


class _Progress(ProgressListener[None]):
    """Shows the rule being checked or the number of calls."""

    def __init__(self, line: Line) -> None:
        self._line = line

    def running(self, name: str) -> None:
        self._line.say(name)


async def _run(settings: ConformanceSettings, contract: Path | None, listener: ProgressListener[None]) -> Report:
    from dataclasses import replace

    from simulator.conformance.running import own_simulator, run

    if settings.base_url:
        return await run(settings, contract=contract, listener=listener)
    async with own_simulator() as base_url:
        own = replace(settings, base_url=base_url, control_url=control_on_loopback(base_url), own=True)
        return await run(own, contract=contract, listener=listener)
