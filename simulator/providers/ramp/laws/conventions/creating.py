"""Created resources can be read and listed, reads return updated values, and deleted resources no longer exist."""

from __future__ import annotations

from simulator.conformance.bench import Bench, MissingData
from simulator.conformance.laws import guess, promise
from simulator.conformance.service import Answer, pages
from simulator.engine.text.json import Shown
from simulator.providers.ramp.laws import stock

RESOURCES = "Endpoints"


def _created(bench: Bench) -> list[tuple[Answer, str, str]]:
    """Create one resource of each kind.

    For each resource, return the response, the operation that reads it, and the operation that lists it, or "" if it is
    not listed.
    """
    transactions = [
        make(bench)
        for make in (stock.onramp, stock.offramp, stock.sent, stock.swap, stock.buy, stock.withdrawal)
    ]  # fmt: skip
    payees = [
        stock.beneficiary(bench, body)
        for body in (stock.BENEFICIARY, stock.BANK_BENEFICIARY, stock.ADDRESS_BENEFICIARY)
    ]  # fmt: skip
    wallets = [stock.wallet(bench, network) for network in ("bitcoin", "stellar", "celo")]
    rows = [
        ("/transactions", transactions),
        ("/beneficiaries", payees),
        ("/recurring-payments", [stock.recurring(bench)]),
        # Use the GET response for a bitcoin wallet. It contains the Lightning entries, which the creation response
        # need not contain.
        ("/wallets", [bench.done("GET /wallets/{id}", id=wallets[0].text("id")), *wallets[1:]]),
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
        if not rows:
            continue
        page = bench.done(rows, query={"size": 100, "sort_order": "desc"})
        row = _row(page, made.text("id"))
        if bench.holds(
            row is not None, page, f"{made.text('id')} was created and is not listed", "data", after=(made,)
        ):
            full = bench.done(reading, id=made.text("id"))
            bench.like(page, row or {}, full.body)


def _row(page: Answer, name: str) -> Shown | None:
    return next((row for row in page.items if row.get("id") == name), None)


PARTS = (
    ("GET /transactions", "GET /orders/{order_id}", "order_id"), ("GET /wallets", "GET /wallets/{id}/deposits", "id"),
    ("GET /wallets", "GET /wallets/{id}/lightning", "id"),
    ("GET /recurring-payments", "GET /recurring-payments/{id}/transactions", "id"),
    ("GET /webhooks", "GET /webhooks/{id}/deliveries", "id"),
)  # fmt: skip
"""A list, an operation that reads a part of one of the list's items, and the path parameter that takes the item's id.
"""


@promise("get.parts", RESOURCES)
def parts(bench: Bench) -> None:
    """The resources of a list item can be read: its order, deposits, Lightning entries, runs or deliveries."""
    for rows, reading, name in PARTS:
        page = bench.done(rows, query={"size": 3})
        for row in page.items:
            bench.accepted(bench.call(reading, path={name: str(row["id"])}), 200, after=(page,))
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
    """Create and delete resources. For each one, return the response that created it, the response that deleted it, and
    the path of its list.
    """
    made = [(stock.beneficiary(bench), "/beneficiaries")]
    if bench.has("hook"):
        made.append((stock.webhook(bench), "/webhooks"))
    return [(answer, bench.done(f"DELETE {path}/{{id}}", id=answer.text("id")), path) for answer, path in made]


@promise("delete.gone", "Endpoints: DELETE; Errors: not_found", "writes")
def gone(bench: Bench) -> None:
    """Requests for a deleted resource return 404 not_found."""
    for made, deleted, path in _deleted(bench):
        _judge_gone(bench, made, deleted, path)


@promise("delete.unlisted", "Endpoints: DELETE", "writes")
def unlisted(bench: Bench) -> None:
    """A deleted resource is not listed."""
    for made, deleted, path in _deleted(bench):
        _judge_unlisted(bench, made, deleted, path)


@guess("delete.recurring", "S20", "writes")
def recurring_gone(bench: Bench) -> None:
    """A deleted recurring payment is neither found nor listed."""
    made = stock.recurring(bench)
    deleted = bench.done("DELETE /recurring-payments/{id}", id=made.text("id"))
    _judge_gone(bench, made, deleted, "/recurring-payments")
    _judge_unlisted(bench, made, deleted, "/recurring-payments")


def _judge_gone(bench: Bench, made: Answer, deleted: Answer, path: str) -> None:
    for method in ("GET", "DELETE"):
        answer = bench.call(f"{method} {path}/{{id}}", id=made.text("id"))
        bench.refused(answer, 404, "not_found", after=(made, deleted))


def _judge_unlisted(bench: Bench, made: Answer, deleted: Answer, path: str) -> None:
    for page in pages(bench.service, f"GET {path}"):
        held = _row(page, made.text("id")) is None
        bench.holds(held, page, "a deleted resource is listed", "data", after=(made, deleted))
