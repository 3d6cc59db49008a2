"""`rampsim conform`: the simulator, or any other server that speaks the interface, held against the contract."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import click

from simulator.cli.remote import EXIT_REFUSED, EXIT_UNREACHABLE, EXIT_USAGE, fail

if TYPE_CHECKING:
    from simulator.conformance.outcome import ConformanceResult
    from simulator.conformance.settings import ConformanceSettings

_FILE = click.Path(dir_okay=False, path_type=Path)


@click.command()
@click.option("--target", metavar="URL", help="Base URL that ends with /v1; without it a fresh simulator is started.")
@click.option("--public-key", envvar="RAMPSIM_PUBLIC_KEY", show_envvar=True, help="Public key at the target.")
@click.option("--secret-key", envvar="RAMPSIM_SECRET_KEY", show_envvar=True, help="Secret key at the target.")
@click.option(
    "--mode",
    type=click.Choice(["read-only", "full"]),
    help="read-only: GET and the token exchange; full: everything.  [default: read-only at a target, else full]",
)
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="The same seed, the same calls.")
@click.option("--max-examples", type=click.IntRange(min=1), default=20, show_default=True, help="Cases per operation.")
@click.option(
    "--rate-limit", default="auto", show_default=True, help="auto: wait as 429 says; or 10/s, 100/m, 1000/h at most."
)
@click.option("--phase", "phases", multiple=True, type=click.Choice(["examples", "coverage", "fuzzing", "stateful"]),
              help="Only this phase; repeatable.  [default: all]")  # fmt: skip
@click.option("--operation", "operations", multiple=True, help="Only this operationId; repeatable.  [default: all]")
@click.option("--webhook-url", help="Where webhook endpoints point; else the inbox of the simulator under test.")
@click.option("--contract", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Another contract file.")
@click.option("--junit", type=_FILE, help="Write JUnit XML here.")
@click.option("--report", type=_FILE, help="Write the report here too.")
def conform(
    target: str | None, public_key: str | None, secret_key: str | None, mode: str | None, seed: int, max_examples: int,
    rate_limit: str, phases: tuple[str, ...], operations: tuple[str, ...], webhook_url: str | None,
    contract: Path | None, junit: Path | None, report: Path | None,
) -> None:  # fmt: skip
    """Run schemathesis with the contract and report what is not as written, with a curl line for each finding.

    Against a target that is not yours, start with the default mode: it reads only. Needs the package schemathesis.
    Exit code 1 when something does not conform.
    """
    from simulator.conformance.running import NoServer, TokenRefused, Unusable
    from simulator.conformance.settings import PHASES, ConformanceSettings

    if target is not None and not (public_key and secret_key):
        fail(["--target needs a key pair: --public-key and --secret-key"], EXIT_USAGE)
    if target is not None and not target.startswith(("http://", "https://")):
        fail([f"--target: {target!r} is no http or https address"], EXIT_USAGE)
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
    )
    try:
        outcome = asyncio.run(_run(settings, contract, junit))
    except Unusable as error:
        fail([str(error)], EXIT_USAGE)
    except NoServer as error:
        fail([str(error)], EXIT_UNREACHABLE)
    except TokenRefused as error:
        fail([str(error)], EXIT_REFUSED)
    text = outcome.readable()
    if report is not None:
        report.write_text(text, encoding="utf-8")
    click.echo(text, nl=False)
    if not outcome.passed:
        raise SystemExit(EXIT_REFUSED)


async def _run(settings: ConformanceSettings, contract: Path | None, junit: Path | None) -> ConformanceResult:
    from dataclasses import replace

    from simulator.conformance.running import own_simulator, run

    if settings.base_url:
        return await run(settings, contract=contract, junit=junit)
    async with own_simulator() as base_url:
        return await run(replace(settings, base_url=base_url), contract=contract, junit=junit)
