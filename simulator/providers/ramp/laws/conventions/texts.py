"""Strings from the caller: non-ASCII names and references are returned unchanged."""

from __future__ import annotations

from collections.abc import Iterator

from simulator.conformance.bench import Bench
from simulator.conformance.laws import promise
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
        bench.equal(made, place, NAME)
        bench.equal(read, place, NAME, after=(made,))
        if path in SEARCHED:
            found, name = bench.done(f"GET {path}", query={"search": NAME, "size": 100}), made.text("id")
            there = any(row.get("id") == name for row in found.items)
            bench.holds(there, found, f"search={NAME} does not find {name}", "query.search", after=(made,))


def _referred(bench: Bench) -> Iterator[tuple[str, JsonObject, str, str]]:
    """Yield an operation that takes a reference, its body, the id of a quote to confirm, and the path of the created
    resource. Each quote is created when it is needed.
    """
    quote_id = stock.onramp_quote(bench).text("id")
    yield "POST /quotes/{id}/confirm", stock.onramp_details(), quote_id, "/transactions"
    yield "POST /wallet/send", stock.SEND, "", "/transactions"
    for _, operation, body in stock.uses(bench):
        yield operation, body, "", "/transactions"
    yield "POST /wallets", {"network": "celo"}, "", "/wallets"
    yield "POST /recurring-payments", stock.recurring_body(bench), "", "/recurring-payments"


@promise("reference.kept", "Ramp transaction", "writes")
def reference_kept(bench: Bench) -> None:
    """A reference is returned exactly as sent, although a search ignores case."""
    for operation, body, quote_id, path in _referred(bench):
        text = bench.fresh("Invoice-AbC")
        made = bench.done(operation, {**body, "reference": text}, id=quote_id)
        bench.equal(made, "reference", text)
        bench.equal(bench.done(f"GET {path}/{{id}}", id=made.text("id")), "reference", text, after=(made,))
        if path in SEARCHED:
            found = bench.done(f"GET {path}", query={"search": text.lower()})
            references = [row.get("reference") for row in found.items]
            words = f"references found are {references}, not {[text]}"
            bench.holds(references == [text], found, words, "data", after=(made,))
