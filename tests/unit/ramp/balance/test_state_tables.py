"""Every entry of the state tables: a legal transition emits its events, an illegal one raises and changes nothing."""

from __future__ import annotations

from typing import Any

import pytest

from simulator.kernel.machine import Machine
from simulator.providers.ramp.balance.states import BUY, SEND, SWAP, WITHDRAW
from tests.unit.ramp.balance.support import TO_AMINA, WalletWorld, refusal

PROCESSING = ["transaction.processing"]
COMPLETED = ["transaction.completed"]
FAILED = ["transaction.failed"]
REFUNDED = ["transaction.refunded"]
ACTIONS = ("payment_arrives", "payment_declined", "broadcast", "complete", "fail", "refund")

CELLS: dict[tuple[str, str, str], tuple[str, list[str]]] = {
    ("send", "pending", "broadcast"): ("processing", PROCESSING),
    ("send", "pending", "fail"): ("failed", FAILED),
    ("send", "processing", "complete"): ("completed", COMPLETED),
    ("send", "processing", "fail"): ("failed", FAILED),
    ("swap", "pending", "complete"): ("completed", COMPLETED),
    ("swap", "pending", "fail"): ("failed", FAILED),
    ("buy", "pending", "payment_arrives"): ("processing", PROCESSING),
    ("buy", "pending", "payment_declined"): ("failed", FAILED),
    ("buy", "pending", "fail"): ("failed", FAILED),
    ("buy", "processing", "complete"): ("completed", COMPLETED),
    ("buy", "processing", "fail"): ("failed", FAILED),
    ("withdraw", "processing", "complete"): ("completed", COMPLETED),
    ("withdraw", "processing", "fail"): ("failed", FAILED),
    ("withdraw", "processing", "refund"): ("refunded", REFUNDED),
    ("withdraw", "completed", "refund"): ("refunded", REFUNDED),
    ("withdraw", "failed", "refund"): ("refunded", REFUNDED),
}
PATHS: dict[tuple[str, str], tuple[str, ...]] = {
    ("send", "pending"): (),
    ("send", "processing"): ("broadcast",),
    ("send", "completed"): ("broadcast", "complete"),
    ("send", "failed"): ("fail",),
    ("swap", "pending"): (),
    ("swap", "completed"): ("complete",),
    ("swap", "failed"): ("fail",),
    ("buy", "pending"): (),
    ("buy", "processing"): ("payment_arrives",),
    ("buy", "completed"): ("payment_arrives", "complete"),
    ("buy", "failed"): ("fail",),
    ("withdraw", "processing"): (),
    ("withdraw", "completed"): ("complete",),
    ("withdraw", "failed"): ("fail",),
    ("withdraw", "refunded"): ("refund",),
}


def at(type: str, state: str) -> tuple[WalletWorld, str]:
    """A wallets with a transaction of that type, walked to that state."""
    wallets = WalletWorld()
    made = getattr(wallets, type)()
    for action in PATHS[type, state]:
        wallets.act(action, made["id"])
    assert wallets.show(made["id"])["status"] == state
    return wallets, made["id"]


@pytest.mark.parametrize(("cell", "outcome"), CELLS.items(), ids=lambda value: "-".join(map(str, value)))
def test_legal_transition_changes_status_and_emits(cell: tuple[str, str, str], outcome: tuple[str, list[str]]) -> None:
    """Decisions S3, S5, S7, S8, S9, S10, S11 and S17: each edge, and its event."""
    type, state, action = cell
    wallets, transaction_id = at(type, state)
    before = len(wallets.events())
    shown = wallets.act(action, transaction_id)
    assert (shown["status"], wallets.events()[before:]) == outcome
    wallets.books()


@pytest.mark.parametrize(
    ("type", "state", "action"),
    [(*place, action) for place in PATHS for action in ACTIONS if (*place, action) not in CELLS],
)
def test_illegal_transition_raises_and_changes_nothing(type: str, state: str, action: str) -> None:
    """Decisions S5 and S11: no other edge exists; send, swap and buy are never refunded."""
    wallets, transaction_id = at(type, state)
    before = wallets.world.store.tables()
    assert refusal(wallets.act, action, transaction_id)[:2] == (409, "invalid_transition")
    assert wallets.world.store.tables() == before


@pytest.mark.parametrize(("type", "machine"), [("send", SEND), ("swap", SWAP), ("buy", BUY), ("withdraw", WITHDRAW)])
def test_tested_transitions_cover_the_whole_table(type: str, machine: Machine) -> None:
    law = {("send", "processing", "settle")}
    table = {(type, state, move.on) for state, row in machine.rows.items() for move in row} - law
    assert table == {cell for cell in CELLS if cell[0] == type}
    assert {state for place, state in PATHS if place == type} == set(machine.rows)


@pytest.mark.parametrize(
    ("type", "status", "events"),
    [
        ("send", "pending", []),
        ("swap", "pending", []),
        ("buy", "pending", []),
        ("withdraw", "processing", ["beneficiary.created", *PROCESSING]),
    ],
)
def test_initial_status_of_each_type(type: str, status: str, events: list[str]) -> None:
    """Decision S17: no event while pending, `transaction.processing` at the creation of a withdrawal."""
    wallets = WalletWorld()
    assert getattr(wallets, type)()["status"] == status
    assert wallets.events() == events


def test_an_internal_transfer_completes_before_any_other_request_or_timer() -> None:
    """Decisions S9 and S17: answered `processing`, completed at the same instant."""
    wallets = WalletWorld()
    made = wallets.send(destination=TO_AMINA)
    assert made["status"] == "processing"
    assert wallets.show(made["id"])["status"] == "completed"
    assert len(wallets.world.agenda) == 0
    assert wallets.events() == PROCESSING + COMPLETED
    assert wallets.world.now_ms == wallets.world.started_at_ms
    for action in ACTIONS:
        assert refusal(wallets.act, action, made["id"])[0] == 409


@pytest.mark.parametrize("type", ["send", "swap", "buy", "withdraw"])
@pytest.mark.parametrize("code", ["payment_failed", "payout_failed", "network_unavailable", "internal_error"])
def test_fail_says_why(type: str, code: str) -> None:
    """Decision S4: `failure_code` is absent until a transaction has failed."""
    wallets = WalletWorld()
    made = getattr(wallets, type)()
    assert "failure_code" not in made
    assert wallets.act("fail", made["id"], failure_code=code)["failure_code"] == code


def test_fail_says_internal_error_by_default_and_refuses_unknown_codes() -> None:
    """Decision S4."""
    wallets = WalletWorld()
    made: Any = wallets.send()
    assert refusal(wallets.act, "fail", made["id"], failure_code="bad_luck") == (
        400,
        "invalid_parameter",
        "failure_code",
    )
    assert wallets.act("fail", made["id"])["failure_code"] == "internal_error"


def test_only_a_withdrawal_that_failed_has_a_failure_code() -> None:
    """Decision S4: kept when refunded."""
    wallets = WalletWorld()
    failed, completed = wallets.withdraw(), wallets.withdraw()
    wallets.act("fail", failed["id"], failure_code="payout_failed")
    wallets.act("complete", completed["id"])
    assert wallets.act("refund", failed["id"])["failure_code"] == "payout_failed"
    assert "failure_code" not in wallets.act("refund", completed["id"])
