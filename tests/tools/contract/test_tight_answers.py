"""The strict contract rejects a ramp with fields of the other type, without the fields of its own type, or with a
status that its fields exclude.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from simulator.providers.ramp.ramps import ROOM
from tests.contract_judge import ContractJudge
from tests.shipped import committed

EXAMPLES = {kind.name: kind.example() for kind in ROOM.kinds}
HEADERS = {"x-request-id": "req_1"}
Break = Callable[[dict[str, Any]], object]


@pytest.fixture(scope="module")
def judge() -> ContractJudge:
    return ContractJudge(committed("openapi.strict.yaml"))


def _example(kind: str) -> dict[str, Any]:
    """The example of a kind, with times as they are printed."""
    shown: dict[str, Any] = copy.deepcopy(dict(EXAMPLES[kind]))
    times = ("created_at", "updated_at", "expires_at")
    shown |= {name: "2026-01-05T08:00:00.000Z" for name in times if name in shown}
    if "deposit" in shown:
        shown["deposit"]["deposit_by"] = "2026-01-05T08:30:00.000Z"
    return shown


def _on_stellar(offramp: dict[str, Any]) -> dict[str, Any]:
    address = _example("onramp")["wallet_address"]
    offramp |= {"network": "stellar"}
    offramp["deposit"] |= {"network": "stellar", "memo": "10001", "address": address}
    return offramp


WRONG: dict[str, tuple[str, Break]] = {
    "an onramp without its address": ("onramp", lambda shown: shown.pop("wallet_address")),
    "an onramp without instructions": ("onramp", lambda shown: shown.pop("payment_instructions")),
    "an onramp with a beneficiary": ("onramp", lambda shown: shown.update(beneficiary_id="ben_1")),
    "an onramp that waits for a deposit": ("onramp", lambda shown: shown.update(status="awaiting_deposit")),
    "an onramp that is an offramp": ("onramp", lambda shown: shown.update(type="offramp")),
    "mobile money without a phone": ("onramp", lambda shown: shown["payment_instructions"].pop("phone_number")),
    "mobile money to an account": ("onramp", lambda shown: shown["payment_instructions"].update(account_number="1")),
    "an offramp without a deposit": ("offramp", lambda shown: shown.pop("deposit")),
    "an offramp without a beneficiary": ("offramp", lambda shown: shown.pop("beneficiary_id")),
    "an offramp to a wallet": ("offramp", lambda shown: shown.update(wallet_address="0x0")),
    "an offramp that waits for a payment": ("offramp", lambda shown: shown.update(status="awaiting_payment")),
    "a memo on celo": ("offramp", lambda shown: shown["deposit"].update(memo="10001")),
    "an asset of stellar on celo": ("offramp", lambda shown: shown["deposit"].update(asset="XLM")),
    "no memo on stellar": ("offramp", lambda shown: _on_stellar(shown)["deposit"].pop("memo")),
}


def _of_transaction(judge: ContractJudge, shown: dict[str, Any]) -> list[str]:
    found = judge.answer("GET", f"/transactions/{shown['id']}", 200, HEADERS, shown)
    return [str(finding) for finding in found]


@pytest.mark.parametrize("kind", ["onramp", "offramp"])
def test_real_ramp_matches_the_contract(kind: str, judge: ContractJudge) -> None:
    assert _of_transaction(judge, _example(kind)) == []


def test_offramp_on_stellar_matches_the_contract(judge: ContractJudge) -> None:
    assert _of_transaction(judge, _on_stellar(_example("offramp"))) == []


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_ramp_does_not_match_the_contract(wrong: str, judge: ContractJudge) -> None:
    kind, change = WRONG[wrong]
    shown = _example(kind)
    change(shown)
    assert _of_transaction(judge, shown) != []


@pytest.mark.parametrize("status", ["processing", "completed", "failed", "expired", "refunded"])
@pytest.mark.parametrize("kind", ["onramp", "offramp"])
def test_confirmed_ramp_is_always_waiting(kind: str, status: str, judge: ContractJudge) -> None:
    shown = _example(kind)
    path = f"/quotes/{shown['quote_id']}/confirm"
    assert judge.answer("POST", path, 201, HEADERS, shown) == []
    assert judge.answer("POST", path, 201, HEADERS, {**shown, "status": status}) != []


@pytest.mark.parametrize("status", ["confirmed", "expired"])
def test_new_quote_is_never_used_or_expired(status: str, judge: ContractJudge) -> None:
    shown = _example("ramp_quote") | {"status": "active"}
    assert judge.answer("POST", "/quotes", 201, HEADERS, shown) == []
    assert judge.answer("POST", "/quotes", 201, HEADERS, {**shown, "status": status}) != []
