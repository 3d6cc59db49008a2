"""Sends to an address, to another user, or over Lightning: estimates, holds and refusals."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from simulator.engine.records.records import find
from simulator.providers.ramp.fees.catalogue import products
from simulator.providers.ramp.profile import platform_user, profile_of
from simulator.providers.ramp.transactions import transactions
from simulator.providers.ramp.transactions.records import Transaction
from tests.support import CELO, UNUSUAL_PHONES
from tests.unit.ramp.balance.support import BTC, CUSD, TO_AMINA, TO_CELO, XLM, WalletWorld, refusal

BITCOIN_ADDRESS = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"
TO_BITCOIN = {"type": "address", "address": BITCOIN_ADDRESS}
HASH = "0x" + "ab" * 32


def estimate(wallets: WalletWorld, amount: str = "10", **body: Any) -> Any:
    return wallets.post("/wallet/send/estimate", **{**CUSD, "amount": amount, "destination": TO_CELO, **body})


def test_an_on_chain_send_shows_every_field_of_its_table_and_no_other() -> None:
    wallets = WalletWorld()
    made = wallets.send("10", reference="rent", description="May")
    assert made == {
        "id": next(iter(transactions(wallets.world, "sandbox").values())).id,
        "type": "send",
        "status": "pending",
        "order_id": "ORD-00000001",
        "symbol": "CUSD",
        "network": "CELO",
        "amount": "10.00",
        "fee": {"total": "0.01", "currency": "CUSD", "app_fee": "0.00", "network_fee": "0.01"},
        "net_amount": "9.99",
        "reference": "rent",
        "tx_hash": None,
        "created_at": "2026-01-05T08:00:00.000Z",
        "updated_at": "2026-01-05T08:00:00.000Z",
    }


def test_sent_amount_is_held_until_the_chain_confirms() -> None:
    """Decision M11."""
    wallets = WalletWorld()
    made = wallets.send("10")
    assert (wallets.available("CUSD.celo"), wallets.held("CUSD.celo")) == (Decimal(990), Decimal(10))
    wallets.act("broadcast", made["id"])
    assert wallets.held("CUSD.celo") == Decimal(10)
    wallets.act("complete", made["id"])
    assert (wallets.available("CUSD.celo"), wallets.held("CUSD.celo")) == (Decimal(990), Decimal(0))
    assert wallets.fees("CUSD.celo") == Decimal("0.01")
    wallets.books()


@pytest.mark.parametrize("walk", [(), ("broadcast",)])
def test_a_failed_send_leaves_the_funds_in_the_balance(walk: tuple[str, ...]) -> None:
    """Decision M11: `fail` of a send releases its hold at once."""
    wallets = WalletWorld()
    before = wallets.available("CUSD.celo")
    made = wallets.send("10")
    for action in walk:
        wallets.act(action, made["id"])
    wallets.act("fail", made["id"])
    assert (wallets.available("CUSD.celo"), wallets.held("CUSD.celo")) == (before, Decimal(0))
    wallets.books()


def test_hash_is_set_by_the_broadcast() -> None:
    """Decision S16."""
    wallets = WalletWorld()
    first, second = wallets.send("10"), wallets.send("10")
    assert wallets.act("broadcast", first["id"])["tx_hash"].startswith("0x")
    assert wallets.act("broadcast", second["id"], tx_hash=HASH)["tx_hash"] == HASH
    assert wallets.act("complete", second["id"])["tx_hash"] == HASH


@pytest.mark.parametrize("tx_hash", ["ab" * 32, "0x12", "0x" + "zz" * 32])
def test_malformed_hash_is_refused(tx_hash: str) -> None:
    wallets = WalletWorld()
    made = wallets.send()
    assert refusal(wallets.act, "broadcast", made["id"], tx_hash=tx_hash) == (400, "invalid_parameter", "tx_hash")
    assert wallets.show(made["id"])["status"] == "pending"


def test_estimate_equals_the_send_fee_and_ignores_the_balance() -> None:
    """Decision M12: the estimate looks at no balance."""
    wallets = WalletWorld()
    sent, estimated = wallets.send("12.5"), estimate(wallets, "12.5")
    assert estimated == {name: sent[name] for name in ("symbol", "network", "amount", "fee", "net_amount")}
    assert estimate(wallets, "99999")["amount"] == "99999.00"


def test_r4_own_phone_with_blanks_is_invalid() -> None:
    """The spelling decides, not whose number it would be: `invalid_parameter` is for a number that is one."""
    wallets = WalletWorld()
    own = profile_of(wallets.world).phone_number
    for spelled, expected in ((own, "invalid_parameter"), (f"{own[:4]} {own[4:]}", "invalid_phone_number")):
        destination = {"type": "platform_user", "phone_number": spelled}
        assert refusal(wallets.send, destination=destination)[1:] == (expected, "destination.phone_number")


@pytest.mark.parametrize("field", ["email", "phone_number", "user_id"])
def test_a_transfer_to_another_user_is_free_instant_and_arrives_as_a_deposit(field: str) -> None:
    """Decisions M7, M11 and S9: no fee, moved at once, a `deposit` for the recipient."""
    wallets = WalletWorld()
    amina = platform_user(wallets.world, email="amina@example.test")
    assert amina is not None
    made = wallets.send("25", destination={"type": "platform_user", field: getattr(amina, field)})
    assert made["fee"] == {"total": "0.00", "currency": "CUSD", "app_fee": "0.00", "network_fee": "0.00"}
    assert (made["net_amount"], made["tx_hash"]) == ("25.00", None)
    assert wallets.available("CUSD.celo") == Decimal(975)
    (deposit,) = transactions(wallets.world, "sandbox", amina.user_id).values()
    assert (deposit.type, deposit.status, deposit.amount) == ("deposit", "completed", Decimal(25))
    assert deposit.counterparty == profile_of(wallets.world).user_id
    assert len(transactions(wallets.world, "sandbox")) == 1
    wallets.books()


def test_a_transfer_inside_the_service_needs_no_network() -> None:
    wallets = WalletWorld()
    wallets.act("set_network", network="celo", status="down")
    assert refusal(wallets.send) == (503, "network_unavailable", None)
    assert estimate(wallets)["net_amount"] == "9.99"
    assert wallets.send(destination=TO_AMINA)["status"] == "processing"
    wallets.act("set_network", network="celo", status="degraded")
    assert wallets.send()["status"] == "pending"


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"symbol": None}, (400, "missing_parameter", "symbol")),
        ({"network": None}, (400, "missing_parameter", "network")),
        ({"amount": None}, (400, "missing_parameter", "amount")),
        ({"destination": None}, (400, "missing_parameter", "destination")),
        ({"destination": "celo"}, (400, "invalid_parameter", "destination")),
        ({"destination": {}}, (400, "missing_parameter", "destination.type")),
        ({"destination": {"type": "pigeon"}}, (400, "invalid_parameter", "destination.type")),
        ({"destination": {"type": ["address"]}}, (400, "invalid_parameter", "destination.type")),
        ({"destination": {"type": "address"}}, (400, "missing_parameter", "destination.address")),
        ({"destination": {"type": "address", "address": 7}}, (400, "invalid_parameter", "destination.address")),
        ({"destination": {"type": "platform_user"}}, (400, "missing_parameter", "destination")),
        ({"destination": {**TO_AMINA, "user_id": "x"}}, (400, "invalid_parameter", "destination")),
        ({"destination": {"type": "lightning"}}, (400, "missing_parameter", "destination")),
        ({"amount": 10}, (400, "invalid_parameter", "amount")),
        ({"amount": "-1"}, (400, "invalid_parameter", "amount")),
        ({"amount": "1e3"}, (400, "invalid_parameter", "amount")),
        ({"amount": "10.1234567"}, (400, "invalid_parameter", "amount")),
        ({"amount": "10.0000000"}, (400, "invalid_parameter", "amount")),
        ({"reference": 5}, (400, "invalid_parameter", "reference")),
        ({"network": "celo"}, (422, "unsupported_network", "network")),
        ({"network": "TRON"}, (422, "unsupported_network", "network")),
        ({"symbol": "cUSD"}, (422, "unsupported_asset", "symbol")),
        ({"symbol": "XLM"}, (422, "unsupported_asset", "symbol")),
        ({"amount": "0"}, (422, "amount_too_low", "amount")),
        ({"amount": "0.99"}, (422, "amount_too_low", "amount")),
        ({"amount": "100000.000001"}, (422, "amount_too_high", "amount")),
        ({"amount": "1000.000001"}, (422, "insufficient_balance", "amount")),
        (
            {"destination": {"type": "address", "address": CELO[:-1]}},
            (422, "invalid_wallet_address", "destination.address"),
        ),
        (
            {"destination": {"type": "address", "address": BITCOIN_ADDRESS}},
            (422, "invalid_wallet_address", "destination.address"),
        ),
        (
            {"destination": {"type": "platform_user", "email": "nobody@example.test"}},
            (404, "not_found", "destination.email"),
        ),
        (
            {"destination": {"type": "platform_user", "user_id": "nobody"}},
            (404, "not_found", "destination.user_id"),
        ),
        (
            {"destination": {"type": "platform_user", "phone_number": "+254712999999"}},
            (404, "not_found", "destination.phone_number"),
        ),
        (
            {"destination": {"type": "platform_user", "phone_number": "0712"}},
            (422, "invalid_phone_number", "destination.phone_number"),
        ),
        *(
            (
                {"destination": {"type": "platform_user", "phone_number": spelled}},
                (422, "invalid_phone_number", "destination.phone_number"),
            )
            for spelled in UNUSUAL_PHONES
        ),
        (
            {"destination": {"type": "lightning", "lightning_address": "a@b.test"}},
            (422, "unsupported_network", "network"),
        ),
        # What is malformed comes before what is unknown, what is unknown before what is unsupported.
        ({"destination": {"type": "platform_user", "email": "no@one.test"}, "amount": "0"}, (404, "not_found", "*")),
        ({"destination": {"type": "platform_user", "email": "no@one.test"}, "network": "X"}, (404, "not_found", "*")),
        ({"destination": {"type": "platform_user"}, "network": "X"}, (400, "missing_parameter", "destination")),
    ],
)
def test_refusals(change: dict[str, Any], expected: tuple[int, str, str]) -> None:
    """Decisions H5, M12, M13, R4, S9 and S23: every refusal with its param."""
    wallets = WalletWorld()
    before = wallets.world.store.tables()
    status, code, param = refusal(wallets.send, **change)
    assert (status, code) == expected[:2]
    assert expected[2] in (param, "*")
    assert wallets.world.store.tables() == before
    if expected[1] != "insufficient_balance" and "reference" not in change:
        assert refusal(estimate, wallets, **change) == (status, code, param)


@pytest.mark.parametrize("field", ["email", "phone_number", "user_id"])
def test_send_to_oneself_is_refused(field: str) -> None:
    """Decision S9."""
    wallets = WalletWorld()
    own = getattr(profile_of(wallets.world), field)
    assert refusal(wallets.send, destination={"type": "platform_user", field: own}) == (
        400,
        "invalid_parameter",
        f"destination.{field}",
    )


def test_listing_limits_are_inclusive_even_for_users() -> None:
    """Decision M13."""
    wallets = WalletWorld()
    assert refusal(wallets.send, "0.99", destination=TO_AMINA)[1] == "amount_too_low"
    assert wallets.send("1", destination=TO_AMINA)["amount"] == "1.00"
    wallets.act("set_balance", symbol="CUSD", network="CELO", amount="300000")
    assert wallets.send("100000")["amount"] == "100000.00"
    assert refusal(wallets.send, "100000.000001", destination=TO_AMINA)[1] == "amount_too_high"


def test_everything_available_can_be_sent() -> None:
    wallets = WalletWorld()
    wallets.send("1000")
    assert wallets.available("CUSD.celo") == 0
    assert refusal(wallets.send, "1") == (422, "insufficient_balance", "amount")


def test_an_inactive_fee_product_stops_sends() -> None:
    wallets = WalletWorld()
    wallets.act("set_fee_product", "fee_send_cusd_celo", status="inactive")
    assert refusal(wallets.send)[:2] == (422, "unsupported_pair")
    assert wallets.send(destination=TO_AMINA)["status"] == "processing"


def test_amount_not_above_the_fee_is_too_low() -> None:
    wallets = WalletWorld()
    wallets.act("set_fee_product", "fee_send_cusd_celo", fixed="5.00")
    assert refusal(wallets.send, "5") == (422, "amount_too_low", "amount")


def test_memo_is_sent_with_the_payment() -> None:
    wallets = WalletWorld()
    to = {"type": "address", "address": "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ", "memo": "4711"}
    made = wallets.post("/wallet/send", **XLM, amount="5", destination=to)
    row = find(wallets.world, made["id"])
    assert isinstance(row, Transaction)
    assert (row.memo, row.recipient_address) == ("4711", to["address"])


def test_environments_have_separate_balances() -> None:
    sandbox = WalletWorld()
    production = WalletWorld("production")
    production.world = sandbox.world
    production.send("1000")
    assert sandbox.available("CUSD.celo") == 1000
    assert sandbox.send("1000")["status"] == "pending"


def test_a_bitcoin_send_has_a_hash_of_64_digits() -> None:
    """Decision S16."""
    wallets = WalletWorld()
    made = wallets.post("/wallet/send", **BTC, amount="0.001", destination=TO_BITCOIN)
    assert len(wallets.act("broadcast", made["id"])["tx_hash"]) == 64


def product_of(wallets: WalletWorld, product: str) -> str:
    """The id of the fee product for CUSD on celo."""
    table = products(wallets.world, wallets.environment).values()
    return next(row.id for row in table if row.product == product and row.asset == "CUSD")


@pytest.mark.parametrize("product", ["internal_transfer", "deposit"])
def test_m15_transfer_needs_active_products(product: str) -> None:
    wallets = WalletWorld()
    wallets.act("set_fee_product", product_of(wallets, product), status="inactive")
    for path in ("/wallet/send", "/wallet/send/estimate"):
        assert refusal(wallets.post, path, **CUSD, amount="10", destination=TO_AMINA)[1] == "unsupported_pair"
    assert wallets.send()["status"] == "pending"
    wallets.act("set_fee_product", product_of(wallets, product), status="active")
    assert wallets.send(destination=TO_AMINA)["status"] == "processing"


def test_m15_send_to_own_wallet_needs_active_deposit_product() -> None:
    wallets = WalletWorld()
    wallet = wallets.post("/wallets", network="celo")
    wallets.act("set_fee_product", product_of(wallets, "deposit"), status="inactive")
    own = {"type": "address", "address": wallet["address"]}
    assert refusal(wallets.send, destination=own)[1] == "unsupported_pair"
    assert wallets.act("deposit_arrives", wallet["id"], asset="CUSD", amount="10")["status"] == "detected"


def test_m15_sends_and_transfers_have_the_limits_of_the_active_product() -> None:
    wallets = WalletWorld()
    wallets.act("set_fee_product", product_of(wallets, "send"), limits={"min_amount": "5", "max_amount": "20"})
    for destination in (TO_CELO, TO_AMINA):
        assert refusal(wallets.send, "4.99", destination=destination)[1] == "amount_too_low"
        assert refusal(wallets.send, "20.01", destination=destination)[1] == "amount_too_high"
        assert wallets.send("5", destination=destination)["amount"] == "5.00"
    wallets.act("set_fee_product", product_of(wallets, "send"), status="inactive")
    assert refusal(wallets.send)[1] == "unsupported_pair"
    assert wallets.send("4", destination=TO_AMINA)["status"] == "processing"


@pytest.mark.parametrize(("environment", "status"), [("sandbox", 201), ("production", 422)])
def test_r6_testnet_addresses_are_payable_only_in_the_sandbox(environment: str, status: int) -> None:
    wallets = WalletWorld(environment)
    test_net = {"type": "address", "address": "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx"}
    if status == 201:
        assert wallets.send("0.001", **BTC, destination=test_net)["status"] == "pending"
    else:
        assert refusal(wallets.send, "0.001", **BTC, destination=test_net) == (
            422,
            "invalid_wallet_address",
            "destination.address",
        )
