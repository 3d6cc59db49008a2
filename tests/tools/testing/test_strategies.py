"""Hypothesis strategies: their values match the contract, and the simulator accepts most of them."""

from __future__ import annotations

import builtins
import importlib
import re
import sys
from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simulator.contract.files import operations_of, strict_document
from simulator.engine.rows.error import ApiError
from simulator.engine.server.config import Config
from simulator.host import create_app, vocabulary
from simulator.providers.ramp import balance, beneficiaries, deposit_wallets, fees, ramps, reference
from simulator.providers.ramp.reference import is_address
from simulator.providers.ramp.reference.addresses import is_phone
from simulator.testing import strategies
from tests.contract_judge import ContractJudge
from tests.support import find_operation, invoke, whole

pytestmark = pytest.mark.long

JUDGE = ContractJudge(strict_document())
WITH_BODY = [
    (method, path, operation["operationId"])
    for method, path, operation in operations_of(strict_document())
    if "requestBody" in operation
]
QUICK = settings(
    max_examples=whole(100, short=6), derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)


@pytest.mark.parametrize(("method", "path", "operation_id"), WITH_BODY, ids=[row[2] for row in WITH_BODY])
def test_every_body_fits_its_schema(method: str, path: str, operation_id: str) -> None:
    @QUICK
    @given(strategies.bodies(operation_id))
    def check(body: Any) -> None:
        assert JUDGE.request(method, path, body) == []

    check()


@pytest.mark.parametrize("event_type", list(vocabulary().events))
def test_every_envelope_fits_its_schema(event_type: str) -> None:
    @QUICK
    @given(strategies.events(event_type))
    def check(envelope: Any) -> None:
        assert JUDGE.event(envelope) == []
        assert envelope["type"] == event_type

    check()


@pytest.mark.parametrize(
    ("room", "method", "path", "operation_id"),
    [
        (ramps.ROOM, "POST", "/quotes", "create_quote"),
        (beneficiaries.ROOM, "POST", "/beneficiaries", "create_beneficiary"),
        (fees.ROOM, "POST", "/fees/calculate", "calculate_fee"),
        (deposit_wallets.ROOM, "POST", "/wallets", "create_wallet"),
        (balance.ROOM, "POST", "/wallet/buy/quote", "quote_buy"),
    ],
    ids=["create_quote", "create_beneficiary", "calculate_fee", "create_wallet", "quote_buy"],
)
def test_the_simulator_accepts_nearly_every_body(room: Any, method: str, path: str, operation_id: str) -> None:
    world = create_app(Config(clock="manual", scenarios=())).runtime.simulator.default
    operation = find_operation((room,), method, path)
    outcomes: Counter[str] = Counter()

    @settings(QUICK, max_examples=whole(60, short=20))
    @given(strategies.bodies(operation_id))
    def check(body: Any) -> None:
        try:
            invoke(world, operation, body)
        except ApiError as error:
            outcomes[error.code] += 1
        else:
            outcomes["accepted"] += 1

    check()
    assert outcomes["accepted"] >= 0.8 * outcomes.total(), outcomes


@pytest.mark.parametrize("network", ["stellar", "celo", "bitcoin"])
def test_addresses_have_right_checksums(network: str) -> None:
    @QUICK
    @given(strategies.addresses(network))
    def check(text: str) -> None:
        assert is_address(network, text)

    check()


@QUICK
@given(st.sampled_from(["KE", "TZ", "NG", "ZA", "ZM"]).flatmap(
    lambda country: st.tuples(st.just(country), strategies.phone_numbers(country))
))  # fmt: skip
def test_phone_numbers_are_valid_in_their_country_and_choose_no_outcome(drawn: tuple[str, str]) -> None:
    country, number = drawn
    assert is_phone(number, country)
    assert number[-4:] not in {"0001", "0002", "0003", "0009"}


@QUICK
@given(st.sampled_from(sorted([*reference.FIATS, "USDC", "BTC"])).flatmap(strategies.amounts))
def test_amounts_are_decimal_strings(amount: str) -> None:
    assert re.fullmatch(r"[0-9]{1,18}(\.[0-9]{1,18})?", amount)


@QUICK
@given(strategies.identifiers("qt_"), strategies.idempotency_keys(), strategies.phone_numbers())
def test_ids_and_keys_have_their_form(identifier: str, key: str, number: str) -> None:
    assert re.fullmatch(r"qt_[0-9a-z]{20}", identifier)
    assert re.fullmatch(r"[!-~]{1,255}", key)
    assert is_phone(number)


def test_unknown_names_are_key_errors() -> None:
    with pytest.raises(KeyError, match="nothing"):
        strategies.bodies("nothing")
    with pytest.raises(KeyError, match="nothing"):
        strategies.events("nothing")


def test_without_hypothesis_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    genuine = builtins.__import__

    def refuse(name: str, *arguments: Any, **more: Any) -> Any:
        if name.partition(".")[0] == "hypothesis":
            raise ImportError(name)
        return genuine(name, *arguments, **more)

    monkeypatch.setattr(builtins, "__import__", refuse)
    monkeypatch.delitem(sys.modules, "simulator.testing.strategies")
    with pytest.raises(ImportError, match="pip install hypothesis"):
        importlib.import_module("simulator.testing.strategies")
