"""`rampsim certify`: tests a webhook receiver, rule by rule."""

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


@click.command()
@click.argument("url")
@click.option("--webhook-key", metavar="KEY", default="whk_test_simulator", envvar="SIMULATOR_WEBHOOK_KEY",
              show_envvar=True, show_default=True, help="The webhook key of the receiver.")  # fmt: skip
@click.option("--only", metavar="RULE", multiple=True, help="Only this rule; repeatable.")
@click.option("--skip", metavar="RULE", multiple=True, help="Not this rule; repeatable.")
@click.option("--books", metavar="SOURCE",
              help="The books of the application: reference, state, amount that the customer received, and currency "
              "of each order. A URL or command that returns JSON lines or CSV, a CSV file, a function MODULE:FUNCTION, "
              "or 'sqlite:///FILE#SELECT reference, state, amount, currency FROM orders'.")  # fmt: skip
@click.option("--order", metavar="COMMAND",
              help="Lets the application create an order, an onramp that awaits its payment, and prints the id of the "
              "transaction. For books that list only orders of the application.")  # fmt: skip
@click.option("--settle", metavar="COMMAND",
              help="Job to run before the books are read, which processes missed events.")  # fmt: skip
@click.option("--json", "as_json", metavar="FILE", type=_FILE, help="Write the report as JSON here.")
@click.option("--junit", metavar="FILE", type=_FILE, help="Write JUnit XML here.")
@click.option("--simulator", metavar="URL", envvar="SIMULATOR_URL", show_envvar=True,
              help="A running simulator from which the receiver reads objects.  [default: the one at its default "
              "address; started if none is running]")  # fmt: skip
@click.option("--control-token", envvar="SIMULATOR_CONTROL_TOKEN", show_envvar=True, help="Token of that simulator.")
def certify(
    url: str, webhook_key: str, only: tuple[str, ...], skip: tuple[str, ...], books: str | None, order: str | None,
    settle: str | None, as_json: Path | None, junit: Path | None, simulator: str | None, control_token: str | None,
) -> None:  # fmt: skip
    """Test the webhook receiver at URL, rule by rule.

    Does it accept genuine events, refuse forged ones, and count each once?

    Each rule rests on a clause of the specification. The receiver gets requests exactly as the service sends them, and
    forged ones. It needs no registration. It must verify with --webhook-key. If it reads the objects of events, it
    must read them from the simulator that the first lines name.

    With --books, the booked money is checked, too. Each payment of the run has a `reference`, which is the `order` of
    a line. `amount` is what the customer received, 0 unless the payment is completed.

    Exit codes: 0 all rules hold, 1 a rule does not, 2 wrong usage, 3 no receiver or simulator.
    """
    import asyncio

    from simulator.certification.running import Settings
    from simulator.certification.running import certify as examine
    from simulator.certification.session import NothingAnswers
    from simulator.certification.sources import Unusable
    from simulator.certification.stage import NoStage

    _refuse_usage(url, simulator, only, skip, (as_json, junit))
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
    )
    line = Line()
    try:
        report = asyncio.run(
            examine(
                settings,
                _Progress(line),
            )
        )
    except NothingAnswers as error:
        fail([f"no receiver at {url}: {error}", "start the receiver, and check the URL"], EXIT_UNREACHABLE)
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
    if not report.certified:
        raise SystemExit(EXIT_REFUSED)


class _Progress(ProgressListener["Result"]):
    """Prints the head of the report, the current rule, and each result."""

    def __init__(self, line: Line) -> None:
        self._line = line

    def noted(self, note: str) -> None:
        say(f"{note}\n")

    def running(self, name: str) -> None:
        self._line.say(f"playing {name}")

    def ended(self, result: Result) -> None:
        self._line.above(result.line)


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
        fail(["--skip excludes all rules of --only"], EXIT_USAGE)
    for wanted in files:
        if wanted is not None and not wanted.absolute().parent.is_dir():
            fail([f"{wanted}: the directory does not exist"], EXIT_USAGE)
