"""`rampsim certify`: tests a webhook receiver rule by rule."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from simulator.certification import report as reports
from simulator.certification import rules, running, session, sources, stage
from simulator.certification.exhaustive import running as exhausting
from simulator.cli.options import control_token, is_given, option
from simulator.cli.output import Exit, exits, fail, require_writable, say, write_file
from simulator.cli.progress import Line, Running
from simulator.cli.remote import is_address, refuse_foreign
from simulator.engine.clients.address import listening
from simulator.engine.text import strict
from simulator.kernel.clock import parse_duration
from simulator.service import TOOLING

_FILE = click.Path(dir_okay=False, path_type=Path)
BOOKS = (
    "For each order, they list the reference, the state, the amount that the customer received, and the currency. "
    "A URL or command that returns JSON lines or CSV, a CSV file, a function MODULE:FUNCTION, or "
    "'sqlite:///FILE#SELECT reference, state, amount, currency FROM orders'."
)
"""The help for `--books`, used here and in explore."""


@click.command()
@click.argument("url")
@option("--webhook-key", metavar="KEY", default="whk_test_simulator", envvar="SIMULATOR_WEBHOOK_KEY",
        help="The webhook key of the receiver.")  # fmt: skip
@option("--only", metavar="RULE", multiple=True, help="Check only this rule; repeatable.")
@option("--skip", metavar="RULE", multiple=True, help="Skip this rule; repeatable.")
@option("--books", metavar="SOURCE", help=f"The books of the receiver's application. {BOOKS}")
@option("--order", metavar="COMMAND",
        help="A command that makes the application create an onramp and prints its transaction id. Needed if the "
             "books contain only the application's own orders. An exhaustive run passes the kind in "
             "SIMULATOR_ORDER_KIND.")  # fmt: skip
@option("--settle", metavar="COMMAND", help="Reconciliation job to run before the books are read.")
@option("--quiesce", metavar="COMMAND|URL",
        help="Check whether the application's own queue is empty: a command (exit code 0) or a URL (2xx). "
             "Certify waits for it before it reads the books.")  # fmt: skip
@option("--json", "as_json", metavar="FILE", type=_FILE, help="Write the report as JSON to this file.")
@option("--junit", metavar="FILE", type=_FILE, help="Write a JUnit report to this file.")
@option("--exhaustive", is_flag=True,
        help="Deliver the events of whole flows in every order and compare the books at the end of each. Without "
             "--books, only responses are judged. Rules are then tested only if --only names them.")  # fmt: skip
@option("--flow", metavar="FLOW", default="all", help="Flow to play, or all. An unknown name lists the flows.")
@option(
    "--events",
    metavar="N",
    type=click.IntRange(1, 9),
    default=5,
    help="Number of events in a flow. One more adds an event of an unknown type.",
)
@option("--copies", metavar="C", type=click.IntRange(1, 9), default=2, help="How often each event may arrive.")
@option("--snapshot", metavar="COMMAND", help="A command that saves the application's state to $SNAPSHOT.")
@option("--restore", metavar="COMMAND", help="A command that restores the application's state from $SNAPSHOT.")
@option("--state", metavar="FILE", type=_FILE,
        help="The application's SQLite file, to save and restore its state without commands.")  # fmt: skip
@option("--budget", metavar="TIME", default="5m", help="Time limit of an exhaustive run.")
@option("--simulator", metavar="URL", envvar="SIMULATOR_URL",
        help="A running simulator from which the receiver fetches objects.  [default: the simulator at the default "
             "address, started if none is running]")  # fmt: skip
@control_token
def certify(
    url: str, webhook_key: str, books: str | None, settle: str | None, quiesce: str | None, as_json: Path | None,
    junit: Path | None, exhaustive: bool, flow: str, events: int, copies: int, snapshot: str | None,
    restore: str | None, state: Path | None, budget: str, **given: Any,
) -> None:  # fmt: skip
    """Test the webhook receiver at URL, rule by rule.

    The rules check that it accepts genuine webhooks, rejects forged ones, and processes each event once.

    Each rule comes from a clause of the specification. The receiver gets requests exactly like those of the service,
    and forged ones. You do not have to register it. It only has to verify signatures with --webhook-key. If it
    fetches the objects of events, it must fetch them from the simulator whose address is printed in the first lines.

    With --books, the money is checked too. Each test payment has a `reference`. The books must contain this `reference`
    as `order`. `amount` is the amount that the customer received. It is 0 unless the order is completed.

    With --exhaustive, the events of each flow arrive in every sequence. Each event arrives up to --copies times, late,
    or not at all. If the application's state cannot be saved, each sequence needs a new payment.

    Exit codes: 0 all rules pass and every sequence was covered, 1 a rule fails or a payment is wrong, 2 wrong usage, 3
    the receiver does not respond, 4 an exhaustive run ended early and has found nothing so far.
    """
    import asyncio

    _refuse_usage(url, **given)
    require_writable(as_json, junit)
    for flag, job in (("--settle", settle), ("--quiesce", quiesce)):
        if job is not None and books is None:
            fail(f"{flag} has no effect without --books: it runs before the books are read")
    bound = None
    if not exhaustive:
        for name in filter(is_given, ("flow", "events", "copies", "snapshot", "restore", "state", "budget")):
            fail(f"--{name} needs --exhaustive")
    else:
        _refuse_exhaustive_usage(flow, snapshot, restore, state)
        seconds = seconds_of("--budget", budget)
        bound = exhausting.Bound(books, flow, events, copies, settle, quiesce, snapshot, restore, state, seconds)
    order = running.Settings(
        url, webhook_key, listening(os.environ), books=books, settle=settle, quiesce=quiesce, exhaustive=bound, **given
    )
    line = Line()
    try:
        with exits(sources.Unusable):
            report = asyncio.run(running.certify(order, _Progress(line)))
    except session.NothingAnswers as error:
        advice = "start the receiver, and pass its full URL"
        fail(f"no receiver responds at {url}: {error}", advice, code=Exit.UNREACHABLE)
    except stage.NoStage as error:
        fail(*str(error).splitlines(), code=Exit.UNREACHABLE if error.unreachable else Exit.REFUSED)
    finally:
        line.clear()
    write_file(as_json, report.json())
    write_file(junit, report.junit())
    say(report.readable(), nl=False)
    if report.exit_code:
        raise SystemExit(report.exit_code)


class _Progress(Running):
    """Prints the first lines of the report, the current rule, and each result."""

    def noted(self, note: str) -> None:
        say(f"{note}\n")

    def running(self, name: str) -> None:
        super().running(f"testing {name}")

    def ended(self, result: reports.Result) -> None:
        self._line.above(result.line)


def seconds_of(flag: str, given: str) -> float:
    """Return the number of seconds in a duration such as 10m. `certify` and `explore` use this function."""
    try:
        seconds = parse_duration(given) / 1000
    except ValueError as error:
        fail(f"{flag}: {error}")
    if seconds <= 0:
        fail(f"{flag}: {given!r} is not a positive duration such as 10m")
    return seconds


def _refuse_exhaustive_usage(flow: str, snapshot: str | None, restore: str | None, state: Path | None) -> None:
    flows = (*(one.name for one in TOOLING.playbook().flows), "all")
    if flow not in flows:
        fail(f"--flow: unknown flow `{flow}`{strict.did_you_mean(flow, flows)} ({', '.join(flows)})")
    if (snapshot is None) != (restore is None):
        fail("--snapshot and --restore must be used together")
    if state is not None and snapshot is not None:
        fail("--state replaces --snapshot and --restore: give one or the other")
    if state is not None and not state.is_file():
        fail(f"--state: {state} does not exist")


def _refuse_usage(url: str, *, simulator: str | None, only: tuple[str, ...], skip: tuple[str, ...], **_: Any) -> None:
    if not is_address(url):
        fail(f"{url!r} is not the URL of a receiver, such as http://127.0.0.1:5000/webhooks")
    if simulator is not None:
        if not is_address(simulator):
            fail(f"--simulator: {simulator!r} is not an http or https URL")
        refuse_foreign(simulator)
    for flag, names in (("--only", only), ("--skip", skip)):
        for name in names:
            if name not in rules.NAMES:
                known = f"{strict.did_you_mean(name, rules.NAMES)} ({', '.join(rules.NAMES)})"
                fail(f"{flag}: unknown rule `{name}`{known}")
    if only and not set(only) - set(skip):
        fail("--skip excludes every rule that --only selects; name other rules")
