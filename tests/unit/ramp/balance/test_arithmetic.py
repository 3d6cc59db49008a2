"""The formulas in decisions M5 to M9 hold exactly for any amount, checked with fractions.

The ledger must equal the sum of the responses. `Auditor` computes this sum from responses alone.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.engine.records.records import find
from simulator.engine.rows.error import ApiError
from simulator.providers.ramp.transactions.records import TRANSACTIONS
from tests.support import CELO, whole
from tests.unit.ramp.balance.support import PAYER, TO_AMINA, WalletWorld

DECIMALS = {"USDC STELLAR": 7, "XLM STELLAR": 7, "CELO CELO": 6, "CUSD CELO": 6, "USDC CELO": 6, "USDT CELO": 6}
DECIMALS["BTC BITCOIN"] = 8
FIATS = ("KES", "TZS", "NGN", "ZAR", "ZMW")
SHORT = {"STELLAR": "stellar", "CELO": "celo", "BITCOIN": "btc"}
BANKS = {
    "KES": ("KE", "01", "1234567890"),
    "TZS": ("TZ", "NMB", "1234567890"),
    "NGN": ("NG", "058", "1234567890"),
    "ZAR": ("ZA", "250655", "12345678"),
    "ZMW": ("ZM", "01", "1234567890"),
}
MANY = settings(max_examples=whole(1500, short=200), derandomize=True, database=None)

assets = st.sampled_from(sorted(DECIMALS))
dollars = st.sampled_from(["USDC STELLAR", "CUSD CELO", "USDC CELO", "USDT CELO"])
fiats = st.sampled_from(FIATS)


def amounts(decimals: int, least: int, most: int) -> st.SearchStrategy[Decimal]:
    """Amounts of every size from 10**least to 10**most: evenly spread ones would hardly ever be small."""
    sizes = st.integers(max(0, decimals + least), decimals + most - 1)
    units = sizes.flatmap(lambda size: st.integers(10**size, 10 ** (size + 1)))
    return units.map(lambda count: Decimal(count).scaleb(-decimals))


def amounts_of(name: str) -> st.SearchStrategy[Decimal]:
    """Amounts of an asset, a little beyond its limits at both ends."""
    return amounts(8, -5, 0) if name == "BTC BITCOIN" else amounts(DECIMALS[name], -1, 5)


def side(name: str) -> dict[str, str]:
    symbol, network = name.split()
    return {"symbol": symbol, "network": network}


def floor(value: Fraction, decimals: int) -> Fraction:
    return Fraction(value.numerator * 10**decimals // value.denominator, 10**decimals)


@cache
def rich() -> tuple[WalletWorld, dict[str, str]]:
    """A wallets with more money than any amount here, without account limits, and a bank account in every country."""
    wallets = WalletWorld()
    for name in DECIMALS:
        wallets.act("set_balance", **side(name), amount="1" + "0" * 15)
    most = "9" * 15
    wallets.act("set_limits", per_transaction=most, daily=most, monthly=most)
    saved = {}
    for fiat, (country, bank_code, number) in BANKS.items():
        account = {"bank_code": bank_code, "account_number": number, "account_name": "A"}
        made = wallets.post(
            "/beneficiaries", type="bank_account", name="A", country=country, fiat_currency=fiat, bank_account=account
        )
        saved[fiat] = made["id"]
    return wallets, saved


def attempt(path: str, **body: Any) -> Any:
    """Return the response, or None if the amount is outside the limits."""
    try:
        return rich()[0].post(path, **body)
    except ApiError as refused:
        if refused.code in ("amount_too_low", "amount_too_high"):
            return None
        raise


def fee_of(product: str, amount: Fraction, currency: str, **fields: Any) -> Fraction | None:
    """The fee that the calculator gives for an amount; None outside the limits."""
    written = f"{amount.numerator * 10**8 // amount.denominator}".rjust(9, "0")
    text = f"{written[:-8]}.{written[-8:]}".rstrip("0").rstrip(".")
    answer = attempt("/fees/calculate", product=product, amount=text, currency=currency, **fields)
    return None if answer is None else Fraction(answer["fee"]["total"])


def check_conversion(
    paid: Fraction,
    received: Fraction,
    fee: Fraction,
    factor: Fraction,
    decimals: int,
    unit: Fraction | None,
    again: Any,
) -> None:
    """received = ⌊(paid − fee) × factor⌋; solved backwards (`unit` given): enough is paid, and one unit less is not."""
    delivered = floor((paid - fee) * factor, decimals)
    if unit is None:
        assert received == delivered
        return
    assert received <= delivered
    less = again(paid - unit)
    assert less is None or floor(max(paid - unit - less, Fraction(0)) * factor, decimals) < received


@pytest.mark.long
@MANY
@given(st.data(), assets, assets, st.booleans())
def test_swaps(data: st.DataObject, source: str, target: str, backwards: bool) -> None:
    """Decisions M2, M8 and M9: formula, minimum and fee of every swap quote."""
    if source == target:
        return
    amount = data.draw(amounts_of(target if backwards else source))
    slippage = data.draw(st.floats(0.001, 50))
    made = attempt(
        "/wallet/swap/quote",
        **{"from": side(source), "to": side(target), "amount": f"{amount:f}", "slippage": slippage},
        amount_side="to" if backwards else "from",
    )
    if made is None:
        return
    paid, received = Fraction(made["from"]["amount"]), Fraction(made["to"]["amount"])
    assert Fraction(amount) == (received if backwards else paid)
    fields = {"network": SHORT[side(source)["network"]], "to_asset": side(target)["symbol"]}
    symbol = side(source)["symbol"]
    fee = Fraction(made["fee"]["total"])
    assert fee == Fraction(made["fee"]["app_fee"]) + Fraction(made["fee"]["network_fee"])
    assert fee == fee_of("swap", paid, symbol, **fields)
    check_conversion(
        paid,
        received,
        fee,
        Fraction(made["rate"]),
        DECIMALS[target],
        Fraction(1, 10 ** DECIMALS[source]) if backwards else None,
        lambda less: fee_of("swap", less, symbol, **fields),
    )
    assert made["slippage"] == Decimal(str(slippage))
    minimum = received * (1 - Fraction(made["slippage"]) / 100)
    assert Fraction(made["minimum_received"]) == floor(minimum, DECIMALS[target])


@pytest.mark.long
@MANY
@given(st.data(), assets, fiats, st.booleans())
def test_buys(data: st.DataObject, asset: str, fiat: str, backwards: bool) -> None:
    """Decisions M5 and M9."""
    amount = data.draw(amounts_of(asset) if backwards else amounts(2, 2, 7))
    made = attempt(
        "/wallet/buy/quote",
        **side(asset),
        fiat_currency=fiat,
        amount=f"{amount:f}",
        amount_currency="crypto" if backwards else "fiat",
        method="bank_transfer",
    )
    if made is None:
        return
    paid, received = Fraction(made["fiat_amount"]), Fraction(made["crypto_amount"])
    assert Fraction(amount) == (received if backwards else paid)
    fields = {"fiat_currency": fiat, "payment_method": "bank_account", "network": SHORT[side(asset)["network"]]}
    fee = Fraction(made["fee"]["total"])
    assert fee == fee_of("buy", paid, fiat, **fields)
    check_conversion(
        paid,
        received,
        fee,
        1 / Fraction(made["rate"]),
        DECIMALS[asset],
        Fraction(1, 100) if backwards else None,
        lambda less: fee_of("buy", less, fiat, **fields),
    )


@pytest.mark.long
@MANY
@given(st.data(), dollars, fiats, st.booleans())
def test_withdrawals(data: st.DataObject, asset: str, fiat: str, backwards: bool) -> None:
    """Decisions M6 and M9."""
    amount = data.draw(amounts(2, 2, 7) if backwards else amounts_of(asset))
    symbol = side(asset)["symbol"]
    made = attempt(
        "/wallet/withdraw/quote",
        **side(asset),
        fiat_currency=fiat,
        amount=f"{amount:f}",
        amount_currency=fiat if backwards else symbol,
        beneficiary_id=rich()[1][fiat],
    )
    if made is None:
        return
    paid, received = Fraction(made["source_amount"]), Fraction(made["destination_amount"])
    assert Fraction(amount) == (received if backwards else paid)
    fields = {
        "fiat_currency": fiat,
        "payment_method": "bank_account",
        "network": SHORT[side(asset)["network"]],
    }
    fee = Fraction(made["fee"]["total"])
    assert fee == fee_of("withdraw", paid, symbol, **fields)
    check_conversion(
        paid,
        received,
        fee,
        Fraction(made["rate"]),
        2,
        Fraction(1, 10 ** DECIMALS[asset]) if backwards else None,
        lambda less: fee_of("withdraw", less, symbol, **fields),
    )


ADDRESSES = {
    "STELLAR": "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ",
    "CELO": CELO,
    "BITCOIN": "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4",
}


@pytest.mark.long
@MANY
@given(st.data(), assets)
def test_sends(data: st.DataObject, asset: str) -> None:
    """Decisions M7 and M9."""
    amount = data.draw(amounts_of(asset))
    to = {"type": "address", "address": ADDRESSES[side(asset)["network"]]}
    made = attempt("/wallet/send/estimate", **side(asset), amount=f"{amount:f}", destination=to)
    if made is None:
        return
    fee = Fraction(made["fee"]["total"])
    assert Fraction(made["amount"]) == Fraction(amount)
    assert Fraction(made["net_amount"]) == Fraction(amount) - fee
    currency = {"currency": side(asset)["symbol"], "network": SHORT[side(asset)["network"]]}
    calculated = attempt("/fees/calculate", product="send", amount=f"{amount:f}", **currency)
    assert calculated is None or Fraction(calculated["fee"]["total"]) == fee
    free = attempt("/wallet/send/estimate", **side(asset), amount=f"{amount:f}", destination=TO_AMINA)
    assert (Fraction(free["net_amount"]), Fraction(free["fee"]["total"])) == (Fraction(amount), Fraction(0))


class Auditor:
    """Computes the expected balances from responses alone."""

    def __init__(self) -> None:
        self.wallets = WalletWorld()
        self.available = {("CUSD", "CELO"): Decimal(1000), ("USDC", "STELLAR"): Decimal(1000)}
        self.available["XLM", "STELLAR"] = Decimal(5000)
        self.held = dict.fromkeys(self.available, Decimal(0))
        self.saved = self.wallets.save_phone()

    def shift(self, shown: Any, available: str | int | Decimal, held: int | Decimal = 0) -> None:
        key = (shown["symbol"], shown["network"])
        self.available[key] += Decimal(available)
        self.held[key] += Decimal(held)

    def start(self, kind: str, amount: str) -> Any:
        if kind == "transfer":
            made = self.wallets.send(amount, destination=TO_AMINA)
            self.shift(made, -Decimal(made["amount"]))
            return made
        if kind == "send":
            made = self.wallets.send(amount)
        elif kind == "swap":
            made = self.wallets.post("/wallet/swap", quote_id=self.wallets.swap_quote(amount)["id"])
        elif kind == "buy":
            return self.wallets.post("/wallet/buy", quote_id=self.wallets.buy_quote(amount + "00")["id"], payer=PAYER)
        else:
            quote = self.wallets.withdraw_quote(amount, beneficiary_id=self.saved)
            made = self.wallets.post("/wallet/withdraw", quote_id=quote["id"])
        paid = Decimal(made["amount"])
        self.shift(made.get("from", made), -paid, paid)
        return made

    def finish(self, made: Any, happily: bool, refunded: bool) -> None:
        act, kind, amount = self.wallets.act, made["type"], Decimal(made["amount"])
        if kind == "send":
            act("broadcast", made["id"])
        if kind == "buy":
            act("payment_arrives", made["id"])
            self.shift(made, amount)
        act("complete" if happily else "fail", made["id"])
        if kind == "buy":
            self.shift(made, 0 if happily else -amount)
        elif happily or kind != "withdraw":
            self.shift(made.get("from", made), 0 if happily else amount, -amount)
        if happily and kind == "swap":
            self.shift(made["to"], made["to"]["amount"])
        if refunded and kind == "withdraw":
            act("refund", made["id"])
            self.shift(made, amount, 0 if happily else -amount)

    def agree(self) -> None:
        shown = {(row["symbol"], row["network"]): row for row in self.wallets.get("/wallet/assets")["data"]}
        for key, available in self.available.items():
            assert (Decimal(shown[key]["available"]), Decimal(shown[key]["held"])) == (available, self.held[key])
        assert not any(self.wallets.world.ledger.totals().values())


steps = st.tuples(
    st.sampled_from(["send", "transfer", "swap", "buy", "withdraw"]),
    st.integers(10, 400).map(str),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)


@settings(max_examples=150, derandomize=True, database=None)
@given(st.lists(steps, max_size=25))
def test_ledger_matches_the_responses(walk: list[tuple[str, str, bool, bool, bool]]) -> None:
    """Decisions M10 and M11: balances are what the answers add up to, and the books balance."""
    auditor = Auditor()
    pending: list[tuple[Any, bool, bool]] = []
    for kind, amount, at_once, happily, refunded in walk:
        try:
            made = auditor.start(kind, amount)
        except ApiError as refused:
            if refused.code != "insufficient_balance":
                raise
            continue
        auditor.agree()
        if kind == "transfer":
            continue
        pending.append((made, happily, refunded))
        if at_once:
            auditor.finish(*pending.pop())
            auditor.agree()
    for outcome in pending:
        auditor.finish(*outcome)
        auditor.agree()
    for row in auditor.wallets.world.store[TRANSACTIONS.of("sandbox")].values():
        assert find(auditor.wallets.world, row.id) is row
