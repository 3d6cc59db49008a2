"""Created resources can be read and listed, reads return updated values, and deleted resources no longer exist."""

from __future__ import annotations

from simulator.conformance.bench import Bench, MissingData
from simulator.conformance.laws import guess, promise
from simulator.conformance.service import Answer, pages
from simulator.engine.text.json import Shown
from simulator.providers.ramp.laws import stock

RESOURCES = "Endpoints"


def _created(bench: Bench) -> list[tuple[Answer, str, str]]:
    """Create one resource of each kind. Return its response, and the operations that read it and list it (or "")."""
    payees = (stock.BENEFICIARY, stock.BANK_BENEFICIARY, stock.ADDRESS_BENEFICIARY)
    rows = [
        ("/transactions", stock.transactions(bench)),
        ("/beneficiaries", [stock.beneficiary(bench, body) for body in payees]),
    ]
    bitcoin, *wallets = (stock.wallet(bench, network) for network in ("bitcoin", "stellar", "celo"))
    rows += [
        ("/recurring-payments", [stock.recurring(bench)]),
        # Use the GET response for a bitcoin wallet. It contains the Lightning entries, which the creation response
        # need not contain.
        ("/wallets", [bench.done("GET /wallets/{id}", id=bitcoin.text("id")), *wallets]),
        ("/webhooks", [stock.webhook(bench)] if bench.has("hook") else []),
    ]
    created = [(made, f"GET {path}/{{id}}", f"GET {path}") for path, answers in rows for made in answers]
    return [(stock.onramp_quote(bench), "GET /quotes/{id}", ""), *created]


@promise("get.after_create", RESOURCES, "writes")
def read_after_create(bench: Bench) -> None:
    """GET for a new resource returns the same field values as the response that created the resource."""
    for made, reading, _ in _created(bench):
        answer = bench.call(reading, id=made.text("id"))
        if bench.accepted(answer, 200, after=(made,)):
            for name in sorted(made.body):
                if name not in ("status", "updated_at", "tx_hash") or bench.controlled:
                    bench.equal(answer, name, made.body[name], after=(made,))


@promise("list.contains", RESOURCES, "writes")
def listed(bench: Bench) -> None:
    """A new resource is in its list, with the same fields as in GET by id."""
    for made, reading, rows in _created(bench):
        if rows:
            name, page = made.text("id"), bench.done(rows, query={"size": 100, "sort_order": "desc"})
            row = _row(page, name) or {}
            if bench.holds(bool(row), page, f"{name} was created and is not listed", "data", after=(made,)):
                bench.like(page, row, bench.done(reading, id=name).body)


def _row(page: Answer, name: str) -> Shown | None:
    return next((row for row in page.items if row.get("id") == name), None)


PARTS = (
    ("GET /transactions", "GET /orders/{order_id}"), ("GET /wallets", "GET /wallets/{id}/deposits"),
    ("GET /wallets", "GET /wallets/{id}/lightning"),
    ("GET /recurring-payments", "GET /recurring-payments/{id}/transactions"),
    ("GET /webhooks", "GET /webhooks/{id}/deliveries"),
)  # fmt: skip
"""A list, and an operation that reads a part of one of the list's items, by the item's id."""


@promise("get.parts", RESOURCES)
def parts(bench: Bench) -> None:
    """The resources of a list item can be read: its order, deposits, Lightning entries, runs or deliveries."""
    for rows, reading in PARTS:
        page = bench.done(rows, query={"size": 3})
        for name in (str(row["id"]) for row in page.items):
            bench.accepted(bench.call(reading, path={"id": name, "order_id": name}), 200, after=(page,))
    for plain in ("GET /currencies", "GET /wallet/assets", "GET /profile/limits"):
        bench.accepted(bench.call(plain), 200)


@promise("get.quote_of_ramp", "Ramp transaction: quote_id, Quote it came from")
def quote_of_ramp(bench: Bench) -> None:
    """The quote for a ramp can be read and has the status confirmed."""
    page = bench.done("GET /transactions", query={"type": "onramp", "size": 3})
    if not page.items:
        raise MissingData("the account has no onramp")
    for row in page.items:
        quote = bench.call("GET /quotes/{id}", id=str(row["quote_id"]))
        if bench.accepted(quote, 200, after=(page,)):
            bench.equal(quote, "status", "confirmed", after=(page,))


def _deleted(bench: Bench) -> list[tuple[Answer, Answer, str]]:
    """Create and delete resources. Return the responses to both calls, and the path of the list."""
    made = [(stock.beneficiary(bench), "/beneficiaries")]
    if bench.has("hook"):
        made.append((stock.webhook(bench), "/webhooks"))
    return [(answer, bench.done(f"DELETE {path}/{{id}}", id=answer.text("id")), path) for answer, path in made]


def _judge_gone(bench: Bench, deleted: list[tuple[Answer, Answer, str]]) -> None:
    for made, gone, path in deleted:
        for method in ("GET", "DELETE"):
            answer = bench.call(f"{method} {path}/{{id}}", id=made.text("id"))
            bench.refused(answer, 404, "not_found", after=(made, gone))


def _judge_unlisted(bench: Bench, deleted: list[tuple[Answer, Answer, str]]) -> None:
    for made, gone, path in deleted:
        for page in pages(bench.service, f"GET {path}"):
            held = _row(page, made.text("id")) is None
            bench.holds(held, page, "a deleted resource is listed", "data", after=(made, gone))


@promise("delete.gone", "Endpoints: DELETE; Errors: not_found", "writes")
def gone(bench: Bench) -> None:
    """Requests for a deleted resource return 404 not_found."""
    _judge_gone(bench, _deleted(bench))


@promise("delete.unlisted", "Endpoints: DELETE", "writes")
def unlisted(bench: Bench) -> None:
    """A deleted resource is not listed."""
    _judge_unlisted(bench, _deleted(bench))


@guess("delete.recurring", "S20", "writes")
def recurring_gone(bench: Bench) -> None:
    """A deleted recurring payment is neither found nor listed."""
    made = stock.recurring(bench)
    deleted = bench.done("DELETE /recurring-payments/{id}", id=made.text("id"))
    _judge_gone(bench, [(made, deleted, "/recurring-payments")])
    _judge_unlisted(bench, [(made, deleted, "/recurring-payments")])
