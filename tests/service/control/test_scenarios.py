"""Uploading scenarios: accepted, refused, and accepted with warnings."""

from __future__ import annotations

from typing import Any

import pytest

from tests.remote import Remote
from tests.support import CELO


def test_upload_that_matches_nothing_has_a_warning(world: Remote) -> None:
    rule = {"on": "transaction.completed", "where": {"type": "onrmp"}, "do": []}
    answer = world.control("POST", "/scenarios", {"name": "x", "rules": [rule]})
    assert answer.status == 201
    ((warning),) = answer.body["warnings"]
    assert (warning["path"], warning["line"]) == ("rules[0].where.type", 1)
    assert warning["message"] == "`type` is never `onrmp`; did you mean `onramp`?"


def test_an_upload_without_doubts_has_no_warnings(world: Remote) -> None:
    assert "warnings" not in world.control("POST", "/scenarios", {"name": "x"}).body


def test_an_upload_is_bounded(world: Remote) -> None:
    for text in (b"#" * (256 * 1024 + 1), b"[" * 2_000, b"name: x\nrules: [" + b"x," * 20_001 + b"]"):
        answer = world.control("POST", "/scenarios", content=text)
        assert (answer.status, answer.code, len(answer.body["error"]["errors"])) == (400, "invalid_scenario", 1)


def test_non_string_action_and_too_large_number_are_refused(world: Remote) -> None:
    for text in (
        b"name: x\ndrive: [{action: {a: 1}}]",
        b"name: x\ndrive: [{post: /quotes, body: 99999999999999999999}]",
    ):
        assert world.control("POST", "/scenarios", content=text).refusal == (400, "invalid_scenario", None)


RULE = "name: x\nrules:\n  - on: transaction.processing\n    do:\n      - {action: "


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        (
            f"{RULE}set_balance, symbol: USDC, network: celo, amount: '5'}}",
            [(5, "rules[0].do[0].network", "`network`: it must be one of STELLAR, CELO, BITCOIN")],
        ),
        (
            f"{RULE}set_balance, symbol: BTC, network: CELO, amount: '5'}}",
            [(5, "rules[0].do[0].symbol", "`symbol`: it is not available on CELO")],
        ),
        (
            f"{RULE}set_balance, symbol: USDC, network: CELO, amount: '5.0000001'}}",
            [(5, "rules[0].do[0].amount", "`amount`: USDC amounts have at most 6 decimals")],
        ),
        (
            f"{RULE}set_rate, rate: '0'}}",
            [
                (5, "rules[0].do[0].asset", "the parameter `asset` is missing"),
                (5, "rules[0].do[0].fiat_currency", "the parameter `fiat_currency` is missing"),
                (5, "rules[0].do[0].rate", "`rate`: it must be above zero"),
            ],
        ),
        (
            f"{RULE}set_rate, asset: USDC, fiat_currency: USD, rate: '1.00000000001'}}",
            [
                (5, "rules[0].do[0].fiat_currency", "`fiat_currency`: it must be one of KES, TZS, NGN, ZAR, ZMW"),
                (5, "rules[0].do[0].rate", "`rate`: a rate must have at most 10 significant digits"),
            ],
        ),
        (
            f"{RULE}set_rate, from: {{symbol: USDC, network: MOON}}, rate: '1'}}",
            [
                (5, "rules[0].do[0].to", "the parameter `to` is missing"),
                (5, "rules[0].do[0].from.network", "`network`: it must be one of STELLAR, CELO, BITCOIN"),
            ],
        ),
        (
            f"{RULE}emit, type: transaction.complete}}",
            [
                (
                    5,
                    "rules[0].do[0].type",
                    "`type`: unknown event type 'transaction.complete'; did you mean `transaction.completed`?",
                )
            ],
        ),
        (
            f"{RULE}create_key, permissions: [read, nope]}}",
            [
                (
                    5,
                    "rules[0].do[0].permissions",
                    "`permissions`: 'nope' is not one of read, ramps, wallet, wallets, beneficiaries, recurring, "
                    "profile, webhooks",
                )
            ],
        ),
        (
            f"{RULE}move_rates, percent: -100}}",
            [
                (
                    5,
                    "rules[0].do[0].percent",
                    "`percent`: it must be greater than -100, so that every rate stays positive",
                )
            ],
        ),
        (
            f"{RULE}complete, tx_hash: '0x12'}}",
            [(5, "rules[0].do[0].tx_hash", "`tx_hash`: it is not a transaction hash on any network")],
        ),
        (
            "name: x\ntimeline:\n  - {at: 1m, action: set_rate, asset: USDC, fiat_currency: USD, rate: '1'}",
            [(3, "timeline[0].fiat_currency", "`fiat_currency`: it must be one of KES, TZS, NGN, ZAR, ZMW")],
        ),
        (
            "name: x\nworld:\n  balances:\n    - {symbol: USDC, network: CELO, amount: '5'}\n"
            "    - {symbol: USDC, network: celo, amount: '5'}",
            [(5, "world.balances[1].network", "`network`: it must be one of STELLAR, CELO, BITCOIN")],
        ),
    ],
)
def test_impossible_action_is_refused_with_its_path(world: Remote, text: str, problems: list[tuple[Any, ...]]) -> None:
    answer = world.control("POST", "/scenarios", content=text.encode())
    assert answer.refusal == (400, "invalid_scenario", None)
    found = answer.body["error"]["errors"]
    assert sorted((row["line"], row["path"], row["message"]) for row in found) == sorted(problems)
    assert all(row["column"] > 1 for row in found)


def test_scenario_with_a_captured_parameter_is_accepted(world: Remote) -> None:
    text = """
name: x
rules:
  - on: transaction.processing
    where: {reference: {matches: "(?P<network>[A-Z]+)"}}
    do: [{action: set_balance, symbol: USDC, network: "${network}", amount: "5"}]
"""
    assert world.control("POST", "/scenarios", content=text.encode()).status == 201


def test_unknown_scenario_in_a_path_is_not_found(world: Remote) -> None:
    assert world.control("GET", "/scenarios/nope").refusal == (404, "not_found", None)
    assert world.control("PUT", "/scenarios/active", {"names": ["nope"]}).refusal == (404, "not_found", "names")


def test_object_bound_to_a_scenario_stays_bound_to_it(autopilot_world: Remote) -> None:
    assert autopilot_world.control("PUT", "/scenarios/active", {"names": []}).status == 200
    body = {
        "symbol": "CUSD",
        "network": "CELO",
        "amount": "20",
        "destination": {"type": "address", "address": CELO},
    }
    chosen = autopilot_world.api("POST", "/wallet/send", body, {"X-Simulator-Scenario": "autopilot"}).body["id"]
    other = autopilot_world.api("POST", "/wallet/send", body).body["id"]
    autopilot_world.advance(by="20s")
    assert [autopilot_world.api("GET", f"/transactions/{one}").body["status"] for one in (chosen, other)] == [
        "completed",
        "pending",
    ]


def test_unknown_resource_type_is_refused(world: Remote) -> None:
    answer = world.control("GET", "/resources", params={"type": "walet"})
    assert answer.refusal == (400, "invalid_parameter", "type")
    assert "did you mean `wallet`?" in answer.body["error"]["message"]
    for known in ("wallet", "transaction", "quote", "send", "deposit", "network", "lightning_entry", ""):
        assert world.control("GET", "/resources", params={"type": known}).status == 200
