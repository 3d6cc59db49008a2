"""`rampsim certify`: a webhook receiver examined, rule by rule."""

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
              show_envvar=True, show_default=True, help="The key that the receiver verifies with.")  # fmt: skip
@click.option("--only", metavar="RULE", multiple=True, help="Only this rule; repeatable.")
@click.option("--skip", metavar="RULE", multiple=True, help="Not this rule; repeatable.")
@click.option("--books", metavar="SOURCE",
              help="The books of the receiver's application: of each order its reference, its state, the amount that "
              "the customer received, and its currency. A URL or a command that gives lines of JSON or CSV, a file of "
              "CSV, a function MODULE:FUNCTION, or 'sqlite:///FILE#SELECT reference, state, amount, currency FROM "
              "orders'.")  # fmt: skip
@click.option("--order", metavar="COMMAND",
              help="Has the application make an order, an onramp that waits for its payment, and prints the id of its "
              "transaction: for books that know only what the application ordered itself.")  # fmt: skip
@click.option("--settle", metavar="COMMAND",
              help="Runs before the books are read: a job that picks up what the application has missed.")  # fmt: skip
@click.option("--json", "as_json", metavar="FILE", type=_FILE, help="Write the report as JSON here.")
@click.option("--junit", metavar="FILE", type=_FILE, help="Write JUnit XML here.")
@click.option("--simulator", metavar="URL", envvar="SIMULATOR_URL", show_envvar=True,
              help="A running simulator where the receiver reads objects anew.  [default: the one at its usual "
              "address; one is started there when none runs]")  # fmt: skip
@click.option("--control-token", envvar="SIMULATOR_CONTROL_TOKEN", show_envvar=True, help="Token of that simulator.")
def certify(
    url: str, webhook_key: str, only: tuple[str, ...], skip: tuple[str, ...], books: str | None, order: str | None,
    settle: str | None, as_json: Path | None, junit: Path | None, simulator: str | None, control_token: str | None,
) -> None:  # fmt: skip
    """Examine the webhook receiver at URL, rule by rule.

    Does it take what is genuine, refuse what is forged, and count once?

    Each rule rests on a clause of the specification. The receiver gets requests exactly as the service makes them, and
    forgeries; nothing needs to be registered. It only has to verify with --webhook-key. Where it reads the objects of
    events anew, it finds them at the simulator that the first lines name.

    With --books money is judged too. Each payment of the examination has a `reference`, which is the `order` of the
    lines; `amount` is what the customer received, 0 unless it is completed.

    Exit codes: 0 every rule holds, 1 one does not, 2 wrong usage, 3 nothing answers.
    """
    import asyncio

    from simulator.certification.application import Unusable
    from simulator.certification.examining import NothingAnswers
    from simulator.certification.running import Settings
    from simulator.certification.running import certify as examine
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
        fail([f"nothing answers at {url}: {error}", "start the receiver, and name its whole address"], EXIT_UNREACHABLE)
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
        fail([f"{url!r} is no address of a receiver, like http://127.0.0.1:5000/webhooks"], EXIT_USAGE)
    if simulator is not None and not is_address(simulator):
        fail([f"--simulator: {simulator!r} is no http or https address"], EXIT_USAGE)
    if simulator is not None:
        refuse_foreign(simulator)
    for option, names in (("--only", only), ("--skip", skip)):
        for name in names:
            if name not in NAMES:
                fail(
                    [f"{option}: there is no rule `{name}`{did_you_mean(name, NAMES)} ({', '.join(NAMES)})"], EXIT_USAGE
                )
    if only and not set(only) - set(skip):
        fail(["--skip leaves out all that --only asks for"], EXIT_USAGE)
    for wanted in files:
        if wanted is not None and not wanted.absolute().parent.is_dir():
            fail([f"{wanted}: there is no such directory"], EXIT_USAGE)
