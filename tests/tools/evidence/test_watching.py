"""Steps that watch a resource: a status that comes decides, and a status that was not seen decides nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain, repeat
from typing import Any

import pytest

from simulator.evidence.flow import Exchange, Reply, Step, play, read_steps
from simulator.evidence.interrupts import Interrupts
from simulator.evidence.planning import Options, Planned, plan, read_probes
from simulator.evidence.probing import Decisions, decide
from simulator.evidence.remote import RemoteService
from simulator.service import TOOLING

PROBING = TOOLING.probing()
SWITCHES = TOOLING.alternatives()
STEPS = read_steps(PROBING.steps)
SEEN = Step("seen", "GET /x", every="1s", pending=("processing",), reaches=("failed",), passed=("refunded",))
_FIELDS = (
    "type", "symbol", "network", "amount", "fee", "net_amount", "fiat_currency", "destination_amount", "reference",
    "beneficiary_id", "failure_code", "tx_hash", "created_at", "updated_at",
)  # fmt: skip


class Scripted:
    """A target that returns these statuses, one per look, and accepts every other call."""

    is_slow, listens = True, False

    def __init__(self, *statuses: str) -> None:
        self._statuses: Iterator[str] = chain(statuses, repeat(statuses[-1]))
        self.account: Mapping[str, str] = {"own_amount": "20.01", "reference": "probe-1"}
        self.exchanges: list[Any] = []
        self.looks = self.waits = self.calls_left = 0
        self.interrupts = Interrupts()

    def clean_up(self, method: str, path: str, body: object) -> None:
        self.call(method, path, body, {})

    def call(self, method: str, path: str, body: object, headers: Mapping[str, str], *, obey: bool = True) -> Reply:
        self.exchanges.append(path)
        if method != "GET":
            return Reply(201, {}, {"id": "x_1", "status": "processing"})
        self.looks += 1
        return Reply(200, {}, {**dict.fromkeys(_FIELDS, "x"), "id": "x_1", "status": next(self._statuses)})

    def wait(self, until: str) -> bool:
        self.waits += 1
        return True

    def act(self, *_: object) -> bool:
        return False

    def events(self) -> list[Any]:
        return []

    def can_listen(self, steps: int) -> bool:
        return False

    def prepare(self) -> None: ...

    saved = restored = prepare


@pytest.mark.parametrize(
    ("statuses", "looks", "refused", "too_late"),
    [
        (("failed",), 1, False, False),
        (("processing", "processing", "failed"), 3, False, False),
        (("processing", "refunded"), 2, True, True),
        (("processing", "completed"), 2, True, False),
        (("processing",), 26, True, False),
    ],
)
def test_watching_ends_with_the_first_other_status(
    statuses: tuple[str, ...], looks: int, refused: bool, too_late: bool
) -> None:
    target = Scripted(*statuses)
    trace = play([SEEN, Step("after", "GET /y")], target)
    assert target.looks == looks + (not refused), "a flow ends where a status was not seen"
    assert target.waits == min(looks - 1, 25)
    assert (trace[0].refused, trace[0].came_too_late) == (refused, too_late)


def test_only_a_refused_watch_came_too_late() -> None:
    assert not Exchange(Step("x", wait="1s"), refused=True).came_too_late
    assert not Exchange(SEEN, Reply(200, {}, {"status": "refunded"})).came_too_late


def watched(*statuses: str) -> tuple[Decisions, Scripted]:
    """Run the probe that watches a payout which fails."""
    document = read_probes(PROBING)
    options = Options(PROBING.spends, wait_seconds=120, only=("S10",))
    planned: list[Planned] = plan(document, SWITCHES, STEPS, options)
    decisions, target = Decisions(document, SWITCHES, options, PROBING.formulas), Scripted(*statuses)
    decide(planned, decisions, target, PROBING, STEPS)  # type: ignore[arg-type]  # it has what is used of a service
    return decisions, target


@pytest.mark.parametrize(
    ("statuses", "verdict", "reason", "tries"),
    [
        (("failed",), "holds", None, 1),
        (("refunded", "processing", "refunded", "failed"), "holds", None, 3),
        (("refunded",), "undecided", "needs-event", 4),
        (("completed",), "undecided", "needs-event", 1),
    ],
)
def test_missed_status_decides_nothing_and_is_tried_again(
    statuses: tuple[str, ...], verdict: str, reason: str | None, tries: int
) -> None:
    decisions, target = watched(*statuses)
    found = decisions.verdicts["S10"]
    assert (found.verdict, found.reason) == (verdict, reason)
    assert target.exchanges.count("/wallet/withdraw") == tries


def assets(available: str) -> dict[str, Any]:
    return {"data": [{"symbol": "USDC", "network": "CELO", "available": available}]}


FAILING = {"amount": "20.50", "fee": {"total": "0.40"}}
NETWORKS = {"networks": [{"network": "stellar", "status": "degraded"}]}
FINE = {"networks": [{"network": "stellar", "status": "operational"}, {"network": "celo", "status": "degraded"}]}
PLANNED = {"next_run_at": "2026-01-05T09:00:00Z"}
RENT = {"reference": "rent"}


@pytest.mark.parametrize(
    ("name", "bodies", "expected"),
    [
        ("held_after_failure", {"assets": assets("100.00"), "assets'": assets("79.50")}, "held"),
        ("held_after_failure", {"assets": assets("100.00"), "assets'": assets("100")}, "released"),
        ("held_after_failure", {"assets": assets("100.00"), "assets'": assets("80.00")}, None),
        ("held_after_failure", {"assets": assets("100.00")}, None),
        ("refunded", {"assets": assets("100.00"), "assets'": assets("100")}, "everything"),
        ("refunded", {"assets": assets("100.00"), "assets'": assets("99.60")}, "all but the fee"),
        ("refunded", {"assets": assets("100.00"), "assets'": assets("79.50")}, None),
        ("degraded_refused", {"stats": FINE, "stats'": NETWORKS, "stellar_quote": {"id": "qt_1"}}, None),
        ("degraded_refused", {"stats": NETWORKS, "stats'": FINE, "stellar_quote": {"id": "qt_1"}}, None),
        ("degraded_refused", {"stats": NETWORKS, "stats'": NETWORKS, "stellar_quote": {"id": "qt_1"}}, "no"),
        ("degraded_refused", {"stats": NETWORKS, "stats'": NETWORKS,
                              "stellar_quote": {"error": {"code": "network_unavailable"}}}, "yes"),
        ("degraded_refused", {"stats": NETWORKS, "stats'": NETWORKS, "stellar_quote": {"error": {"code": "x"}}}, None),
        ("payment_declined", {"declined_seen": {"status": "failed", "failure_code": "payment_failed"}}, "fails"),
        ("payment_declined", {"declined_seen": {"status": "failed", "failure_code": "other"}}, None),
        ("failed_runs_count", {"costly_shown": {"status": "completed"}, "costly_runs": {"data": []}}, "yes"),
        ("failed_runs_count", {"costly_shown": {"status": "completed"}, "costly_runs": {"data": [{}]}}, None),
        ("failed_runs_count", {"costly_shown": {"status": "active", "next_run_at": "2026-01-06T09:00:00Z"},
                               "costly_runs": {"data": []}}, "no"),
        ("failed_runs_count", {"costly_shown": {"status": "active", **PLANNED}, "costly_runs": {"data": []}}, None),
        ("run_suffix", {"recurring": RENT, "runs": {"data": []}}, None),
        ("run_suffix", {"recurring": RENT, "runs": {"data": [{"reference": "rent-1"}]}}, "hyphen"),
        ("run_suffix", {"recurring": RENT, "runs": {"data": [{"reference": "rent_1"}]}}, "underscore"),
        ("run_suffix", {"recurring": RENT, "runs": {"data": [{"reference": "rent"}]}}, "another"),
    ],
)  # fmt: skip
def test_formula_decides_only_by_exact_values(name: str, bodies: dict[str, Any], expected: str | None) -> None:
    around = {"failing": FAILING, "still_failed": {}, "refund_seen": {}, "costly_active": PLANNED}
    assert PROBING.formulas[name](around | bodies) == expected


def service_at(monkeypatch: pytest.MonkeyPatch, ticks: list[float], stamps: list[str]) -> RemoteService:
    """Return a service that creates resources at these times, called at these times of this machine."""
    clock, created = iter(ticks), iter(stamps)
    service = RemoteService("http://127.0.0.1:9/v1", ("pk_test_a", "sk_test_a"), calls=9, sleep=lambda _: None)
    monkeypatch.setattr("simulator.evidence.remote.time.monotonic", lambda: next(clock))
    monkeypatch.setattr(service, "_sent", lambda *_: Reply(201, {}, {"created_at": next(created)}))
    return service


def test_clock_rate_is_the_lowest_possible(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first quote may be as old as its request, and the second as new as its response."""
    ticks = [0.0, 1.0, 3.0, 4.0]
    service = service_at(monkeypatch, ticks, ["2026-01-05T08:00:00Z", "2026-01-05T08:06:00Z"])
    service.read_clock(STEPS["quote"], "created_at", rate=True)
    assert service.time_rate == 90.0


def test_created_resource_moves_the_clock_of_the_target_forward(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = [0.0, 0.0, 2.0, 2.0, 3.0, 3.0, 3.0, 4.0, 4.0]
    stamps = ["2026-01-05T08:00:00Z", "2026-01-05T08:06:00Z", "2026-01-05T09:00:00Z", "2026-01-05T08:30:00Z"]
    service = service_at(monkeypatch, ticks, stamps)
    service.read_clock(STEPS["quote"], "created_at", rate=True)
    for expected in ("2026-01-05T09:00:00.000Z", "2026-01-05T09:03:00.000Z"):
        service.call("POST", "/quotes", {}, {})
        assert service._now() == expected
