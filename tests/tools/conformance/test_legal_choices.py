"""Services that choose differently where the specification permits it. They break no promise."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from simulator.conformance.report import Report
from simulator.conformance.rules import Tally
from simulator.conformance.running import play_laws
from simulator.conformance.service import Answer as Heard
from simulator.conformance.service import Sent, parsed
from simulator.conformance.settings import ConformanceSettings
from simulator.engine.clients.control import ControlClient
from simulator.engine.server.config import Config
from simulator.engine.server.process import serving
from simulator.host import create_app
from simulator.providers.ramp.laws import RULEBOOK
from simulator.providers.ramp.laws.conventions import lists, paging
from tests.tools.conformance.mutants.running import _shapes, wrong_service
from tests.tools.conformance.mutants.service import Answer, Call, Mutant, Service


def _changed(value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, dict):
        value = {name: _changed(member, change) for name, member in value.items()}
    elif isinstance(value, list):
        value = [_changed(member, change) for member in value]
    return change(value)


async def another_code_for_a_wrong_status(call: Call, ask: Service) -> Answer:
    """`Error codes for operations invalid in the current status: not shown`."""
    found = await ask(call)
    if found.status == 409 and found.body["error"]["code"] == "invalid_state":
        found.body["error"]["code"] = "status_conflict"
    return found


async def a_schedule_with_other_fields(call: Call, ask: Service) -> Answer:
    """`The field list of the schedule object: not shown`."""

    def other(value: Any) -> Any:
        if isinstance(value, dict) and isinstance(value.get("schedule"), dict):
            value["schedule"] = {"rule": f"{value['schedule']['frequency']} from {value['schedule']['start_date']}"}
        return value

    found = await ask(call)
    found.body = _changed(found.body, other)
    return found


async def replays_show_the_present_state(call: Call, ask: Service) -> Answer:
    """`A retry creates no duplicate`: the content of the replay is not specified."""
    found = await ask(call)
    if found.headers.get("idempotent-replayed") and "updated_at" in (found.body or {}):
        later = datetime.fromisoformat(found.body["updated_at"]).replace(microsecond=999000)
        found.body["updated_at"] = later.strftime("%Y-%m-%dT%H:%M:%S.999Z")
    return found


async def amounts_without_trailing_zeros(call: Call, ask: Service) -> Answer:
    """1000 instead of 1000.00 (H8 is assumed)."""
    found = await ask(call)
    if call.operation == "GET /profile/limits" and found.status == 200:
        largest = found.body["limits"]["per_transaction"]
        largest["max"] = largest["max"].removesuffix(".00")
    return found


CHOICES: list[tuple[Callable[[Call, Service], Awaitable[Answer]], tuple[str, ...]]] = [
    (another_code_for_a_wrong_status, ("recurring.illegal_move", "recurring.illegal_code")),
    (a_schedule_with_other_fields, ("recurring.scheduled", "recurring.next_run", "recurring.schedule_shown")),
    (replays_show_the_present_state, ("idempotency.replay",)),
    (amounts_without_trailing_zeros, ("limits.enforced",)),
]


async def _broken(service: Callable[[Call, Service], Awaitable[Answer]], names: tuple[str, ...]) -> list[str]:
    """Return the broken promises of some laws, except shapes."""
    async with wrong_service(Mutant("legal", "", (), (), service)) as (origin, tally):
        settings = ConformanceSettings(
            base_url=f"{origin}/v1", public_key="pk_test_simulator", secret_key="sk_test_simulator",
            mode="full", only="behaviour", control_url=origin,
        )  # fmt: skip
        report = Report(settings, Tally())
        laws = tuple(row for row in RULEBOOK.laws if row.rule.name in ("get.after_create", *names))
        await asyncio.to_thread(play_laws, report, _shapes(), replace(RULEBOOK, laws=laws))
    assert tally.slips == []
    return sorted({f"{one.rule} {one.message}" for one in report.broken if not one.rule.startswith("shape.")})


@pytest.mark.parametrize(("service", "names"), CHOICES, ids=[service.__name__ for service, _ in CHOICES])
def test_a_legal_choice_breaks_no_promise(service: Any, names: tuple[str, ...]) -> None:
    assert asyncio.run(_broken(service, names)) == []


def test_pages_of_many_rows_have_at_most_100(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"id": number, "order_id": number} for number in range(450)]
    sizes: list[int] = []
    monkeypatch.setattr(paging, "stocked", lambda bench: None)
    monkeypatch.setattr(paging, "whole", lambda bench, one, query=None: rows)
    monkeypatch.setattr(paging, "_walk", lambda bench, operation, key, keys, size, *more: sizes.append(size))
    paging.filtered.check(None)  # type: ignore[arg-type]  # it is not used
    assert max(sizes) <= 100


def test_times_of_unequal_precision_are_compared_as_times() -> None:
    """08:00:00Z is before 08:00:00.5Z, but not as a string (the format of H10 is assumed)."""
    rows = [{"created_at": text} for text in ("2026-01-05T08:00:00Z", "2026-01-05T08:00:00.5Z", "2026-01-05T08:00:01Z")]
    assert lists._sorted([lists._order_key(row, "created_at") for row in rows], falling=False)
    assert lists._within(rows[1], "start_date", rows[0]["created_at"])
    assert not lists._within(rows[1], "end_date", rows[0]["created_at"])


@pytest.mark.parametrize(
    ("names", "held"),
    [
        (["Bob", "alice", "carol"], True), (["alice", "Bob", "carol"], True), (["cook", "co-op", "Coat"], False),
        (["Cook", "co-op", "coopers"], True), (["carol", "alice"], False),
    ],
)  # fmt: skip
def test_names_may_be_in_the_order_of_any_collation(names: list[object], held: bool) -> None:
    """The specification does not say whether case and punctuation count (beneficiary-name-order)."""
    assert lists._sorted(names, falling=False) is held


def test_a_hash_is_allowed_while_a_deposit_is_awaited() -> None:
    """A detected, unconfirmed deposit is already on the chain."""
    shown = {"status": "awaiting_deposit", "tx_hash": "0x" + "a" * 64}
    assert _hash_faults(shown) == []
    assert _hash_faults({**shown, "status": "awaiting_payment"}) != []


def _hash_faults(body: dict[str, Any]) -> list[str]:
    (row,) = (one for one in RULEBOOK.always if one.rule.name == "transaction.no_hash")
    raw = json.dumps(body).encode()
    sent = Sent("GET /transactions/{id}", "http://127.0.0.1:9/v1/transactions/x", {}, None)
    return [fault for _, fault in row.faults(Heard(sent, 200, {}, raw, parsed(raw))) if fault]


def test_a_missing_request_id_is_a_differing_guess() -> None:
    """`request_id (optional)`: it is assumed that every error has one (H11)."""
    raw = b'{"error": {"code": "not_found", "message": "There is none."}}'
    found = list(_shapes().faults("GET /beneficiaries/{id}", 404, {"content-type": "application/json"}, raw))
    missing = [fault for fault in found if fault.place == "error.request_id"]
    assert [(fault.promise, fault.basis) for fault in missing] == [(False, "H11")]


@pytest.mark.parametrize(
    ("alternative", "names", "basis"),
    [
        ({"L6": "bare_lists"}, ("page.default_size", "page.limit", "deposit.way"), "L6"),
        ({"H19": "not_given_is_absent"}, (), "H19"),
    ],
)
def test_an_alternative_differs_and_breaks_no_promise(
    alternative: dict[str, str], names: tuple[str, ...], basis: str
) -> None:
    report = asyncio.run(_of_alternative(alternative, names))
    assert [f"{one.rule} {one.operation} {one.place} {one.message}" for one in report.broken] == []
    assert basis in {one.basis for one in report.differ}


async def _of_alternative(alternative: dict[str, str], names: tuple[str, ...]) -> Report:
    async with serving(create_app(Config(clock="manual"))) as origin:
        await asyncio.to_thread(ControlClient(origin).call, "PATCH", "/settings", {"assumptions": alternative})
        settings = ConformanceSettings(
            base_url=f"{origin}/v1", public_key="pk_test_simulator", secret_key="sk_test_simulator",
            mode="full", only="behaviour", control_url=origin,
        )  # fmt: skip
        report = Report(settings, Tally())
        laws = tuple(row for row in RULEBOOK.laws if row.rule.name in ("get.after_create", *names))
        await asyncio.to_thread(play_laws, report, _shapes(), replace(RULEBOOK, laws=laws))
    return report
