"""Which of the planted bugs explore finds, by which classes and in which tests.

    python -m tests.tools.exploration.remittances.found [BUG]...

explores the application once with each bug and prints the table in the README of these tests. Without a bug's name, all
are explored.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import click

from tests.places import ROOT
from tests.tools.exploration.remittances.planted import BUGS
from tests.tools.exploration.suite import PYTEST, Explored, explore

HERE = Path(__file__).parent
HIDDEN = "hidden-by-settle"
PAID, RETURNED = "test_transfer_is_paid_out", "test_payout_that_comes_back"
LOST = "answer-lost-after-commit,key-forgotten,completed-then-refunded,webhook-lost-for-good"


class Case(NamedTuple):
    """`words`: the options of explore, of which `faults` names the classes. `visits`: the tests, as for `-k`.

    `verdict`: the verdict that tells of the bug, or "" if none does. `why`: the reason.
    """

    faults: str
    verdict: str
    why: str
    words: tuple[str, ...] = ("--plan", "quick")
    visits: str = PAID


BEFORE = ("--plan", "quick", "--settle", "before")
PAIRS = ("--plan", "pairs-of-faults")
CASES: Mapping[str, Case] = {
    "claim-never-lapses": Case("crash-in-call", "stuck", "The worker dies, and its task stays claimed."),
    "removed-when-claimed": Case("crash-in-call", "stuck", "The worker dies, and its task is gone."),
    "event-noted-apart": Case(
        "crash-in-handler", HIDDEN, "The event comes again and counts as seen. The job finds the payment.", BEFORE
    ),
    "payout-queued-apart": Case(
        "crash-in-call", "stuck", "The worker dies after the first leg is booked.", ("--plan", "full")
    ),
    "dropped-after-three-tries": Case("fails-n", "stuck", "The third failure deletes the task."),
    "fresh-quote-per-try": Case(LOST, "doubled", "No response and no event comes, so the leg is placed again.", PAIRS),
    "job-places-anew": Case(
        LOST, "doubled", "The place task still waits when the job runs, and the first try made a transaction.", PAIRS
    ),
    "already-used-is-failure": Case(
        LOST, "lost", "The retry is refused because the first try succeeded, and no event tells.", PAIRS
    ),
    "garbage-is-poison": Case("answer-garbled", "stuck", "The task is deleted before the order is placed."),
    "strict-fields": Case(
        "answer-extra-field", HIDDEN, "The task of the last event is deleted. The job finds the payment.", BEFORE
    ),
    "window-in-milliseconds": Case("webhook-stale", "forged-accepted", "A day-old delivery is accepted."),
    "stale-copy": Case(
        "webhook-after-final", "doubled", "Two events are in the queue at once, and both workers book the payment."
    ),
    "job-skips-completed": Case(
        LOST, "disagrees", "Only the event of the refund is lost, and the job does not read completed legs.", PAIRS
    ),
    "only-today": Case("webhook-lost-for-good", "lost", "The job runs four days later and does not read the order."),
    "own-clock-expires": Case(
        "webhook-lost-for-good",
        "lost",
        "The job runs a day later, after the quote has expired, and reads the list last.",
    ),
    "second-payout-when-slow": Case("stuck-in-processing", "doubled", "The job runs while a payout is stuck."),
    "amount-of-first-quote": Case("quote-expires,rate-moves", "disagrees", "The rate moves between two quotes.", PAIRS),
    "payout-on-processing": Case(
        "", "", "Each leg is right by itself. Only a rule of the business is broken, which a test must assert."
    ),
    "key-by-order": Case(
        "quote-expires",
        "",
        "The fault refuses the call before its key is recorded, unlike a quote that really expires.",
    ),
    "first-page-only": Case(
        "webhook-lost-for-good", "lost", "The job reads 20 of 22 payments.", ("--plan", "pair"), "test_payroll"
    ),
}


def explored(directory: Path, *words: str, bugs: str = "", visits: str = "test_") -> Explored:
    """Explore the application's tests, or those that a `-k` of pytest selects, with these bugs."""
    command = (*PYTEST, "--rootdir", str(ROOT), "-o", "python_files=visits.py", str(HERE), "-k", visits)
    return explore(directory, *words, command=command, environment={"REMITTANCE_BUGS": bugs})


def verdicts(directory: Path, bug: str, workers: int = 1) -> Counter[tuple[str, str]]:
    """Explore a bug as its case says. Return the findings and warnings: class and verdict of each."""
    case = CASES[bug]
    words = (*case.words, "--faults", case.faults, "--workers", str(workers))
    found = explored(directory, *words, bugs=bug, visits=case.visits)
    rows = [row for row in found.report["runs"] if row["id"] in found.report["findings"] or row["verdict"] == HIDDEN]
    return Counter((row["fault"], row["verdict"]) for row in rows)


@click.command()
@click.option("--workers", type=int, default=2)
@click.argument("bugs", nargs=-1, type=click.Choice([*BUGS]))
def table(workers: int, bugs: tuple[str, ...]) -> None:
    """Print what explore finds of each bug."""
    click.echo("| bug | options | found | why |\n| - | - | - | - |")
    count = 0
    for bug in bugs or BUGS:
        case = CASES[bug]
        with tempfile.TemporaryDirectory() as directory:
            found = verdicts(Path(directory), bug, workers) if case.faults else Counter[tuple[str, str]]()
        count += bool(found)
        shown = ", ".join(f"`{fault}` {verdict} {times}" for (fault, verdict), times in found.items()) or "no"
        click.echo(f"| `{bug}` | `{' '.join(case.words)}` | {shown} | {case.why} |")
        sys.stdout.flush()
    click.echo(f"{count} of {len(bugs or BUGS)} found")


if __name__ == "__main__":
    table()
