"""What laws work on: requests that any account of the service can make, and the resources that they give."""

from __future__ import annotations

from decimal import Decimal

from simulator.conformance.bench import Bench
from simulator.conformance.service import Answer
from simulator.engine.text.json import JsonObject

ADDRESSES = {
    "stellar": "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ",
    "celo": "0x52908400098527886E0F7030069857D2E4169EE7",
    "bitcoin": "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4",
}
FIAT, CRYPTO, PAID = "5001.37", "20.37", "10.37"
"""Amounts inside every limit of a fresh account, none of them round. PAID leaves the balance with each payment, and is
small so that the balance of an account that this run cannot fill lasts for all laws."""
OUTSIDE_ASCII = "Zoë Ọláìtán 𠮷田"
"""A name whose letters take one to four bytes in UTF-8."""
PHONES = {"KES": "+254712345678", "NGN": "+2348031234567"}

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


def changed(body: JsonObject, place: str, value: object) -> JsonObject:
    """Return a body with another value at a dotted place."""
    name, _, inner = place.partition(".")
    return {**body, name: changed(body[name], inner, value) if inner else value}


def without(body: JsonObject, name: str) -> JsonObject:
    return {member: value for member, value in body.items() if member != name}


def beneficiary(bench: Bench, body: JsonObject = BENEFICIARY) -> Answer:
    return bench.done("POST /beneficiaries", body)


def onramp_quote(bench: Bench, **other: str) -> Answer:
    return bench.done("POST /quotes", {**ONRAMP, **other})


def offramp_quote(bench: Bench, **other: str) -> Answer:
    return bench.done("POST /quotes", {**OFFRAMP, **other})


def onramp_details(network: str = "celo") -> JsonObject:
    """The body that confirms an onramp quote."""
    return {"wallet_address": ADDRESSES[network], "payer": {"phone_number": PHONES["KES"]}, "reference": Bench.fresh()}


def offramp_details(bench: Bench, network: str = "stellar") -> JsonObject:
    """The body that confirms an offramp quote, with a beneficiary made for it."""
    payee = beneficiary(bench).text("id")
    return {"beneficiary_id": payee, "refund_address": ADDRESSES[network], "reference": Bench.fresh()}


def onramp(bench: Bench) -> Answer:
    """A confirmed onramp; the answer to its confirmation."""
    quote = onramp_quote(bench)
    return bench.done("POST /quotes/{id}/confirm", onramp_details(), id=quote.text("id"))


def offramp(bench: Bench, network: str = "stellar") -> Answer:
    quote = offramp_quote(bench, network=network)
    return bench.done("POST /quotes/{id}/confirm", offramp_details(bench, network), id=quote.text("id"))


def balances(bench: Bench, member: str = "available") -> dict[tuple[str, str], Decimal]:
    """One figure of each balance, by symbol and network."""
    rows = bench.done("GET /wallet/assets", query={"size": 100}).items
    return {(row["symbol"], row["network"]): Decimal(row[member]) for row in rows}


def swap_quote(bench: Bench) -> Answer:
    return bench.done("POST /wallet/swap/quote", SWAP_QUOTE)


def buy_quote(bench: Bench) -> Answer:
    return bench.done("POST /wallet/buy/quote", BUY_QUOTE)


def buy_details(quote: Answer) -> JsonObject:
    return {"quote_id": quote.text("id"), "payer": {"phone_number": PHONES["KES"]}, "reference": Bench.fresh()}


def withdraw_quote_body(bench: Bench, amount: str = PAID) -> JsonObject:
    return {
        "symbol": "USDC", "network": "CELO", "fiat_currency": "KES", "amount": amount, "amount_currency": "USDC",
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
    """A recurring payment in draft."""
    return bench.done("POST /recurring-payments", recurring_body(bench))


def wallet(bench: Bench, network: str = "celo", **more: object) -> Answer:
    return bench.done("POST /wallets", {"network": network, "label": "conform", "reference": Bench.fresh(), **more})


def sent(bench: Bench) -> Answer:
    return bench.done("POST /wallet/send", {**SEND, "reference": bench.fresh()})


def swapped(bench: Bench) -> tuple[Answer, Answer]:
    """A swap, and before it its quote."""
    quote = swap_quote(bench)
    return quote, bench.done("POST /wallet/swap", {"quote_id": quote.text("id"), "reference": bench.fresh()})


def bought(bench: Bench) -> tuple[Answer, Answer]:
    quote = buy_quote(bench)
    return quote, bench.done("POST /wallet/buy", buy_details(quote))


def withdrawn(bench: Bench) -> tuple[Answer, Answer]:
    quote = withdraw_quote(bench)
    return quote, bench.done("POST /wallet/withdraw", {"quote_id": quote.text("id"), "reference": bench.fresh()})
