"""Valid requests that any account can make, the resources that they create, and outside events."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from decimal import Decimal

from simulator.conformance.bench import Bench
from simulator.conformance.service import Answer
from simulator.conformance.world import ControlledWorld
from simulator.engine.text.json import JsonObject

ADDRESSES = {
    "stellar": "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ",
    "celo": "0x52908400098527886E0F7030069857D2E4169EE7",
    "bitcoin": "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4",
}
FIAT, CRYPTO, PAID = "5001.37", "20.37", "10.37"
"""Amounts within every limit of a fresh account.

No amount is round. Each payment takes PAID from the balance. It is small, so that the balance is sufficient for all
rules even if this run cannot refill it.
"""
OUTSIDE_ASCII = "Zoë Ọláìtán 𠮷田"
"""A name with letters of one to four bytes in UTF-8."""
PHONES = {"KES": "+254712345678", "TZS": "+255712345678", "NGN": "+2348031234567", "ZMW": "+260971234567"}

ONRAMP: JsonObject = {
    "type": "onramp", "network": "celo", "asset": "USDC", "fiat_currency": "KES", "amount": FIAT,
    "amount_currency": "KES", "method": "mobile_money",
}  # fmt: skip
OFFRAMP: JsonObject = {
    "type": "offramp", "network": "stellar", "asset": "USDC", "fiat_currency": "KES", "amount": CRYPTO,
    "amount_currency": "USDC", "method": "mobile_money",
}  # fmt: skip
BENEFICIARY: JsonObject = {
    "type": "phone_number", "name": "Amina Otieno", "country": "KE", "fiat_currency": "KES",
    "phone_number": {"phone_number": PHONES["KES"], "provider": "mpesa"},
}  # fmt: skip
BANK_BENEFICIARY: JsonObject = {
    "type": "bank_account", "name": "Chidi Okafor", "country": "NG", "fiat_currency": "NGN",
    "bank_account": {"bank_code": "058", "account_number": "0123456789", "account_name": "Chidi Okafor"},
}  # fmt: skip
ADDRESS_BENEFICIARY: JsonObject = {
    "type": "wallet_address", "name": "Cold wallet",
    "wallet_address": {"wallet_address": ADDRESSES["celo"], "network": "celo", "asset": "USDC"},
}  # fmt: skip
SEND: JsonObject = {
    "symbol": "USDC", "network": "CELO", "amount": PAID,
    "destination": {"type": "address", "address": ADDRESSES["celo"]},
}  # fmt: skip
SWAP_QUOTE: JsonObject = {
    "from": {"symbol": "USDC", "network": "CELO"}, "to": {"symbol": "USDT", "network": "CELO"},
    "amount": PAID, "amount_side": "from",
}  # fmt: skip
BUY_QUOTE: JsonObject = {
    "symbol": "USDC", "network": "CELO", "fiat_currency": "KES", "amount": FIAT, "amount_currency": "fiat",
    "method": "mobile_money",
}  # fmt: skip


def beneficiary(bench: Bench, body: JsonObject = BENEFICIARY) -> Answer:
    return bench.done("POST /beneficiaries", body)


def onramp_quote(bench: Bench, **other: str) -> Answer:
    return bench.done("POST /quotes", {**ONRAMP, **other})


def offramp_quote(bench: Bench, **other: str) -> Answer:
    return bench.done("POST /quotes", {**OFFRAMP, **other})


def onramp_details(network: str = "celo") -> JsonObject:
    """Return the request body that confirms an onramp quote."""
    return {"wallet_address": ADDRESSES[network], "payer": {"phone_number": PHONES["KES"]}, "reference": Bench.fresh()}


def offramp_details(bench: Bench, network: str = "stellar") -> JsonObject:
    """Return the request body that confirms an offramp quote, with a new beneficiary."""
    payee = beneficiary(bench).text("id")
    return {"beneficiary_id": payee, "refund_address": ADDRESSES[network], "reference": Bench.fresh()}


def confirm(bench: Bench, quote: Answer, body: JsonObject) -> Answer:
    return bench.done("POST /quotes/{id}/confirm", body, id=quote.text("id"))


def onramp(bench: Bench) -> Answer:
    """Confirm an onramp quote and return the transaction."""
    return confirm(bench, onramp_quote(bench), onramp_details())


def offramp(bench: Bench, network: str = "stellar") -> Answer:
    return confirm(bench, offramp_quote(bench, network=network), offramp_details(bench, network))


def balances(bench: Bench, member: str = "available") -> dict[tuple[str, str], Decimal]:
    """Return the field `member` of each balance, by symbol and network."""
    rows = bench.done("GET /wallet/assets", query={"size": 100}).items
    return {(row["symbol"], row["network"]): Decimal(row[member]) for row in rows}


def available(bench: Bench, symbol: str = "USDC", network: str = "CELO") -> Decimal:
    return balances(bench)[symbol, network]


def swap_quote(bench: Bench) -> Answer:
    return bench.done("POST /wallet/swap/quote", SWAP_QUOTE)


def buy_quote(bench: Bench) -> Answer:
    return bench.done("POST /wallet/buy/quote", BUY_QUOTE)


def withdraw_quote_body(bench: Bench) -> JsonObject:
    return {
        "symbol": "USDC", "network": "CELO", "fiat_currency": "KES", "amount": PAID, "amount_currency": "USDC",
        "beneficiary_id": beneficiary(bench).text("id"),
    }  # fmt: skip


def withdraw_quote(bench: Bench) -> Answer:
    return bench.done("POST /wallet/withdraw/quote", withdraw_quote_body(bench))


def recurring_body(bench: Bench) -> JsonObject:
    return {
        "name": "Monthly rent", "type": "withdraw", "source": {"symbol": "USDC", "network": "CELO"}, "amount": CRYPTO,
        "amount_currency": "USDC", "recipient": {"beneficiary_id": beneficiary(bench).text("id")},
        "reference": Bench.fresh(),
    }  # fmt: skip


def recurring(bench: Bench) -> Answer:
    """Create a draft for a recurring payment."""
    return bench.done("POST /recurring-payments", recurring_body(bench))


def wallet(bench: Bench, network: str = "celo", **more: object) -> Answer:
    return bench.done("POST /wallets", {"network": network, "label": "conform", "reference": Bench.fresh(), **more})


def webhook(bench: Bench) -> Answer:
    return bench.done("POST /webhooks", {"url": bench.hook, "events": ["webhook.test"]})


def sent(bench: Bench, amount: str = PAID) -> Answer:
    return bench.done("POST /wallet/send", {**SEND, "amount": amount, "reference": bench.fresh()})


def use_body(quote: Answer) -> JsonObject:
    """Return the request body that uses a swap, buy or withdraw quote. Only a buy has a payer."""
    payer = {"payer": {"phone_number": PHONES["KES"]}} if quote.operation == "POST /wallet/buy/quote" else {}
    return {"quote_id": quote.text("id"), "reference": Bench.fresh(), **payer}


def used(bench: Bench, quote: Answer) -> Answer:
    """Use a quote to swap, buy or withdraw."""
    return bench.done(quote.operation.removesuffix("/quote"), use_body(quote))


def uses(bench: Bench) -> Iterator[tuple[Answer, str, JsonObject]]:
    """Create a wallet quote of each kind. Yield each with the operation and body that use it, before the next one."""
    for create in (swap_quote, buy_quote, withdraw_quote):
        quote = create(bench)
        yield quote, quote.operation.removesuffix("/quote"), use_body(quote)


def swap(bench: Bench) -> Answer:
    return used(bench, swap_quote(bench))


def buy(bench: Bench) -> Answer:
    return used(bench, buy_quote(bench))


def withdrawal(bench: Bench) -> Answer:
    return used(bench, withdraw_quote(bench))


def transactions(bench: Bench) -> list[Answer]:
    """Create a transaction of each type: onramp, offramp, send, swap, buy and withdrawal."""
    return [make(bench) for make in (onramp, offramp, sent, swap, buy, withdrawal)]


def deposit(bench: Bench, home: str, asset: str = "USDC", amount: str = "25", **more: str) -> str:
    """Cause a deposit to a wallet and return the deposit's id."""
    arrived: str = bench.world.act("deposit_arrives", home, asset=asset, amount=amount, **more)["resource"]["id"]
    return arrived


def act(bench: Bench, resource_id: str, *actions: str) -> str:
    """Perform actions on a resource, one after another. Return its id."""
    for action in actions:
        bench.world.act(action, resource_id)
    return resource_id


def shows(bench: Bench, made: Answer, status: str, after: str | None = None) -> Answer:
    """Check that a transaction has the given status, after an action if one is given. Return the GET response."""
    if after is not None:
        bench.world.act(after, made.text("id"))
    answer = bench.done("GET /transactions/{id}", id=made.text("id"))
    bench.equal(answer, "status", status, after=(made,))
    return answer


FUNDS = {
    ("USDC", "STELLAR"): "1000", ("XLM", "STELLAR"): "5000", ("CELO", "CELO"): "1000", ("CUSD", "CELO"): "1000",
    ("USDC", "CELO"): "1000", ("USDT", "CELO"): "1000", ("BTC", "BITCOIN"): "0.5",
}  # fmt: skip
"""The balances that are set before each rule, so that one rule cannot use up the funds of another."""


def provide(world: ControlledWorld) -> None:
    """Set the account's balances to the amounts in `FUNDS`."""
    for (symbol, network), amount in FUNDS.items():
        set_balance(world, amount, symbol, network)


def set_balance(world: ControlledWorld, amount: str, symbol: str = "USDC", network: str = "CELO") -> None:
    world.act("set_balance", symbol=symbol, network=network, amount=amount)


@contextmanager
def meanwhile(
    world: ControlledWorld, action: str, change: JsonObject, back: JsonObject, target: str | None = None
) -> Iterator[None]:
    """Perform an action with `change` when the `with` block starts, and again with `back` when the block ends."""
    world.act(action, target, **change)
    try:
        yield
    finally:
        world.act(action, target, **back)


def moved_rates(world: ControlledWorld, percent: int) -> AbstractContextManager[None]:
    """Change all rates by a percentage for the duration of a `with` block."""
    return meanwhile(world, "move_rates", {"percent": percent}, {"percent": 100 * (100 / (100 + percent) - 1)})


def network_status(world: ControlledWorld, network: str, status: str) -> AbstractContextManager[None]:
    """Set a network's status for the duration of a `with` block. After the block, the status is operational."""
    operational = {"network": network, "status": "operational"}
    return meanwhile(world, "set_network", {**operational, "status": status}, operational)
