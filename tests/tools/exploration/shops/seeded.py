"""Ten mistakes and the classes that find them: five that only a crash shows, and five that the job corrects.

    python -m tests.tools.exploration.shops.seeded [MISTAKE]...

explores the shop with each of them and prints the rows of the table in the README of these tests.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import click

from tests.tools.exploration.shops.mistakes import explored
from tests.tools.exploration.suite import PYTEST, Explored, explore
from tests.tools.integrators.shop.seeded import SEEDED

HIDDEN = "hidden-by-settle"
KILLED = "crash-of-process"


class Case(NamedTuple):
    """The class that finds a mistake, its verdict, and the visit in which it is found."""

    fault: str
    verdict: str
    visit: str = "test_onramp"

    @property
    def words(self) -> tuple[str, ...]:
        stage = ("--settle", "before") if self.verdict == HIDDEN else ()
        return ("--plan", "quick", "--faults", self.fault, *stage)


CASES: Mapping[str, Case] = {
    "money-after-state": Case("crash-in-handler", "lost"),
    "money-under-a-fresh-key": Case("crash-in-handler", "doubled"),
    "order-stored-last": Case("crash-in-call", "lost"),
    "payout-stored-last": Case("crash-in-call", "lost", "test_standing_payout"),
    "lock-left-behind": Case(KILLED, "lost"),
    "event-done-first": Case("crash-in-handler", HIDDEN),
    "late-payload-reopens": Case("webhook-after-final", HIDDEN),
    "failure-left-to-the-job": Case("payment-declined", HIDDEN),
    "unknown-payload-is-ignored": Case("webhook-unknown-enum", HIDDEN),
    "refund-left-to-the-job": Case("completed-then-refunded", HIDDEN),
}

SERVED = """
import json, os, time, urllib.error, urllib.request
import pytest

ORDER = {"reference": "A-1", "kind": "onramp", "amount": "5000", "amount_currency": "KES", "asset": "USDC",
         "fiat_currency": "KES", "name": "Wanjiru Otieno", "phone_number": "+254722000000",
         "wallet_address": "0x52908400098527886E0F7030069857D2E4169EE7"}

def order(shop):
    for _ in range(300):
        try:
            return urllib.request.urlopen(urllib.request.Request(f"{shop}/orders", json.dumps(ORDER).encode())).read()
        except OSError:
            time.sleep(0.05)

@pytest.mark.scenario("autopilot")
def test_onramp(world):
    shop = f"http://127.0.0.1:{os.environ['PORT']}"
    world.client.post("/webhooks", json={"url": f"{shop}/webhooks", "events": ["*"]},
                      headers={"Idempotency-Key": "receiver-1"}).raise_for_status()
    order(shop)
    world.advance("5m")
"""
"""The visit `test_onramp` at a shop that is a process of its own."""


def explored_served(directory: Path, *words: str, mistakes: str) -> Explored:
    """Explore a shop that explore starts, kills and starts again."""
    (directory / "test_served.py").write_text(SERVED)
    shop = f"{sys.executable} -m tests.tools.integrators.shop"
    own = ("--app", f"{shop} serve", "--settle", f"{shop} settle", "--books", f"{shop} books")
    environment = {"SHOP_MISTAKES": mistakes, "SHOP_BOOKS": str(directory / "books")}
    return explore(directory, *own, *words, command=(*PYTEST, "."), environment=environment)


def explored_case(directory: Path, mistake: str, *words: str, careful: bool = False) -> Explored:
    """Explore a mistake as its case says, or the careful shop under the same options."""
    case, name = CASES[mistake], "" if careful else mistake
    if case.fault == KILLED:
        return explored_served(directory, *case.words, *words, mistakes=name)
    return explored(directory, *case.words, *words, mistakes=name, visits=f"{case.visit} and not {case.visit}_")


def verdicts(found: Explored) -> Counter[tuple[str, str]]:
    """Return the class and the verdict of each finding, and of each run that only the job made right."""
    rows = [row for row in found.report["runs"] if row["id"] in found.report["findings"] or row["verdict"] == HIDDEN]
    return Counter((row["fault"], row["verdict"]) for row in rows)


@click.command()
@click.argument("mistakes", nargs=-1, type=click.Choice([*SEEDED]))
def table(mistakes: tuple[str, ...]) -> None:
    """Print what explore finds of each mistake, and of the careful shop under the same options."""
    click.echo("| mistake | options | found | in the careful shop |\n| - | - | - | - |")
    for mistake in mistakes or SEEDED:
        shown = []
        for careful in (False, True):
            with tempfile.TemporaryDirectory() as directory:
                found = verdicts(explored_case(Path(directory), mistake, careful=careful))
            shown.append(", ".join(f"`{fault}` {verdict} {n}" for (fault, verdict), n in found.items()) or "no")
        click.echo(f"| `{mistake}` | `{' '.join(CASES[mistake].words)}` | {' | '.join(shown)} |")
        sys.stdout.flush()


if __name__ == "__main__":
    table()
