"""`rampsim explore`: runs an integrator's tests under faults and checks the money."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from simulator.cli.output import EXIT_REFUSED, EXIT_USAGE, fail, say
from simulator.cli.progress import Progress
from simulator.cli.tools.certifying import BOOKS, seconds_of
from simulator.engine.text.progress import ProgressListener
from simulator.engine.text.reports import counted

if TYPE_CHECKING:
    from simulator.exploration.judgement.causes import Judged
    from simulator.exploration.runs.aftermath import Hooks

EXIT_SUITE_FAILS = 4
EXIT_BY_SIGNAL = 128
"""Added to the signal number to get the exit code, as in shells."""
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command(context_settings={"ignore_unknown_options": False})
@click.option(
    "--plan",
    type=click.Choice(["quick", "pair", "full", "orders", "pairs-of-faults"]),
    default="pair",
    show_default=True,
    help="quick: each class once per operation, event type and transaction type. pair: the same in each test, at the "
    "first and last occurrence. full: at every occurrence. orders: deliveries in every order and multiplicity. "
    "pairs-of-faults: two faults that affect the same order.",
)
@click.option("--faults", metavar="CLASS,…", help="Only these classes of faults.")
@click.option("--copies", type=click.IntRange(1, 5), default=2, show_default=True,
              help="With `--plan orders`: the largest number of copies of a delivery.")  # fmt: skip
@click.option("--budget", metavar="TIME", help="Time limit, such as 10m. The runs with the most coverage come first.")
@click.option("--books", metavar="SOURCE", help=f"Your books. {BOOKS}")
@click.option(
    "--settle",
    "settles",
    metavar="COMMAND|none|before|after",
    multiple=True,
    help="Your reconciliation job: a command, or a function MODULE:FUNCTION. May be given twice, the second time with "
    "`none` (the job never runs), `before` (judge before and after it) or `after` (the default).",
)
@click.option(
    "--quiesce",
    metavar="COMMAND|URL",
    help="Check whether your application's own queue is empty: a command (exit code 0) or a URL (2xx). Explore "
    "runs it before it reads your books.",
)
@click.option(
    "--app",
    metavar="COMMAND",
    help="Command that starts your application for each run. It must listen on the port in PORT. The class "
    "crash-of-process kills it.",
)
@click.option("--during", is_flag=True, help="Also read the books during the test, whenever an order's state changes.")
@click.option(
    "--tolerate",
    metavar="DURATION",
    help="With --during: the simulated time for which books may disagree, such as 5m.  [default: 0]",
)
@click.option("--seed", metavar="N", type=int, default=1, show_default=True, help="Seed of the worlds.")
@click.option(
    "--workers", metavar="N", type=click.IntRange(1, 64), help="Number of concurrent runs.  [default: one per core]"
)
@click.option("--limit", metavar="TIME", help="Time after which a test counts as `hung`, such as 30s.  "
                                              "[default: 15s plus "
              "five times its duration without faults]")  # fmt: skip
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), default=Path(".rampsim/explore"),
              show_default=True, help="Directory for the reports.")  # fmt: skip
@click.option(
    "--baseline", metavar="FILE", type=_FILE, help="An earlier report.json. Only new findings make the command fail."
)
@click.option(
    "--replay",
    metavar="RUN",
    help="Repeat only this run: a finding by its id or file, any other run by its id.",
)
@click.option(
    "--prove",
    metavar="PATCH",
    type=_FILE,
    help="With --replay: check in a copy of the current directory whether this patch fixes the finding.",
)
@click.option(
    "--assumptions",
    is_flag=True,
    help="Instead of faults, switch one assumption at a time. Reports the assumptions that your tests depend on, and "
    "what to ask before you go live. Depending on an assumption is not a finding, so the exit code is 0.",
)
@click.argument("command", nargs=-1, required=True, metavar="-- COMMAND...")
def explore(
    plan: str, copies: int, faults: str | None, budget: str | None, books: str | None, settles: tuple[str, ...],
    quiesce: str | None, app: str | None, during: bool, tolerate: str | None,
    seed: int, workers: int | None, limit: str | None,
    out: Path, baseline: Path | None, replay: str | None, prove: Path | None, assumptions: bool,
    command: tuple[str, ...],
) -> None:  # fmt: skip
    """Run your tests under one fault at a time and check the money.

    COMMAND runs your tests. It is repeated with one fault at a time. The money after each run is compared with the
    money after a run without faults.

    COMMAND is pytest, or any program that reads SIMULATOR_URL, SIMULATOR_PUBLIC_KEY, SIMULATOR_SECRET_KEY and
    SIMULATOR_WEBHOOK_KEY. After each test, the fault is removed, --settle runs, four simulated days pass, --settle runs
    again, and --books is read. The commands of --settle and --books can use the same variables.

    Exit codes: 0 no finding, 1 findings, 2 wrong usage, 4 the tests fail without faults.
    """
    from simulator.exploration import flipping
    from simulator.exploration.catalogue import CLASSES
    from simulator.exploration.exploring import Hosts, Settings
    from simulator.exploration.exploring import explore as run
    from simulator.exploration.proving import prove as try_out
    from simulator.exploration.reports import questions, report
    from simulator.exploration.runs.running import StopExploring, SuiteBroken

    if assumptions:
        _nothing_about_faults()
    if prove is not None and replay is None:
        fail(["--prove checks whether a patch fixes a finding. Name the finding with --replay"], EXIT_USAGE)
    try:
        found = None if replay is None else report.read_run(replay, out)
        known = {} if baseline is None else report.known_findings(baseline)
    except report.NoFinding as error:
        fail([str(error)], EXIT_USAGE)
    settings = Settings(
        command,
        plan,
        _classes(faults, tuple(CLASSES)),
        _seconds("--budget", budget),
        replace(_hooks(settles, books, quiesce), app=app, tolerated_ms=_tolerated(during, tolerate, command)),
        seed,
        workers or os.cpu_count() or 1,
        found,
        _seconds("--limit", limit),
        click.get_current_context().find_object(Hosts) or Hosts(),  # a Python caller can pass its own hosts
        copies,
    )
    progress = Progress()
    signal.signal(signal.SIGTERM, _terminated)
    try:
        if prove is not None:
            proof = try_out(settings, prove)
            say(proof.said)
            raise SystemExit(0 if proof.mended else EXIT_REFUSED)
        if assumptions:
            flipped = flipping.flip_all(settings, _FlipProgress(progress))
            say(questions.summary(flipped, questions.write(flipped, out)), nl=False)
            return
        explored = run(settings, _RunProgress(progress))
    except KeyboardInterrupt as stop:
        progress.end()
        number = stop.args[0] if stop.args else signal.SIGINT
        fail(["interrupted: all runs were stopped and no report was written"], EXIT_BY_SIGNAL + number)
    except SuiteBroken as error:
        fail(str(error).splitlines(), EXIT_SUITE_FAILS)
    except StopExploring as error:
        fail([str(error)], EXIT_USAGE)
    finally:
        progress.end()
    if replay is None:
        report.write(explored, out, known)
    say(report.summary(explored, out, known), nl=False)
    if report.Compared.of(explored, known).new:
        raise SystemExit(EXIT_REFUSED)


def _terminated(number: int, frame: object) -> NoReturn:
    """Handle SIGTERM like Ctrl-C."""
    raise KeyboardInterrupt(number)


class _RunProgress(ProgressListener["Judged"]):
    """Prints the progress of runs with faults."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._causes: set[object] = set()

    def began(self, count: int) -> None:
        say(f"{counted(count, 'test')}, first run twice without faults.", err=True)

    def planned(self, runs: int, seconds: float, left_out: int) -> None:
        left = f" {counted(left_out, 'run exceeds', 'runs exceed')} the budget." if left_out else ""
        say(f"{counted(runs, 'run')}, about {seconds:.0f} s.{left}")
        self._progress.begin(runs)

    def noted(self, note: str) -> None:
        say(f"Note: {note}.")

    def ended(self, result: Judged) -> None:
        run = result.run
        if result.verdict.is_finding and not self._is_known(result):
            at = f"{run.fault} at {run.site}" if run.site else "no fault"
            self._progress.found(f"{result.verdict.verdict} in {run.test} under {at} ({run.id})")
        if run.site:
            self._progress.ran()

    def _is_known(self, one: Judged) -> bool:
        """Return True if an earlier finding has the same cause."""
        from simulator.exploration.judgement.causes import key_of

        cause = key_of(one)
        known = cause in self._causes
        self._causes.add(cause)
        return known


class _FlipProgress(ProgressListener[None]):
    """Prints the progress of runs with alternative assumptions."""

    def __init__(self, progress: Progress) -> None:
        self._progress, self._tests = progress, 1

    def began(self, count: int) -> None:
        self._tests = count

    def planned(self, runs: int, seconds: float, left_out: int) -> None:
        left = f" {counted(left_out, 'alternative exceeds', 'alternatives exceed')} the budget." if left_out else ""
        alternatives = f"{runs // self._tests} alternatives, {runs} runs ({self._tests} each)"
        say(f"{alternatives}, about {seconds:.0f} s.{left}")
        self._progress.begin(runs)

    def ended(self, result: None) -> None:
        self._progress.ran()


_OF_FINDINGS = ("faults", "baseline", "replay", "prove")
_OF_FAULTS = ("plan", "books", "settles")


def _nothing_about_faults() -> None:
    """Refuse `--assumptions` in combination with options that need faults, and warn about options without effect."""
    context = click.get_current_context()
    given = [
        name
        for name in context.params
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE and context.params[name]
    ]
    for name in given:
        if name in _OF_FINDINGS:
            fail([f"--assumptions runs the tests without faults, so it cannot be combined with --{name}"],
                 EXIT_USAGE)  # fmt: skip
    for name in given:
        if name in _OF_FAULTS:
            option = "settle" if name == "settles" else name
            say(f"--{option} has no effect with --assumptions.", err=True)


def _hooks(settles: tuple[str, ...], books: str | None, quiesce: str | None) -> Hooks:
    """Return the integrator's hooks. `--settle` can be given twice: with the name of a mode, and with a command."""
    from simulator.exploration.runs.aftermath import MODES, Hooks

    modes = [one for one in settles if one in MODES]
    jobs = [one for one in settles if one not in MODES]
    for name, given in (("modes", modes), ("commands", jobs)):
        if len(given) > 1:
            said = f"--settle has two {name}, {given[0]!r} and {given[1]!r}"
            fail([f"{said}: give one command and one of {', '.join(MODES)}"], EXIT_USAGE)
    return Hooks(jobs[0] if jobs else None, books, mode=modes[0] if modes else Hooks.mode, quiesce=quiesce)


def _tolerated(during: bool, tolerate: str | None, command: tuple[str, ...]) -> int | None:
    """Return how long the integrator's books may differ from the ledger, in simulated milliseconds.

    Return None without `--during`.
    """
    from simulator.exploration.runs.running import executable, is_pytest

    if not during:
        if tolerate is not None:
            fail(["--tolerate sets how long books may disagree during a test. Use it with --during"], EXIT_USAGE)
        return None
    if not is_pytest(executable(command)):
        fail(
            [f"--during needs pytest as the command, not {command[0]!r}: explore can follow the clock only in pytest"],
            EXIT_USAGE,
        )
    if tolerate in (None, "0", "0s"):
        return 0
    return round(1000 * (_seconds("--tolerate", tolerate) or 0))


def _classes(given: str | None, known: tuple[str, ...]) -> tuple[str, ...]:
    """Return the requested fault classes in catalogue order."""
    from simulator.engine.text.strict import did_you_mean

    if given is None:
        return known
    names = [name.strip() for name in given.split(",") if name.strip()]
    for name in names:
        if name not in known:
            said = f"--faults: unknown class {name!r}{did_you_mean(name, known)} ({', '.join(known)})"
            fail([said, "`rampsim docs reference/explore` explains the classes"], EXIT_USAGE)
    if not names:
        fail(["--faults is empty: name at least one class"], EXIT_USAGE)
    return tuple(name for name in known if name in names)


def _seconds(option: str, given: str | None) -> float | None:
    """Return the number of seconds in a duration such as 10m, or None if there is no duration."""
    return None if given is None else seconds_of(option, given)
