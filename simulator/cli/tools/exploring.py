"""`rampsim explore`: runs an integrator's tests under faults and checks the money."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from simulator.cli.options import is_given, option
from simulator.cli.output import Exit, exits, fail, say
from simulator.cli.progress import Progress
from simulator.cli.tools.certifying import BOOKS, seconds_of
from simulator.engine.text import strict
from simulator.engine.text.progress import ProgressListener
from simulator.engine.text.reports import counted

if TYPE_CHECKING:
    from simulator.exploration.judgement.causes import Judged
    from simulator.exploration.runs.aftermath import Hooks

EXIT_SUITE_FAILS = 4
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command(context_settings={"ignore_unknown_options": False})
@option(
    "--plan",
    type=click.Choice(["quick", "pair", "full", "orders", "pairs-of-faults"]),
    default="pair",
    help="quick: each class once per operation, event type and transaction type. pair: the same in each test, at the "
    "first and last occurrence. full: at every occurrence. orders: deliveries in every order and multiplicity. "
    "pairs-of-faults: two faults that affect the same order.",
)
@option("--faults", metavar="CLASS,…", help="Only these classes of faults.")
@option("--copies", type=click.IntRange(1, 5), default=2,
        help="With `--plan orders`: the largest number of copies of a delivery.")  # fmt: skip
@option("--budget", metavar="TIME", help="Time limit, such as 10m. The runs with the most coverage come first.")
@option("--books", metavar="SOURCE", help=f"Your books. {BOOKS}")
@option(
    "--settle",
    "settles",
    metavar="COMMAND|none|before|after",
    multiple=True,
    help="Your reconciliation job: a command, or a function MODULE:FUNCTION. May be given twice, the second time with "
    "`none` (the job never runs), `before` (judge before and after it) or `after` (the default).",
)
@option(
    "--quiesce",
    metavar="COMMAND|URL",
    help="Check whether your application's own queue is empty: a command (exit code 0) or a URL (2xx). Explore "
    "runs it before it reads your books.",
)
@option(
    "--app",
    metavar="COMMAND",
    help="Command that starts your application for each run. It must listen on the port in PORT. The class "
    "crash-of-process kills it.",
)
@option("--during", is_flag=True, help="Also read the books during the test, whenever an order's state changes.")
@option(
    "--tolerate",
    metavar="DURATION",
    help="With --during: the simulated time for which books may disagree, such as 5m.  [default: 0]",
)
@option("--seed", metavar="N", type=int, default=1, help="Seed of the worlds.")
@option(
    "--workers", metavar="N", type=click.IntRange(1, 64), help="Number of concurrent runs.  [default: one per core]"
)
@option("--limit", metavar="TIME",
        help="Time after which a test counts as `hung`, such as 30s.  [default: 15s plus five times its duration "
             "without faults]")  # fmt: skip
@option("--out", type=click.Path(file_okay=False, path_type=Path), default=Path(".rampsim/explore"),
        help="Directory for the reports.")  # fmt: skip
@option(
    "--baseline", metavar="FILE", type=_FILE, help="An earlier report.json. Only new findings make the command fail."
)
@option("--replay", metavar="RUN", help="Repeat only this run: a finding by its id or file, any other run by its id.")
@option(
    "--prove",
    metavar="PATCH",
    type=_FILE,
    help="With --replay: check in a copy of the current directory whether this patch fixes the finding.",
)
@option(
    "--assumptions",
    is_flag=True,
    help="Instead of faults, switch one assumption at a time. Reports the assumptions that your tests depend on, and "
    "what to ask before you go live. Depending on an assumption is not a finding, so the exit code is 0.",
)
@click.argument("command", nargs=-1, required=True, metavar="-- COMMAND...")
def explore(
    faults: str | None, budget: str | None, books: str | None, settles: tuple[str, ...], quiesce: str | None,
    app: str | None, during: bool, tolerate: str | None, workers: int | None, limit: str | None, out: Path,
    baseline: Path | None, replay: str | None, prove: Path | None, assumptions: bool, command: tuple[str, ...],
    **given: Any,
) -> None:  # fmt: skip
    """Run your tests under one fault at a time and check the money.

    COMMAND runs your tests. It is repeated with one fault at a time. The money after each run is compared with the
    money after a run without faults.

    COMMAND is pytest, or any program that reads SIMULATOR_URL, SIMULATOR_PUBLIC_KEY, SIMULATOR_SECRET_KEY and
    SIMULATOR_WEBHOOK_KEY. After each test, the fault is removed, --settle runs, four simulated days pass, --settle runs
    again, and --books is read. The commands of --settle and --books can use the same variables.

    Exit codes: 0 no finding, 1 findings, 2 wrong usage, 4 the tests fail without faults.
    """
    from simulator.exploration import catalogue, exploring, flipping, proving
    from simulator.exploration.reports import questions
    from simulator.exploration.reports import report as reports
    from simulator.exploration.runs import running

    if assumptions:
        _nothing_about_faults()
    if prove is not None and replay is None:
        fail("--prove checks whether a patch fixes a finding. Name the finding with --replay")
    with exits(reports.NoFinding):
        found = None if replay is None else reports.read_run(replay, out)
        known = {} if baseline is None else reports.known_findings(baseline)
    hooks = replace(_hooks(settles, books, quiesce), app=app, tolerated_ms=_tolerated(during, tolerate, command))
    settings = exploring.Settings(
        command,
        faults=_classes(faults, tuple(catalogue.CLASSES)),
        budget=_seconds("--budget", budget),
        hooks=hooks,
        workers=workers or os.cpu_count() or 1,
        replay=found,
        limit=_seconds("--limit", limit),
        # A Python caller can pass its own hosts.
        hosts=click.get_current_context().find_object(exploring.Hosts) or exploring.Hosts(),
        **given,
    )
    progress = Progress()
    signal.signal(signal.SIGTERM, _terminated)
    try:
        with exits(running.SuiteBroken, code=EXIT_SUITE_FAILS), exits(running.StopExploring):
            if prove is not None:
                proof = proving.prove(settings, prove)
                say(proof.said)
                raise SystemExit(0 if proof.mended else Exit.REFUSED)
            if assumptions:
                flipped = flipping.flip_all(settings, _FlipProgress(progress))
                say(questions.summary(flipped, questions.write(flipped, out)), nl=False)
                return
            explored = exploring.explore(settings, _RunProgress(progress))
    except KeyboardInterrupt as stop:
        progress.end()
        number = stop.args[0] if stop.args else signal.SIGINT
        fail("interrupted: all runs were stopped and no report was written", code=Exit.BY_SIGNAL + number)
    finally:
        progress.end()
    if replay is None:
        reports.write(explored, out, known)
    say(reports.summary(explored, out, known), nl=False)
    if reports.Compared.of(explored, known).new:
        raise SystemExit(Exit.REFUSED)


def _terminated(number: int, frame: object) -> NoReturn:
    """Handle SIGTERM like Ctrl-C."""
    raise KeyboardInterrupt(number)


class _RunProgress(ProgressListener["Judged"]):
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
        from simulator.exploration.judgement.causes import key_of

        run = result.run
        if result.verdict.is_finding and (cause := key_of(result)) not in self._causes:
            self._causes.add(cause)
            at = f"{run.fault} at {run.site}" if run.site else "no fault"
            self._progress.found(f"{result.verdict.verdict} in {run.test} under {at} ({run.id})")
        if run.site:
            self._progress.ran()


class _FlipProgress(ProgressListener[None]):
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
    parameters = click.get_current_context().params
    given = [name for name in parameters if is_given(name) and parameters[name]]
    if clashing := [name for name in given if name in _OF_FINDINGS]:
        fail(f"--assumptions runs the tests without faults, so it cannot be combined with --{clashing[0]}")
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
            fail(f"{said}: give one command and one of {', '.join(MODES)}")
    mode = modes[0] if modes else Hooks.mode
    return Hooks(jobs[0] if jobs else None, books, mode=mode, quiesce=quiesce)


def _tolerated(during: bool, tolerate: str | None, command: tuple[str, ...]) -> int | None:
    """Return how long the integrator's books may differ from the ledger, in simulated milliseconds. Return None without
    `--during`.
    """
    from simulator.exploration.runs.running import executable, is_pytest

    if not during:
        if tolerate is not None:
            fail("--tolerate sets how long books may disagree during a test. Use it with --during")
        return None
    if not is_pytest(executable(command)):
        fail(f"--during needs pytest as the command, not {command[0]!r}: explore can follow the clock only in pytest")
    if tolerate in (None, "0", "0s"):
        return 0
    return round(1000 * (_seconds("--tolerate", tolerate) or 0))


def _classes(given: str | None, known: tuple[str, ...]) -> tuple[str, ...]:
    """Return the requested fault classes in catalogue order."""
    if given is None:
        return known
    names = [name.strip() for name in given.split(",") if name.strip()]
    for name in names:
        if name not in known:
            said = f"--faults: unknown class {name!r}{strict.did_you_mean(name, known)} ({', '.join(known)})"
            fail(said, "`rampsim docs reference/explore` explains the classes")
    if not names:
        fail("--faults is empty: name at least one class")
    return tuple(name for name in known if name in names)


def _seconds(flag: str, given: str | None) -> float | None:
    return None if given is None else seconds_of(flag, given)
