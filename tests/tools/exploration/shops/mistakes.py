"""Every mistake of the careless shop: the test that makes it, and the findings that explore must report, with the
reason.

    python -m tests.tools.exploration.shops.mistakes [--plan quick] [MISTAKE]...

runs all tests under all classes, for one mistake at a time, and prints the findings. Without names, it runs all
mistakes.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import click

from simulator.exploration.plans import PLANS
from tests.places import ROOT
from tests.tools.exploration.suite import PYTEST, Explored, explore
from tests.tools.integrators.shop.careless import MISTAKES

SHOPS = Path(__file__).parent
EACH = "each:"
"""Before the names in SHOP_MISTAKES: each by itself, in its own visit alone."""


class Case(NamedTuple):
    """`found`: the classes and their verdicts (several are separated by spaces), `none` for what is found without any
    fault. Under all others it survives.
    """

    visit: str
    found: Mapping[str, str]
    why: str


_READ_FAILS = dict.fromkeys(
    ("refused-429", "refused-500", "refused-503", "answer-lost-before-work", "answer-garbled"), "lost"
)
"""What the read of an event's object meets: only that of the last event loses money."""

_ANSWER_FAILS = dict.fromkeys(("answer-lost-after-commit", "answer-late", "answer-garbled"), "lost")
"""What the call that places an order meets: the order was placed, and no answer says so."""

CASES: Mapping[str, Case] = {
    "pays-twice-after-rejection": Case(
        "test_customer_tries_again",
        {"completed-then-refunded": "lost"},
        "The payout comes back and is made again; the books take the second for the first, and have nothing of it.",
    ),
    "fresh-quote-when-refused": Case(
        "test_onramp",
        {"key-forgotten": "doubled"},
        "The order was placed; its retry under a forgotten key is refused, and a fresh quote places it again.",
    ),
    "timeout-is-failure": Case(
        "test_onramp",
        {**_ANSWER_FAILS, "fails-n": "lost"},
        "The order was placed, and no answer that can be read came: the books call it failed.",
    ),
    "early-event-is-gone": Case(
        "test_onramp",
        {**_ANSWER_FAILS, "fails-n": "lost", "crash-in-call": "lost"},
        "The order is in the books only with its answer; without one, what is told of it is nobody's.",
    ),
    "late-event-downgrades": Case(
        "test_onramp",
        {
            "webhook-late": "lost",
            "webhook-after-final": "lost",
            "webhook-reordered": "lost",
            "webhook-forged": "lost",
            "webhook-stale": "lost",
            "crash-in-handler": "lost",
        },
        "An older event comes after the last one; what is refused as not genuine comes again, late too.",
    ),
    "dedups-by-event-id-only": Case(
        "test_onramp",
        {
            "webhook-late": "doubled",
            "webhook-after-final": "doubled",
            "webhook-reordered": "doubled",
            "webhook-forged": "doubled",
            "webhook-stale": "doubled",
            "answer-unknown-enum": "doubled",
            "answer-garbled": "doubled",
            "answer-lost-before-work": "doubled",
            "refused-429": "doubled",
            "refused-500": "doubled",
            "refused-503": "doubled",
            "crash-in-handler": "doubled",
        },
        "An event that comes late, or waits to be looked up, finds the order completed, and is booked once more.",
    ),
    "acknowledges-before-storing": Case(
        "test_standing_payout_that_the_owner_ends",
        {"answer-unknown-enum": "lost", "webhook-lost-for-good": "lost"},
        "Nobody can tell yet how the payment stands; the event that told of it is gone, and no list has it later.",
    ),
    "seen-before-done": Case(
        "test_onramp",
        {
            **_READ_FAILS,
            "answer-unknown-enum": "lost",
            "webhook-lost": "lost",
            "webhook-lost-for-good": "lost",
            "crash-in-handler": "lost",
        },
        "The read after the last event fails; the event comes again, counts as a copy, and no job asks for the order.",
    ),
    "trusts-the-payload": Case(
        "test_onramp_under_a_random_reference",
        {"webhook-untrue": "disagrees"},
        "The event tells of a completion that never was, and nobody asks the service.",
    ),
    "float-money": Case("test_offramp", {"none": "disagrees"}, "2048.18 is booked as 2048.17, whatever goes wrong."),
    "wrong-network-spelling": Case(
        "test_standing_payout", {"none": "lost"}, "The run is on CELO, so it is in no books, whatever goes wrong."
    ),
    "stale-token-loop": Case(
        "test_standing_payout",
        {"none": "lost", "fails-until-given-up": "stuck", "fails-n": "stuck"},
        "The token lapses within the hour, and the run is a day later.",
    ),
    "verifier-without-clock": Case(
        "test_onramp",
        {"webhook-stale": "forged-accepted"},
        "The signature is right and the timestamp is not looked at.",
    ),
    "signature-not-checked": Case(
        "test_onramp",
        {"webhook-forged": "forged-accepted", "webhook-stale": "forged-accepted"},
        "Neither the signature nor the timestamp that it covers is looked at.",
    ),
    "amount-before-fees": Case(
        "test_onramp", {"none": "disagrees"}, "The fee is in what is booked, whatever goes wrong."
    ),
    "refund-ignored": Case(
        "test_onramp",
        {"completed-then-refunded": "disagrees", "payment-short": "disagrees"},
        "Money goes back, and the books do not say so: they have it still, or call the order failed for good.",
    ),
    "retries-with-new-key": Case(
        "test_onramp",
        {
            "answer-lost-after-commit": "doubled",
            "answer-late": "doubled",
            "answer-garbled": "doubled",
            "fails-n": "doubled lost",
        },
        "The order was placed, and no answer that can be read came: it is placed again under another key.",
    ),
    "stops-polling-early": Case(
        "test_job_runs_meanwhile", {"none": "lost"}, "The job runs while the payout is under way, and gives it up."
    ),
    "unknown-status-is-failure": Case(
        "test_onramp",
        {"answer-unknown-enum": "lost"},
        "A status that nobody knows is booked as failed, and the completion that follows is no step forward.",
    ),
    "processing-is-done": Case(
        "test_offramp",
        {"refund-late": "disagrees"},
        "The payout fails after it was booked, and four days later the refund has not come that would take it out.",
    ),
    "first-search-hit": Case(
        "test_order_that_is_called_like_a_run",
        {"key-forgotten": "lost"},
        "The order was placed; its retry is refused, so it is searched for, and the first hit is another's.",
    ),
    "unknown-event-breaks": Case(
        "test_standing_payout",
        {"webhook-unknown-type": "stuck"},
        "The event is refused until its last retry after three days, and the endpoint is disabled.",
    ),
}


def explored(directory: Path, *words: str, mistakes: str = "", visits: str = "test_") -> Explored:
    """Explore the visits of a shop with these mistakes: those that a `-k` of pytest chooses."""
    command = (*PYTEST, "--rootdir", str(ROOT), "-o", "python_files=visits.py", str(SHOPS), "-k", visits)
    return explore(directory, *words, command=command, environment={"SHOP_MISTAKES": mistakes})


@click.command()
@click.option("--plan", type=click.Choice(PLANS), default="quick")
@click.option("--workers", type=int, default=1)
@click.argument("mistakes", nargs=-1, type=click.Choice([*MISTAKES]))
def table(plan: str, workers: int, mistakes: tuple[str, ...]) -> None:
    """Print what all visits and all classes find of each mistake."""
    click.echo("| mistake | class | verdict | visits |\n| - | - | - | - |")
    for mistake in mistakes or MISTAKES:
        with tempfile.TemporaryDirectory() as directory:
            found = explored(Path(directory), "--plan", plan, "--workers", str(workers), mistakes=mistake)
            rows = [row for row in found.report["runs"] if row["id"] in found.report["findings"]]
        for fault, verdict in dict.fromkeys((row["fault"], row["verdict"]) for row in rows):
            visits = dict.fromkeys(
                row["test"].rpartition("::")[2] for row in rows if (row["fault"], row["verdict"]) == (fault, verdict)
            )
            click.echo(f"| `{mistake}` | `{fault}` | `{verdict}` | {', '.join(visits)} |")
        sys.stdout.flush()


if __name__ == "__main__":
    table()
