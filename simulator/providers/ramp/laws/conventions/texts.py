"""Texts of the caller: names outside ASCII and references are kept as they were sent."""

from __future__ import annotations

from collections.abc import Callable

from simulator.conformance.bench import Bench
from simulator.conformance.laws import promise
from simulator.conformance.service import Answer
from simulator.engine.text.json import JsonObject
from simulator.providers.ramp.laws import stock

NAME = stock.OUTSIDE_ASCII

SEARCHED = ("/beneficiaries", "/transactions")
"""Lists of which the specification says that their search looks at names and references."""
NAMED: tuple[tuple[str, JsonObject, str, str], ...] = (
    ("POST /beneficiaries", {**stock.BENEFICIARY, "name": NAME}, "name", "/beneficiaries"),
    ("POST /beneficiaries", {**stock.ADDRESS_BENEFICIARY, "name": NAME}, "name", "/beneficiaries"),
    ("POST /wallets", {"network": "celo", "label": NAME}, "label", "/wallets"),
    ("POST /wallet/send", {**stock.SEND, "reference": NAME}, "reference", "/transactions"),
)
"""What makes something with a name: the operation, its body, where the name is, and the path it is read at."""


@promise("text.kept", "Resources and their fields", "writes")
def text_kept(bench: Bench) -> None:
    """A name with letters outside ASCII is shown as it was sent, and found by itself."""
    for operation, body, place, path in NAMED:
        made = bench.done(operation, body)
        read = bench.done(f"GET {path}/{{id}}", id=made.text("id"))
        for answer in (made, read):
            bench.equal(answer, place, NAME, after=() if answer is made else (made,))
        if path in SEARCHED:
            found = bench.done(f"GET {path}", query={"search": NAME, "size": 100})
            there = any(row.get("id") == made.text("id") for row in found.items)
            words = f"search={NAME} does not find {made.text('id')}"
            bench.holds(there, found, words, "query.search", after=(made,))


def _used(operation: str, quoted: Callable[[Bench], Answer]) -> Callable[[Bench, str], Answer]:
    """What uses a quote under a reference."""

    def use(bench: Bench, reference: str) -> Answer:
        quote = quoted(bench)
        return bench.done(operation, {**stock.buy_details(quote), "reference": reference})

    return use


def _onramp(bench: Bench, reference: str) -> Answer:
    quote = stock.onramp_quote(bench)
    body = {**stock.onramp_details(), "reference": reference}
    return bench.done("POST /quotes/{id}/confirm", body, id=quote.text("id"))


REFERRED: tuple[tuple[Callable[[Bench, str], Answer], str], ...] = (
    (_onramp, "/transactions"),
    (lambda bench, text: bench.done("POST /wallet/send", {**stock.SEND, "reference": text}), "/transactions"),
    (_used("POST /wallet/swap", stock.swap_quote), "/transactions"),
    (_used("POST /wallet/buy", stock.buy_quote), "/transactions"),
    (_used("POST /wallet/withdraw", stock.withdraw_quote), "/transactions"),
    (lambda bench, text: bench.done("POST /wallets", {"network": "celo", "reference": text}), "/wallets"),
    (
        lambda bench, text: bench.done("POST /recurring-payments", {**stock.recurring_body(bench), "reference": text}),
        "/recurring-payments",
    ),
)
"""What takes a reference, and the path of what it makes."""


@promise("reference.kept", "Ramp transaction", "writes")
def reference_kept(bench: Bench) -> None:
    """A reference is shown as it was sent, capitals and all, though a search for it does not mind them."""
    for make, path in REFERRED:
        text = bench.fresh("Invoice-AbC")
        made = make(bench, text)
        bench.equal(made, "reference", text)
        bench.equal(bench.done(f"GET {path}/{{id}}", id=made.text("id")), "reference", text, after=(made,))
        if path in SEARCHED:
            found = bench.done(f"GET {path}", query={"search": text.lower()})
            told = [row.get("reference") for row in found.items]
            bench.holds(told == [text], found, f"references found are {told}, not {[text]}", "data", after=(made,))


LAWS = (text_kept, reference_kept)
