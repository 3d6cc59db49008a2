"""Each delivery mistake of the careless shop is found with a shortest trace. The careful shop passes."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from simulator.certification.exhaustive.running import Bound, FlowReport
from tests.support import whole
from tests.tools.certification.exhaustive.conftest import job_of, searched
from tests.tools.certification.exhaustive.measured import FLOWS, covered
from tests.tools.certification.exhaustive.shop import ordering, serving_shop
from tests.tools.integrators.shop.careless import MISTAKES


class Fall(NamedTuple):
    flow: str
    verdict: str
    moves: int
    """The length of the shortest trace, including `settle`."""


FALLS = {
    "late-event-downgrades": Fall("onramp", "order-dependent", 3),
    "dedups-by-event-id-only": Fall("onramp", "doubled", 3),
    "seen-before-done": Fall("completed-refunded", "disagrees", 2),
    "verifier-without-clock": Fall("onramp", "forged-accepted", 2),
    "signature-not-checked": Fall("onramp", "forged-accepted", 2),
    "refund-ignored": Fall("completed-refunded", "disagrees", 2),
    "unknown-event-breaks": Fall("onramp", "stuck", 2),
}
HEALED = {
    "early-event-is-gone": "its job asks about every order whose transaction it knows",
    "acknowledges-before-storing": "its job asks about every order; it needs a call that fails",
    "trusts-the-payload": "a state only goes forward; it needs a forged payload",
    "stops-polling-early": "its job runs only at the end, when every order is finished",
    "processing-is-done": "its job learns of the refund at the end",
}
"""Mistakes with events that no order of deliveries shows, with the reason."""
NOT_ABOUT_DELIVERIES = {
    "pays-twice-after-rejection", "fresh-quote-when-refused", "timeout-is-failure", "float-money",
    "wrong-network-spelling", "stale-token-loop", "amount-before-fees", "retries-with-new-key",
    "unknown-status-is-failure", "first-search-hit",
}  # fmt: skip


def search(origin: str, keys: dict[str, str], file: Path, flow: str, *mistakes: str, depth: int) -> FlowReport:
    with serving_shop(keys, file, *mistakes) as app:
        bound = Bound(f"{app}/books", flow, copies=1, settle=job_of(app), state=file, depth=depth)
        (report,) = searched(bound, origin, keys["webhook_key"], f"{app}/webhooks", order=ordering(app))
        return report


@pytest.mark.farm
@pytest.mark.parametrize("flow", FLOWS)
def test_the_careful_shop_has_no_finding(flow: str, origin: str, keys: dict[str, str], tmp_path: Path) -> None:
    result = search(origin, keys, tmp_path / "shop.db", flow, depth=2).result
    assert result.findings == ()
    assert result.depth == 2


@pytest.mark.long
@pytest.mark.farm
@pytest.mark.parametrize("flow", FLOWS[: whole(3, short=1)])
def test_the_careful_shop_is_covered(flow: str) -> None:
    """The shop and the simulator are processes. Each flow takes ten seconds."""
    report = covered(flow, saves=True)
    assert (report.complete, report.result.findings) == (True, ())
    assert (report.result.states, report.result.edges) == (243, 810)


@pytest.mark.farm
@pytest.mark.parametrize("mistake", FALLS)
def test_a_mistake_falls_with_a_shortest_trace(mistake: str, origin: str, keys: dict[str, str], tmp_path: Path) -> None:
    wanted = FALLS[mistake]
    result = search(origin, keys, tmp_path / "shop.db", wanted.flow, mistake, depth=2).result
    traces = {one.verdict: result.trace(one.path, one.verdict) for one in result.findings}
    assert len(traces[wanted.verdict]) == wanted.moves, traces


@pytest.mark.farm
@pytest.mark.parametrize("mistake", HEALED)
def test_a_mistake_that_the_job_heals_has_no_finding(
    mistake: str, origin: str, keys: dict[str, str], tmp_path: Path
) -> None:
    flow = "offramp-refunded" if mistake == "processing-is-done" else "onramp"
    assert search(origin, keys, tmp_path / "shop.db", flow, mistake, depth=2).result.findings == ()


def test_every_mistake_is_in_one_of_the_lists() -> None:
    assert sorted([*FALLS, *HEALED, *NOT_ABOUT_DELIVERIES]) == sorted(MISTAKES)
