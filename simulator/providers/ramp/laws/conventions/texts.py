"""Strings from the caller: non-ASCII names and references are returned unchanged."""

from __future__ import annotations

from collections.abc import Callable

from simulator.conformance.bench import Bench
from simulator.conformance.laws import promise
from simulator.conformance.service import Answer
from simulator.engine.text.json import JsonObject
from simulator.providers.ramp.laws import stock

NAME = stock.OUTSIDE_ASCII

SEARCHED = ("/beneficiaries", "/transactions")
"""Lists in which, according to the specification, a search includes names and references."""
NAMED: tuple[tuple[str, JsonObject, str, str], ...] = (
    ("POST /beneficiaries", {**stock.BENEFICIARY, "name": NAME}, "name", "/beneficiaries"),
    ("POST /beneficiaries", {**stock.ADDRESS_BENEFICIARY, "name": NAME}, "name", "/beneficiaries"),
    ("POST /wallets", {"network": "celo", "label": NAME}, "label", "/wallets"),
    ("POST /wallet/send", {**stock.SEND, "reference": NAME}, "reference", "/transactions"),
)
"""An operation that takes a name, its body, the name field, and the path of the created resource."""


@promise("text.kept", "Resources and their fields", "writes")
def text_kept(bench: Bench) -> None:
    """A non-ASCII name is returned as sent, and a search finds it."""
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


def _used(quoted: Callable[[Bench], Answer]) -> Callable[[Bench, str], Answer]:
    """Return a function that creates a quote and uses it with a given reference."""

    def use(bench: Bench, reference: str) -> Answer:
        quote = quoted(bench)
        body = {**stock.use_body(quote), "reference": reference}
        return bench.done(quote.operation.removesuffix("/quote"), body)

    return use


def _onramp(bench: Bench, reference: str) -> Answer:
    return stock.confirm(bench, stock.onramp_quote(bench), {**stock.onramp_details(), "reference": reference})


REFERRED: tuple[tuple[Callable[[Bench, str], Answer], str], ...] = (
    (_onramp, "/transactions"),
    (lambda bench, text: bench.done("POST /wallet/send", {**stock.SEND, "reference": text}), "/transactions"),
    (_used(stock.swap_quote), "/transactions"),
    (_used(stock.buy_quote), "/transactions"),
    (_used(stock.withdraw_quote), "/transactions"),
    (lambda bench, text: bench.done("POST /wallets", {"network": "celo", "reference": text}), "/wallets"),
    (
        lambda bench, text: bench.done("POST /recurring-payments", {**stock.recurring_body(bench), "reference": text}),
        "/recurring-payments",
    ),
)
"""A function that creates a resource with a reference, and the resource's path."""


@promise("reference.kept", "Ramp transaction", "writes")
def reference_kept(bench: Bench) -> None:
    """A reference is returned exactly as sent, although a search ignores case."""
    for make, path in REFERRED:
        text = bench.fresh("Invoice-AbC")
        made = make(bench, text)
        bench.equal(made, "reference", text)
        bench.equal(bench.done(f"GET {path}/{{id}}", id=made.text("id")), "reference", text, after=(made,))
        if path in SEARCHED:
            found = bench.done(f"GET {path}", query={"search": text.lower()})
            references = [row.get("reference") for row in found.items]
            words = f"references found are {references}, not {[text]}"
            bench.holds(references == [text], found, words, "data", after=(made,))
