"""What was made can be read, in its list too; what was changed shows it; what was deleted is gone."""

from __future__ import annotations

from simulator.conformance.bench import Bench, Lacking
from simulator.conformance.laws import guess, promise
from simulator.conformance.service import Answer, pages
from simulator.engine.text.json import Shown
from simulator.providers.ramp.laws import stock

RESOURCES = "Endpoints"


def _made(bench: Bench) -> list[tuple[Answer, str, str]]:
    """One of each resource: the answer that made it, how it is read and which list has it."""
    invoice_home = stock.wallet(bench, "bitcoin").text("id")
    made = [
        (stock.onramp_quote(bench), "GET /quotes/{id}", ""),
        (stock.onramp(bench), "GET /transactions/{id}", "GET /transactions"),
        (stock.offramp(bench), "GET /transactions/{id}", "GET /transactions"),
        (bench.done("POST /wallet/send", stock.SEND), "GET /transactions/{id}", "GET /transactions"),
        (stock.beneficiary(bench), "GET /beneficiaries/{id}", "GET /beneficiaries"),
        (stock.beneficiary(bench, stock.BANK_BENEFICIARY), "GET /beneficiaries/{id}", "GET /beneficiaries"),
        (stock.beneficiary(bench, stock.ADDRESS_BENEFICIARY), "GET /beneficiaries/{id}", "GET /beneficiaries"),
        (stock.recurring(bench), "GET /recurring-payments/{id}", "GET /recurring-payments"),
        (bench.done("GET /wallets/{id}", id=invoice_home), "GET /wallets/{id}", "GET /wallets"),
    ]
    made += [(stock.wallet(bench, network), "GET /wallets/{id}", "GET /wallets") for network in ("stellar", "celo")]
    swapped = bench.done("POST /wallet/swap", {"quote_id": stock.swap_quote(bench).text("id")})
    made.append((swapped, "GET /transactions/{id}", "GET /transactions"))
    bought = bench.done("POST /wallet/buy", stock.buy_details(stock.buy_quote(bench)))
    made.append((bought, "GET /transactions/{id}", "GET /transactions"))
    drawn = bench.done("POST /wallet/withdraw", {"quote_id": stock.withdraw_quote(bench).text("id")})
    made.append((drawn, "GET /transactions/{id}", "GET /transactions"))
    if bench.has("hook"):
        hook = bench.done("POST /webhooks", {"url": bench.hook, "events": ["webhook.test"]})
        made.append((hook, "GET /webhooks/{id}", "GET /webhooks"))
    return made


@promise("get.after_create", RESOURCES, "writes")
def read_after_create(bench: Bench) -> None:
    """GET of what was just made shows what the answer to its creation showed."""
    for made, reading, _ in _made(bench):
        answer = bench.call(reading, id=made.text("id"))
        if bench.accepted(answer, 200, after=(made,)):
            for name in sorted(made.body):
                if name not in ("status", "updated_at", "tx_hash") or bench.controlled:
                    bench.equal(answer, name, made.body[name], after=(made,))


@promise("list.contains", RESOURCES, "writes")
def listed(bench: Bench) -> None:
    """What was made stands in its list, with the members that GET by its id shows."""
    for made, reading, rows in _made(bench):
        if not rows:
            continue
        page = bench.done(rows, query={"size": 100, "sort_order": "desc"})
        row = _row(page, made.text("id"))
        if bench.holds(row is not None, page, f"{made.text('id')} was made and is not listed", "data", after=(made,)):
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
"""What belongs to the rows of a list, and the name of its id in the path; it is always the row's own id."""


@promise("get.parts", RESOURCES)
def parts(bench: Bench) -> None:
    """What belongs to a row of a list can be read: its order, deposits, Lightning entries, runs and deliveries."""
    for rows, reading, name in PARTS:
        page = bench.done(rows, query={"size": 3})
        for row in page.items:
            bench.accepted(bench.call(reading, path={name: str(row["id"])}), 200, after=(page,))
    for plain in ("GET /currencies", "GET /wallet/assets", "GET /profile/limits"):
        bench.accepted(bench.call(plain), 200)


@promise("get.quote_of_ramp", "Ramp transaction: quote_id, Quote it came from")
def quote_of_ramp(bench: Bench) -> None:
    """The quote that a ramp came from can be read, and is confirmed."""
    page = bench.done("GET /transactions", query={"type": "onramp", "size": 3})
    if not page.items:
        raise Lacking("the account has no onramp")
    for row in page.items:
        quote = bench.call("GET /quotes/{id}", id=str(row["quote_id"]))
        if bench.accepted(quote, 200, after=(page,)):
            bench.equal(quote, "status", "confirmed", after=(page,))


def _deleted(bench: Bench) -> list[tuple[Answer, Answer, str]]:
    """What was made and deleted: the two answers, and the path."""
    made = [(stock.beneficiary(bench), "/beneficiaries")]
    if bench.has("hook"):
        hook = bench.done("POST /webhooks", {"url": bench.hook, "events": ["webhook.test"]})
        made.append((hook, "/webhooks"))
    return [(answer, bench.done(f"DELETE {path}/{{id}}", id=answer.text("id")), path) for answer, path in made]


@promise("delete.gone", "Endpoints: DELETE; Errors: not_found", "writes")
def gone(bench: Bench) -> None:
    """What was deleted is not found any more."""
    for made, deleted, path in _deleted(bench):
        _judge_gone(bench, made, deleted, path)


@promise("delete.unlisted", "Endpoints: DELETE", "writes")
def unlisted(bench: Bench) -> None:
    """What was deleted stands in no list."""
    for made, deleted, path in _deleted(bench):
        _judge_unlisted(bench, made, deleted, path)


@guess("delete.recurring", "S20", "writes")
def recurring_gone(bench: Bench) -> None:
    """A deleted recurring payment is not found and not listed any more."""
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
        bench.holds(held, page, "what was deleted is listed", "data", after=(made, deleted))


LAWS = (read_after_create, listed, parts, quote_of_ramp, gone, unlisted, recurring_gone)
