"""`rampsim certify`: tests a webhook receiver rule by rule."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from simulator.cli.output import EXIT_REFUSED, EXIT_UNREACHABLE, EXIT_USAGE, fail, say
from simulator.cli.progress import Line
from simulator.cli.remote import is_address, refuse_foreign
from simulator.engine.clients.address import listening
from simulator.engine.text.progress import ProgressListener

if TYPE_CHECKING:
    from simulator.certification.report import Result

_FILE = click.Path(dir_okay=False, path_type=Path)
BOOKS = (
    "For each order, they list the reference, the state, the amount that the customer received, and the "
    "currency. A URL or command that "
    "returns JSON lines or CSV, a CSV file, a function MODULE:FUNCTION, or 'sqlite:///FILE#SELECT reference, state, "
    "amount, currency FROM orders'."
)
"""The help for `--books`, used here and in explore."""


@click.command()
@click.argument("url")
@click.option("--webhook-key", metavar="KEY", default="whk_test_simulator", envvar="SIMULATOR_WEBHOOK_KEY",
              show_envvar=True, show_default=True, help="The webhook key of the receiver.")  # fmt: skip
@click.option("--only", metavar="RULE", multiple=True, help="Check only this rule; repeatable.")
@click.option("--skip", metavar="RULE", multiple=True, help="Skip this rule; repeatable.")
@click.option("--books", metavar="SOURCE", help=f"The books of the receiver's application. {BOOKS}")
@click.option("--order", metavar="COMMAND",
              help="A command that makes the application create an onramp and prints its transaction id. Needed if the "
              "books contain only the application's own orders. An exhaustive run passes the kind in "
              "SIMULATOR_ORDER_KIND.")  # fmt: skip
@click.option("--settle", metavar="COMMAND",
              help="Reconciliation job to run before the books are read.")  # fmt: skip
@click.option("--quiesce", metavar="COMMAND|URL",
              help="Check whether the application's own queue is empty: a command (exit code 0) or a URL (2xx). "
              "Certify waits for it before it reads the books.")  # fmt: skip
@click.option("--json", "as_json", metavar="FILE", type=_FILE, help="Write the report as JSON to this file.")
@click.option("--junit", metavar="FILE", type=_FILE, help="Write a JUnit report to this file.")
@click.option("--exhaustive", is_flag=True,
              help="Deliver the events of whole flows in every order and compare the books at the end of each. Without "
              "--books, only responses are judged. Rules are then tested only if --only names them.")  # fmt: skip
@click.option("--flow", metavar="FLOW", default="all", show_default=True,
              help="Flow to play, or all. An unknown name lists the flows.")  # fmt: skip
@click.option(
    "--events",
    metavar="N",
    type=click.IntRange(1, 9),
    default=5,
    show_default=True,
    help="Number of events in a flow. One more adds an event of an unknown type.",
)
@click.option("--copies", metavar="C", type=click.IntRange(1, 9), default=2, show_default=True,
              help="How often each event may arrive.")  # fmt: skip
@click.option("--snapshot", metavar="COMMAND", help="A command that saves the application's state to $SNAPSHOT.")
@click.option("--restore", metavar="COMMAND", help="A command that restores the application's state from $SNAPSHOT.")
@click.option("--state", metavar="FILE", type=_FILE,
              help="The application's SQLite file, to save and restore its state without commands.")  # fmt: skip
@click.option("--budget", metavar="TIME", default="5m", show_default=True, help="Time limit of an exhaustive run.")
@click.option("--simulator", metavar="URL", envvar="SIMULATOR_URL", show_envvar=True,
              help="A running simulator from which the receiver fetches objects.  [default: the simulator "
                   "at the default "
              "address, started if none is running]")  # fmt: skip
@click.option(
    "--control-token",
    metavar="TOKEN",
    envvar="SIMULATOR_CONTROL_TOKEN",
    show_envvar=True,
    help="Control token of that simulator.",
)
def certify(
    url: str, webhook_key: str, only: tuple[str, ...], skip: tuple[str, ...], books: str | None, order: str | None,
    settle: str | None, quiesce: str | None, as_json: Path | None, junit: Path | None, exhaustive: bool, flow: str,
    events: int, copies: int, snapshot: str | None, restore: str | None, state: Path | None, budget: str,
    simulator: str | None, control_token: str | None,
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

    from simulator.certification.exhaustive.running import Bound
    from simulator.certification.running import Settings
    from simulator.certification.running import certify as examine
    from simulator.certification.session import NothingAnswers
    from simulator.certification.sources import Unusable
    from simulator.certification.stage import NoStage

    _refuse_usage(url, simulator, only, skip, (as_json, junit))
    for option, given in (("--settle", settle), ("--quiesce", quiesce)):
        if given is not None and books is None:
            fail([f"{option} has no effect without --books: it runs before the books are read"], EXIT_USAGE)
    bound = None
    if not exhaustive:
        context = click.get_current_context()
        for name in ("flow", "events", "copies", "snapshot", "restore", "state", "budget"):
            if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
                fail([f"--{name} needs --exhaustive"], EXIT_USAGE)
    else:
        _refuse_exhaustive_usage(flow, snapshot, restore, state)
        seconds = seconds_of("--budget", budget)
        bound = Bound(books, flow, events, copies, settle, quiesce, snapshot, restore, state, seconds)
    usual = listening(os.environ)
    settings = Settings(
        url,
        webhook_key,
        usual,
        simulator=simulator,
        control_token=control_token,
        only=only,
        skip=skip,
        books=books,
        order=order,
        settle=settle,
        quiesce=quiesce,
        exhaustive=bound,
    )
    line = Line()
    try:
        report = asyncio.run(examine(settings, _Progress(line)))
    except NothingAnswers as error:
        fail([f"no receiver responds at {url}: {error}", "start the receiver, and pass its full URL"], EXIT_UNREACHABLE)
    except NoStage as error:
        fail(str(error).splitlines(), EXIT_UNREACHABLE if error.unreachable else EXIT_REFUSED)
    except Unusable as error:
        fail([str(error)], EXIT_USAGE)
    finally:
        line.clear()
    for path, content in ((as_json, report.json()), (junit, report.junit())):
        if path is not None:
            path.write_text(content, encoding="utf-8")
    say(report.readable(), nl=False)
    if report.exit_code:
        raise SystemExit(report.exit_code)


class _Progress(ProgressListener["Result"]):
    """Prints the first lines of the report, the current rule, and each result."""

    def __init__(self, line: Line) -> None:
        self._line = line

    def noted(self, note: str) -> None:
        say(f"{note}\n")

    def running(self, name: str) -> None:
        self._line.say(f"testing {name}")

    def ended(self, result: Result) -> None:
        self._line.above(result.line)


def seconds_of(option: str, given: str) -> float:
    """Return the number of seconds in a duration such as 10m. `certify` and `explore` use this function."""
    from simulator.kernel.clock import parse_duration

    try:
        seconds = parse_duration(given) / 1000
    except ValueError as error:
        fail([f"{option}: {error}"], EXIT_USAGE)
    if seconds <= 0:
        fail([f"{option}: {given!r} is not a positive duration such as 10m"], EXIT_USAGE)
    return seconds


def _refuse_exhaustive_usage(flow: str, snapshot: str | None, restore: str | None, state: Path | None) -> None:
    from simulator.engine.text.strict import did_you_mean
    from simulator.service import TOOLING

    flows = (*(one.name for one in TOOLING.playbook().flows), "all")
    if flow not in flows:
        fail([f"--flow: unknown flow `{flow}`{did_you_mean(flow, flows)} ({', '.join(flows)})"], EXIT_USAGE)
    if (snapshot is None) != (restore is None):
        fail(["--snapshot and --restore must be used together"], EXIT_USAGE)
    if state is not None and snapshot is not None:
        fail(["--state replaces --snapshot and --restore: give one or the other"], EXIT_USAGE)
    if state is not None and not state.is_file():
        fail([f"--state: {state} does not exist"], EXIT_USAGE)


def _refuse_usage(
    url: str, simulator: str | None, only: tuple[str, ...], skip: tuple[str, ...], files: tuple[Path | None, ...]
) -> None:
    from simulator.certification.rules import NAMES
    from simulator.engine.text.strict import did_you_mean

    if not is_address(url):
        fail([f"{url!r} is not the URL of a receiver, such as http://127.0.0.1:5000/webhooks"], EXIT_USAGE)
    if simulator is not None and not is_address(simulator):
        fail([f"--simulator: {simulator!r} is not an http or https URL"], EXIT_USAGE)
    if simulator is not None:
        refuse_foreign(simulator)
    for option, names in (("--only", only), ("--skip", skip)):
        for name in names:
            if name not in NAMES:
                fail([f"{option}: unknown rule `{name}`{did_you_mean(name, NAMES)} ({', '.join(NAMES)})"], EXIT_USAGE)
    if only and not set(only) - set(skip):
        fail(["--skip excludes every rule that --only selects; name other rules"], EXIT_USAGE)
    for wanted in files:
        if wanted is not None and not wanted.absolute().parent.is_dir():
            fail([f"{wanted}: the directory does not exist; create it first"], EXIT_USAGE)
