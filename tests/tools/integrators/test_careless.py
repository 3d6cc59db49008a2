"""Every mistake costs money under a fault that the careful shop survives, and comparing the books detects it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from simulator.testing import World
from tests.tools.integrators.faults import CLASSES, FaultClass, rule
from tests.tools.integrators.judge import Finding, transactions_of
from tests.tools.integrators.rig import Rig
from tests.tools.integrators.shop.careless import MISTAKES

if TYPE_CHECKING:
    from simulator.engine.control.objects.actions import ActionAnswer

NONE = FaultClass()
"""Nothing goes wrong at all."""
CONFIRM = {"match": {"method": "POST", "path": "/quotes/*/confirm"}}
LOST_FOR_GOOD = FaultClass(({**CONFIRM, "after_commit": True, "drop": True, "times": 5},))
"""The answer of a confirmation is lost, however often the client tries in one visit."""
LOST_ONCE = FaultClass(({**CONFIRM, "after_commit": True, "drop": True, "times": 1},))
DEAF = FaultClass(
    (
        {
            "match": {"method": "GET", "path": "/transactions/*"},
            "respond": {"status": 503, "code": "service_unavailable"},
        },
    )
)
"""Events come, but what they are about cannot be looked up."""
BOUNCES_ONCE = FaultClass(
    scenario={
        "name": "first-payout-bounces",
        "description": "The first payout is reported as done and comes back an hour later.",
        "rules": [{**rule("transaction.completed", {"after": "1h", "action": "refund"}), "times": 1}],
    }
)


def _tell_of_a_completion(world: World) -> ActionAnswer:
    (transaction,) = transactions_of(world)["A-1"]
    told = {**world.resource(transaction)["resource"], "status": "completed"}
    return world.act("emit", type="transaction.completed", object=told)


FALSE_ALARM = FaultClass(scenario="payer-never-pays", meanwhile=_tell_of_a_completion)
"""An event, well signed, tells of a completion that never was."""


UNREFUNDED = FaultClass(scenario="payout-fails")


class Case(NamedTuple):
    """Under what a mistake is seen, who comes meanwhile, and the judge's verdict."""

    fault: FaultClass
    customers: Callable[[Rig], None]
    verdict: str
    span: str = "2d"


def onramp(shop: Rig) -> None:
    shop.onramp("A-1")


def offramp(shop: Rig) -> None:
    shop.offramp("A-1", "2048.18", "KES")


def standing_payout(shop: Rig) -> None:
    shop.standing_payout("rent")


def offramp_again_after_it_bounced(shop: Rig) -> None:
    shop.offramp("A-1")
    shop.world.advance("2h")
    shop.try_again("A-1")


def offramp_while_the_job_runs(shop: Rig) -> None:
    shop.offramp("A-1")
    shop.world.advance("30s")
    shop.shop.reconcile()


def onramp_beside_one_that_is_called_alike(shop: Rig) -> None:
    shop.onramp("A-10")
    shop.world.advance("5m")
    with shop.world.fault(**LOST_FOR_GOOD.faults[0]):
        shop.onramp("A-1")
    shop.onramp("A-1")


CASES: Mapping[str, Case] = {
    "pays-twice-after-rejection": Case(BOUNCES_ONCE, offramp_again_after_it_bounced, "lost"),
    "fresh-quote-when-refused": Case(CLASSES["key-forgotten"], onramp, "doubled"),
    "timeout-is-failure": Case(LOST_ONCE, onramp, "lost"),
    "early-event-is-gone": Case(LOST_ONCE, onramp, "lost"),
    "late-event-downgrades": Case(CLASSES["webhook-after-final"], onramp, "lost"),
    "dedups-by-event-id-only": Case(CLASSES["webhook-after-final"], onramp, "doubled"),
    "acknowledges-before-storing": Case(DEAF, onramp, "not-kept"),
    "seen-before-done": Case(DEAF, onramp, "lost"),
    "trusts-the-payload": Case(FALSE_ALARM, onramp, "disagrees"),
    "float-money": Case(NONE, offramp, "disagrees"),
    "wrong-network-spelling": Case(NONE, standing_payout, "lost"),
    "stale-token-loop": Case(CLASSES["webhook-late"], onramp, "lost"),
    "verifier-without-clock": Case(CLASSES["webhook-stale"], onramp, "forged-accepted"),
    "signature-not-checked": Case(CLASSES["webhook-forged"], onramp, "forged-accepted"),
    "amount-before-fees": Case(NONE, onramp, "disagrees"),
    "refund-ignored": Case(CLASSES["completed-then-refunded"], onramp, "disagrees"),
    "retries-with-new-key": Case(LOST_ONCE, onramp, "doubled"),
    "stops-polling-early": Case(NONE, offramp_while_the_job_runs, "lost"),
    "unknown-status-is-failure": Case(CLASSES["answer-unknown-enum"], onramp, "lost"),
    "processing-is-done": Case(UNREFUNDED, offramp, "disagrees"),
    "first-search-hit": Case(CLASSES["webhook-lost"], onramp_beside_one_that_is_called_alike, "lost"),
    "unknown-event-breaks": Case(CLASSES["webhook-unknown-type"], onramp, "switched-off", span="4d"),
}


FAULTS: Mapping[str, FaultClass] = {
    **{f"`{name}`": one for name, one in CLASSES.items()},
    "nothing at all": NONE,
    "the answer of a confirmation lost for good": LOST_FOR_GOOD,
    "the answer of a confirmation lost once": LOST_ONCE,
    "events that cannot be looked up": DEAF,
    "a payout that bounces, and is asked for again": BOUNCES_ONCE,
    "an event about what never happened": FALSE_ALARM,
    "a payout that fails and is not refunded": UNREFUNDED,
}


def live_through(case: Case, shop: Rig) -> list[Finding]:
    assert shop.live_through(case.fault, customers=[lambda: case.customers(shop)], span=case.span)
    return shop.judged()


@pytest.mark.parametrize("mistake", CASES)
def test_the_judge_sees(mistake: str, careless_shop: Callable[..., Rig]) -> None:
    case = CASES[mistake]
    findings = live_through(case, careless_shop(mistake))
    assert {finding.verdict for finding in findings} == {case.verdict}, findings


@pytest.mark.parametrize("mistake", CASES)
def test_the_careful_shop_passes_where_it_fails(mistake: str, shop: Rig) -> None:
    assert live_through(CASES[mistake], shop) == []


def test_every_mistake_has_a_case_and_a_row_in_the_table() -> None:
    assert list(CASES) == list(MISTAKES)
    assert table() in (Path(__file__).parent / "shop" / "README.md").read_text("utf-8")


def table() -> str:
    rows = [f"| `{name}` | {MISTAKES[name][-1].__doc__} | {_seen_under(name)} |" for name in CASES]
    return "\n".join(["| mistake | what is done | seen under |", "| - | - | - |", *rows])


def _seen_under(name: str) -> str:
    case = CASES[name]
    return f"{next(what for what, one in FAULTS.items() if one is case.fault)}: {case.verdict}"
