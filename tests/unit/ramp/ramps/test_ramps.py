"""Ramps without HTTP: arithmetic in both directions, every row of the state tables, and the ledger."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.engine.records.advice import ADVICE
from simulator.engine.records.records import find, present, render
from simulator.engine.rows.error import ApiError, ControlError
from simulator.kernel.clock import MINUTE_MS, parse_timestamp
from simulator.kernel.world import World
from simulator.providers.ramp.provider import ROOMS
from simulator.providers.ramp.ramps.records import QUOTES as QUOTE_ROWS
from simulator.providers.ramp.ramps.states import OFFRAMP, ONRAMP
from simulator.providers.ramp.reference import currency_of
from simulator.providers.ramp.transactions.records import TRANSACTIONS
from tests.support import BENEFICIARY, CELO, QUOTE, act, advance, event_types, find_operation, invoke, make_world

STELLAR = "GBZXN7PIRZGNMHGA7MUUUF4GWPY5AYPV6LY4UV2GL6VJGIQRXFDNMADI"
QUOTES = find_operation(ROOMS, "POST", "/quotes")
CONFIRM = find_operation(ROOMS, "POST", "/quotes/{id}/confirm")
GET_QUOTE = find_operation(ROOMS, "GET", "/quotes/{id}")
BENEFICIARIES = find_operation(ROOMS, "POST", "/beneficiaries")


@pytest.fixture
def world() -> World:
    return make_world(*ROOMS)


def quote(world: World, **changes: Any) -> dict[str, Any]:
    body = QUOTE
    shown: dict[str, Any] = invoke(world, QUOTES, body | changes)
    return shown


def confirm(world: World, quoted: dict[str, Any], **changes: Any) -> dict[str, Any]:
    address = STELLAR if quoted["network"] == "stellar" else CELO
    if quoted["type"] == "offramp":
        body: dict[str, Any] = {"beneficiary_id": beneficiary(world, quoted), "refund_address": address}
    elif quoted["method"] == "mobile_money":
        body = {"wallet_address": address, "payer": {"phone_number": "+254712345678"}}
    else:
        body = {"wallet_address": address, "payer": {"account_name": "Wanjiru Otieno"}}
    shown: dict[str, Any] = invoke(world, CONFIRM, body | changes, id=quoted["id"])
    return shown


def beneficiary(world: World, quoted: dict[str, Any]) -> str:
    identifier: str = invoke(world, BENEFICIARIES, BENEFICIARY)["id"]
    return identifier


def onramp(world: World) -> str:
    identifier: str = confirm(world, quote(world))["id"]
    return identifier


def offramp(world: World, network: str = "celo") -> str:
    quoted = quote(world, type="offramp", amount="50", amount_currency="USDC", network=network)
    identifier: str = confirm(world, quoted)["id"]
    return identifier


def status(world: World, identifier: str) -> str:
    found: Any = find(world, identifier)
    state: str = found.status
    return state


def books_are_balanced(world: World) -> bool:
    return not any(world.ledger.totals().values())


# Quotes


def test_an_onramp_delivers_what_is_left_after_the_fee_rounded_down(world: World) -> None:
    """Decision M3."""
    shown = quote(world)
    net = Decimal(shown["source_amount"]) - Decimal(shown["fee"]["total"])
    exact = net / Decimal(shown["rate"])
    assert Decimal(shown["destination_amount"]) <= exact < Decimal(shown["destination_amount"]) + Decimal("0.000001")
    assert (shown["source_currency"], shown["destination_currency"]) == ("KES", "USDC")


def test_an_offramp_delivers_fiat_with_two_decimals(world: World) -> None:
    """Decision M4."""
    shown = quote(world, type="offramp", amount="50", amount_currency="USDC")
    net = Decimal(shown["source_amount"]) - Decimal(shown["fee"]["total"])
    exact = net * Decimal(shown["rate"])
    assert Decimal(shown["destination_amount"]) <= exact < Decimal(shown["destination_amount"]) + Decimal("0.01")
    assert shown["fee"]["currency"] == "USDC"
    assert len(shown["destination_amount"].partition(".")[2]) == 2


@settings(max_examples=60)
@given(
    direction=st.sampled_from(["onramp", "offramp"]),
    pair=st.sampled_from(
        [("stellar", "USDC"), ("stellar", "XLM"), ("celo", "CELO"), ("celo", "CUSD"), ("celo", "USDT")]
    ),
    fiat=st.sampled_from(["KES", "TZS", "NGN", "ZAR", "ZMW"]),
    units=st.integers(20_00, 50_00),
)
def test_an_amount_solved_backwards_is_the_smallest_that_delivers_it(
    direction: str, pair: tuple[str, str], fiat: str, units: int
) -> None:
    """Decisions M3 and M4.

    An amount on the destination side is delivered, and one unit less of the source is not enough.
    """
    world = make_world(*ROOMS)
    network, asset = pair
    wanted = fiat if direction == "offramp" else asset
    mids = {"KES": 130, "TZS": 2600, "NGN": 1550, "ZAR": 17, "ZMW": 24}
    dollars = Decimal(units) / 100
    worth = {"XLM": Decimal("0.3"), "CELO": Decimal("0.4")}.get(asset, Decimal(1))
    amount = dollars * mids[fiat] if direction == "offramp" else dollars / worth
    body = {
        "type": direction,
        "network": network,
        "asset": asset,
        "fiat_currency": fiat,
        "method": "bank_transfer",
        "amount": f"{amount:.2f}",
        "amount_currency": wanted,
    }
    shown = invoke(world, QUOTES, body)
    assert Decimal(shown["destination_amount"]) == Decimal(body["amount"])
    source_code = fiat if direction == "onramp" else asset
    source = currency_of(source_code, None if direction == "onramp" else network)
    same = invoke(world, QUOTES, body | {"amount": shown["source_amount"], "amount_currency": source_code})
    assert Decimal(same["destination_amount"]) >= Decimal(body["amount"])
    less = Decimal(shown["source_amount"]) - source.unit
    short = invoke(world, QUOTES, body | {"amount": f"{less:f}", "amount_currency": source_code})
    assert Decimal(short["destination_amount"]) < Decimal(body["amount"])


REFUSED_QUOTES = [
    ({"type": "swap"}, 400, "invalid_parameter", "type"),
    ({"network": "bitcoin"}, 400, "invalid_parameter", "network"),
    ({"network": "CELO"}, 400, "invalid_parameter", "network"),
    ({"method": "cash"}, 400, "invalid_parameter", "method"),
    ({"amount": 5000}, 400, "invalid_parameter", "amount"),
    ({"amount": "-1"}, 400, "invalid_parameter", "amount"),
    ({"amount": "1e3"}, 400, "invalid_parameter", "amount"),
    ({"amount": "5000.000"}, 400, "invalid_parameter", "amount"),
    ({"amount": " 5"}, 400, "invalid_parameter", "amount"),
    ({"amount_currency": "USDT"}, 400, "invalid_parameter", "amount_currency"),
    ({"amount": None}, 400, "missing_parameter", "amount"),
    ({"asset": "XLM"}, 422, "unsupported_pair", "asset"),
    ({"asset": "BTC"}, 422, "unsupported_pair", "asset"),
    ({"fiat_currency": "UGX", "amount_currency": "USDC"}, 422, "unsupported_pair", "fiat_currency"),
    ({"fiat_currency": "ZAR", "amount_currency": "ZAR"}, 422, "unsupported_pair", "method"),
    ({"amount": "0"}, 422, "amount_too_low", "amount"),
    ({"amount": "0.01"}, 422, "amount_too_low", "amount"),
    ({"amount": "999999999"}, 422, "amount_too_high", "amount"),
]


@pytest.mark.parametrize(("changes", "code_status", "code", "param"), REFUSED_QUOTES)
def test_impossible_quote_is_refused_with_its_parameter(
    world: World, changes: dict[str, Any], code_status: int, code: str, param: str
) -> None:
    """Decisions H5 and H7: malformed values and pairs that do not go together."""
    with pytest.raises(ApiError) as refused:
        quote(world, **changes)
    assert (refused.value.status, refused.value.code, refused.value.param) == (code_status, code, param)
    assert len(world.store[QUOTE_ROWS.of("sandbox")]) == 0


def test_a_missing_field_is_named_before_a_malformed_one(world: World) -> None:
    with pytest.raises(ApiError) as refused:
        invoke(world, QUOTES, {"type": "swap"})
    assert (refused.value.code, refused.value.param) == ("missing_parameter", "network")


def test_a_network_that_is_down_refuses_quotes_and_confirmations(world: World) -> None:
    quoted = quote(world)
    act(world, ROOMS, "set_network", network="celo", status="down")
    attempts: tuple[Callable[[], Any], ...] = (lambda: quote(world), lambda: confirm(world, quoted))
    for attempt in attempts:
        with pytest.raises(ApiError) as refused:
            attempt()
        assert (refused.value.status, refused.value.code) == (503, "network_unavailable")
    quote(world, network="stellar")


def test_a_quote_expires_at_exactly_thirty_minutes(world: World) -> None:
    """Decision S1: at `expires_at` itself a quote is expired."""
    quoted = quote(world)
    expiry = parse_timestamp(quoted["expires_at"])
    assert expiry == world.now_ms + 30 * MINUTE_MS
    advance(world, expiry - 1)
    assert invoke(world, GET_QUOTE, id=quoted["id"])["status"] == "active"
    advance(world, expiry)
    assert invoke(world, GET_QUOTE, id=quoted["id"])["status"] == "expired"
    assert event_types(world) == ["quote.expired"]
    with pytest.raises(ApiError) as refused:
        confirm(world, quoted)
    assert (refused.value.status, refused.value.code) == (422, "quote_expired")


def test_a_confirmed_quote_is_used_up_and_never_expires(world: World) -> None:
    quoted = quote(world)
    confirm(world, quoted)
    with pytest.raises(ApiError) as refused:
        confirm(world, quoted)
    assert (refused.value.status, refused.value.code) == (409, "quote_already_used")
    advance(world, world.now_ms + 60 * MINUTE_MS)
    assert "quote.expired" not in event_types(world)


def test_an_unknown_quote_is_not_found(world: World) -> None:
    with pytest.raises(ApiError) as refused:
        invoke(world, GET_QUOTE, id="qt_unknown")
    assert (refused.value.status, refused.value.code) == (404, "quote_not_found")


# Confirming


def test_an_onramp_starts_with_instructions_for_the_payer(world: World) -> None:
    """Decision H19: fields of another variant are absent, a hash not yet known is null."""
    ramp = confirm(world, quote(world), reference="order-7")
    assert ramp["status"] == "awaiting_payment"
    assert set(ramp["payment_instructions"]) == {"method", "phone_number", "prompt_text"}
    assert (ramp["wallet_address"], ramp["reference"], ramp["tx_hash"]) == (CELO, "order-7", None)
    assert "deposit" not in ramp
    assert "beneficiary_id" not in ramp
    assert event_types(world) == ["transaction.created", "transaction.awaiting_payment"]


def test_a_bank_transfer_names_the_account_to_pay_to(world: World) -> None:
    """Decision R5: the fields of `payment_instructions`."""
    ramp = confirm(world, quote(world, method="bank_transfer"))
    assert set(ramp["payment_instructions"]) == {"method", "account_number", "bank_name", "reference"}


@pytest.mark.parametrize(
    ("payer", "code", "param"),
    [
        ({}, "missing_parameter", "payer.account_name"),
        ({"account_number": "1234567890"}, "missing_parameter", "payer.account_name"),
        ({"account_name": " "}, "invalid_parameter", "payer.account_name"),
        ({"account_name": "Juma", "account_number": "123456789"}, "invalid_parameter", "payer.account_number"),
        ({"account_name": "Juma", "account_number": "12345678901234x"}, "invalid_parameter", "payer.account_number"),
        ({"account_name": "Juma", "account_number": ""}, "invalid_parameter", "payer.account_number"),
        ({"account_name": "Juma", "bank_code": "058"}, "invalid_bank_account", "payer.bank_code"),
        ({"account_name": "Juma", "bank_code": ""}, "invalid_bank_account", "payer.bank_code"),
    ],
)
def test_r5_a_payer_by_bank_transfer_is_named_and_the_rest_is_checked(
    world: World, payer: dict[str, str], code: str, param: str
) -> None:
    quoted = quote(world, method="bank_transfer")
    with pytest.raises(ApiError) as refused:
        confirm(world, quoted, payer=payer)
    assert (refused.value.code, refused.value.param) == (code, param)
    whole = {"account_name": "Juma", "account_number": "1234567890", "bank_code": "01"}
    assert confirm(world, quoted, payer=whole)["status"] == "awaiting_payment"


@pytest.mark.parametrize(("network", "has_memo"), [("celo", False), ("stellar", True)])
def test_an_offramp_names_the_address_to_deposit_to(world: World, network: str, has_memo: bool) -> None:
    """Decisions H19 and M4: no memo on celo; `deposit.amount` is source_amount."""
    quoted = quote(world, type="offramp", amount="50", amount_currency="USDC", network=network)
    ramp = confirm(world, quoted)
    assert ramp["status"] == "awaiting_deposit"
    assert ("memo" in ramp["deposit"]) is has_memo
    assert ramp["deposit"]["amount"] == ramp["source_amount"] == "50.00"
    assert ramp["deposit"]["deposit_by"] == quoted["expires_at"]
    assert event_types(world) == ["beneficiary.created", "transaction.created", "transaction.awaiting_deposit"]


REFUSED_CONFIRMATIONS = [
    ("onramp", {"payer": None}, "missing_parameter", "payer"),
    ("onramp", {"payer": {}}, "missing_parameter", "payer.phone_number"),
    ("onramp", {"payer": "me"}, "invalid_parameter", "payer"),
    ("onramp", {"wallet_address": 5}, "invalid_parameter", "wallet_address"),
    ("onramp", {"payer": {"phone_number": "+27821234567"}}, "invalid_phone_number", "payer.phone_number"),
    ("onramp", {"payer": {"phone_number": 254712345678}}, "invalid_parameter", "payer.phone_number"),
    ("onramp", {"wallet_address": STELLAR}, "invalid_wallet_address", "wallet_address"),
    ("offramp", {"refund_address": "0x1"}, "invalid_wallet_address", "refund_address"),
    ("offramp", {"beneficiary_id": "ben_unknown"}, "not_found", "beneficiary_id"),
    ("offramp", {"beneficiary_id": None}, "missing_parameter", "beneficiary_id"),
]


@pytest.mark.parametrize(("direction", "changes", "code", "param"), REFUSED_CONFIRMATIONS)
def test_a_refused_confirmation_leaves_the_quote_active(
    world: World, direction: str, changes: dict[str, Any], code: str, param: str
) -> None:
    amount = {"amount": "50", "amount_currency": "USDC"} if direction == "offramp" else {}
    quoted = quote(world, type=direction, **amount)
    with pytest.raises(ApiError) as refused:
        confirm(world, quoted, **changes)
    assert (refused.value.code, refused.value.param) == (code, param)
    assert invoke(world, GET_QUOTE, id=quoted["id"])["status"] == "active"
    assert len(world.store[TRANSACTIONS.of("sandbox")]) == 0


def test_a_beneficiary_of_another_method_does_not_match(world: World) -> None:
    quoted = quote(world, type="offramp", amount="50", amount_currency="USDC", method="bank_transfer")
    with pytest.raises(ApiError) as refused:
        confirm(world, quoted)
    assert (refused.value.code, refused.value.param) == ("beneficiary_mismatch", "beneficiary_id")


# State tables, cell by cell

_TO = {
    ("onramp", "awaiting_payment"): [],
    ("onramp", "processing"): ["payment_arrives"],
    ("onramp", "completed"): ["payment_arrives", "complete"],
    ("onramp", "failed"): ["payment_arrives", "fail"],
    ("onramp", "refunded"): ["payment_arrives", "refund"],
    ("onramp", "expired"): ["wait"],
    ("offramp", "awaiting_deposit"): [],
    ("offramp", "processing"): ["deposit_arrives"],
    ("offramp", "completed"): ["deposit_arrives", "complete"],
    ("offramp", "failed"): ["deposit_arrives", "fail"],
    ("offramp", "refunded"): ["deposit_arrives", "refund"],
    ("offramp", "expired"): ["wait"],
}
_LEGAL = {
    ("onramp", "awaiting_payment", "payment_arrives"): ("processing", "transaction.processing"),
    ("onramp", "awaiting_payment", "payment_declined"): ("failed", "transaction.failed"),
    ("offramp", "awaiting_deposit", "deposit_arrives"): ("processing", "transaction.processing"),
    **{
        (kind, state, action): outcome
        for kind in ("onramp", "offramp")
        for (state, action), outcome in {
            ("processing", "complete"): ("completed", "transaction.completed"),
            ("processing", "fail"): ("failed", "transaction.failed"),
            ("processing", "refund"): ("refunded", "transaction.refunded"),
            ("completed", "refund"): ("refunded", "transaction.refunded"),
            ("failed", "refund"): ("refunded", "transaction.refunded"),
        }.items()
    },
}
_ACTIONS = ("payment_arrives", "payment_declined", "deposit_arrives", "complete", "fail", "refund")


def bring_to(world: World, kind: str, state: str) -> str:
    identifier = onramp(world) if kind == "onramp" else offramp(world)
    for step in _TO[kind, state]:
        if step == "wait":
            advance(world, world.now_ms + 30 * MINUTE_MS)
        else:
            act(world, ROOMS, step, identifier)
    assert status(world, identifier) == state
    return identifier


@pytest.mark.parametrize(("kind", "state"), _TO)
@pytest.mark.parametrize("action", _ACTIONS)
def test_every_transition_of_the_state_tables(world: World, kind: str, state: str, action: str) -> None:
    """Decisions S3, S5 and S11: a payer can decline, what can be refunded, when `complete` and `fail` are illegal."""
    identifier = bring_to(world, kind, state)
    events_before = world.journal.event_count
    shown_before = render(world, present(find(world, identifier)))
    legal = _LEGAL.get((kind, state, action))
    if legal is None:
        with pytest.raises(ControlError) as refused:
            act(world, ROOMS, action, identifier)
        assert (refused.value.status, refused.value.code) == (409, "invalid_transition")
        assert render(world, present(find(world, identifier))) == shown_before
        assert world.journal.event_count == events_before
        allowed = {cell[2] for cell in _LEGAL if cell[:2] == (kind, state)}
        assert set(refused.value.envelope()["error"]["allowed"]) == allowed
    else:
        done = act(world, ROOMS, action, identifier)
        assert (status(world, identifier), [event.type for event in done.events]) == (legal[0], [legal[1]])
    assert books_are_balanced(world)


def test_the_tables_have_a_row_for_every_status_of_the_specification() -> None:
    assert set(ONRAMP.rows) | set(OFFRAMP.rows) == {
        "awaiting_payment",
        "awaiting_deposit",
        "processing",
        "completed",
        "failed",
        "expired",
        "refunded",
    }


def test_an_unpaid_ramp_expires_at_its_quotes_expiry(world: World) -> None:
    """Decision S1: the payment deadline is the quote's expires_at."""
    quoted = quote(world)
    identifier = confirm(world, quoted)["id"]
    advance(world, parse_timestamp(quoted["expires_at"]) - 1)
    assert status(world, identifier) == "awaiting_payment"
    advance(world, world.now_ms + 1)
    assert status(world, identifier) == "expired"
    assert event_types(world)[-1] == "transaction.expired"


# Short, over, wrong


def test_a_short_payment_fails_at_once_and_can_be_refunded(world: World) -> None:
    """Decisions S4, S5 and S6: one failed event, the funds count as received, the code stays after the refund."""
    identifier = onramp(world)
    done = act(world, ROOMS, "payment_arrives", identifier, amount="4999.99")
    assert [event.type for event in done.events] == ["transaction.failed"]
    assert done.resource is not None
    assert done.resource["failure_code"] == "insufficient_payment"
    refunded = act(world, ROOMS, "refund", identifier).resource
    assert refunded is not None
    assert (refunded["status"], refunded["failure_code"]) == ("refunded", "insufficient_payment")
    assert books_are_balanced(world)


def test_too_much_is_accepted_and_the_quoted_amount_converted(world: World) -> None:
    """Decision S6."""
    identifier = offramp(world)
    done = act(world, ROOMS, "deposit_arrives", identifier, amount="60")
    assert done.resource is not None
    assert (done.resource["status"], done.resource["source_amount"]) == ("processing", "50.00")
    act(world, ROOMS, "complete", identifier)
    assert books_are_balanced(world)


def test_a_short_deposit_fails_with_its_own_code(world: World) -> None:
    """Decision S6: straight from awaiting_deposit, with `insufficient_deposit`."""
    done = act(world, ROOMS, "deposit_arrives", offramp(world), amount="49.999999")
    assert done.resource is not None
    assert (done.resource["status"], done.resource["failure_code"]) == ("failed", "insufficient_deposit")


@pytest.mark.parametrize("wrong", [{"asset": "USDT"}, {"memo": ""}, {"memo": "1"}])
def test_a_deposit_with_the_wrong_asset_or_memo_is_not_matched(world: World, wrong: dict[str, str]) -> None:
    """Decision S6: it stays awaiting_deposit, with an advice."""
    identifier = offramp(world, "stellar")
    done = act(world, ROOMS, "deposit_arrives", identifier, **wrong)
    assert (list(done.events), status(world, identifier)) == ([], "awaiting_deposit")
    assert len(world.store[ADVICE]) == 1


def test_a_declined_payer_leaves_nothing_to_refund(world: World) -> None:
    """Decisions S3 and S5: `payment_failed`, and no funds that could be refunded."""
    identifier = onramp(world)
    done = act(world, ROOMS, "payment_declined", identifier)
    assert done.resource is not None
    assert done.resource["failure_code"] == "payment_failed"
    with pytest.raises(ControlError):
        act(world, ROOMS, "refund", identifier)


@pytest.mark.parametrize(
    ("action", "values", "param"),
    [
        ("payment_arrives", {"amount": "0"}, "amount"),
        ("payment_arrives", {"amount": "1.001"}, "amount"),
        ("payment_arrives", {"amount": 5}, "amount"),
        ("fail", {"failure_code": "bad_luck"}, "failure_code"),
        ("complete", {"tx_hash": "0x12"}, "tx_hash"),
    ],
)
def test_a_wrong_parameter_of_an_action_is_named(world: World, action: str, values: dict[str, Any], param: str) -> None:
    """Decision S4: a failure code outside the set is 400."""
    identifier = bring_to(world, "onramp", "awaiting_payment" if action == "payment_arrives" else "processing")
    with pytest.raises(ControlError) as refused:
        act(world, ROOMS, action, identifier, **values)
    assert (refused.value.status, refused.value.code, refused.value.param) == (400, "invalid_parameter", param)


def test_the_hash_of_an_onramp_is_known_when_it_completes(world: World) -> None:
    """Decision S16."""
    identifier = bring_to(world, "onramp", "processing")
    assert render(world, present(find(world, identifier)))["tx_hash"] is None
    given_hash = "0x" + "ab" * 32
    done = act(world, ROOMS, "complete", identifier, tx_hash=given_hash)
    assert done.resource is not None
    assert done.resource["tx_hash"] == given_hash


def test_the_hash_of_an_offramp_is_that_of_its_deposit(world: World) -> None:
    """Decision S16."""
    identifier = offramp(world)
    done = act(world, ROOMS, "deposit_arrives", identifier)
    assert done.resource is not None
    assert done.resource["tx_hash"].startswith("0x")
    after = act(world, ROOMS, "complete", identifier).resource
    assert after is not None
    assert after["tx_hash"] == done.resource["tx_hash"]


# Account limits


@pytest.mark.parametrize("ending", ["expire", "payment_declined", "payment_arrives fail", "payment_arrives refund"])
def test_confirmed_ramp_counts_towards_limits_unless_it_fails(world: World, ending: str) -> None:
    """Decision M14: given back when it fails, expires or is refunded."""
    limits = find_operation(ROOMS, "GET", "/profile/limits")

    def used() -> str:
        shown: str = invoke(world, limits)["limits"]["daily"]["used"]
        return shown

    identifier = onramp(world)
    assert used() == "5000.00"
    for action in ending.split():
        if action == "expire":
            advance(world, world.now_ms + 30 * MINUTE_MS)
        else:
            act(world, ROOMS, action, identifier)
    assert used() == "0.00"


def test_quotes_check_the_transaction_limit_and_confirmations_the_day(world: World) -> None:
    """Decision M14."""
    act(world, ROOMS, "set_limits", per_transaction="6000", daily="9000")
    with pytest.raises(ApiError) as refused:
        quote(world, amount="6000.01")
    assert refused.value.code == "amount_too_high"
    onramp(world)
    quoted = quote(world)
    with pytest.raises(ApiError) as refused:
        confirm(world, quoted)
    assert refused.value.code == "amount_too_high"
    assert invoke(world, GET_QUOTE, id=quoted["id"])["status"] == "active"


def test_a_refund_of_a_completed_ramp_reverses_its_fee(world: World) -> None:
    identifier = bring_to(world, "onramp", "completed")
    found: Any = find(world, identifier)
    assert world.ledger.balance("fees", "KES") == found.fee.total
    act(world, ROOMS, "refund", identifier)
    assert world.ledger.balance("fees", "KES") == 0
    assert world.ledger.balance("clearing", "KES") == 0
    assert books_are_balanced(world)
