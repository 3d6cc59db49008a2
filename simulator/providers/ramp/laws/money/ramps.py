"""Ramps: confirming a quote, refusals, and the transitions that lead to completion, expiry or refund."""

from __future__ import annotations

from simulator.conformance.bench import Bench
from simulator.conformance.laws import changed, promise
from simulator.conformance.service import Answer
from simulator.engine.text.json import JsonObject
from simulator.providers.ramp.laws import stock

CONFIRM = "POST /quotes/{id}/confirm"
QUOTE = "GET /quotes/{id}"


def _quoted(bench: Bench) -> list[tuple[Answer, JsonObject]]:
    """Create an onramp quote and an offramp quote. Return each with the request body that confirms it."""
    return [
        (stock.onramp_quote(bench), stock.onramp_details()),
        (stock.offramp_quote(bench), stock.offramp_details(bench)),
    ]


def _confirmed(bench: Bench) -> list[tuple[Answer, Answer]]:
    """Create and confirm quotes. Return each quote with its transaction."""
    celo = stock.offramp_quote(bench, network="celo")
    quotes = [*_quoted(bench), (celo, stock.offramp_details(bench, "celo"))]
    return [(quote, stock.confirm(bench, quote, body)) for quote, body in quotes]


@promise("ramp.created", "States: Ramp transaction", "writes")
def first_state(bench: Bench) -> None:
    """A confirmed onramp awaits a payment. A confirmed offramp awaits a deposit."""
    for quote, made in _confirmed(bench):
        onramp = quote.text("type") == "onramp"
        bench.equal(made, "status", "awaiting_payment" if onramp else "awaiting_deposit", after=(quote,))


@promise("ramp.variant", "Ramp transaction: Onramp only, Offramp only", "writes")
def what_only_one_has(bench: Bench) -> None:
    """Only an onramp has payment_instructions and wallet_address. Only an offramp has deposit and beneficiary_id."""
    for quote, made in _confirmed(bench):
        mine, others = ["payment_instructions", "wallet_address"], ["deposit", "beneficiary_id"]
        if quote.text("type") == "offramp":
            mine, others = others, mine
        for name in mine:
            bench.holds(bool(made.body.get(name)), made, f"{name} is missing", name, after=(quote,))
        for name in others:
            bench.holds(name not in made.body, made, f"{name} belongs to the other type", name, after=(quote,))


@promise("quote.locked", "Ramp transaction: As on the quote", "writes")
def copies_the_quote(bench: Bench) -> None:
    """A transaction has the rate, amounts and fee from its quote."""
    for quote, made in _confirmed(bench):
        bench.equal(made, "quote_id", quote.text("id"), after=(quote,))
        bench.same(
            made, quote, "type", "network", "asset", "fiat_currency", "rate", "source_amount", "destination_amount",
            "fee",
        )  # fmt: skip


@promise("ramp.request_kept", "Ramp transaction", "writes")
def copies_the_request(bench: Bench) -> None:
    """A transaction has the reference, address and beneficiary from the request."""
    for quote, body in _quoted(bench):
        made = stock.confirm(bench, quote, body)
        kept = [name for name in ("reference", "wallet_address", "beneficiary_id") if name in body]
        bench.echoes(made, body, *kept, after=(quote,))


@promise("offramp.deposit", "Ramp transaction: deposit", "writes")
def deposit(bench: Bench) -> None:
    """The requested deposit is the quote's source amount, due by the quote's expires_at. It has a memo only on
    stellar.
    """
    for quote, made in _confirmed(bench)[1:]:
        for name, place in (
            ("deposit_by", "expires_at"), ("asset", "asset"), ("network", "network"), ("amount", "source_amount"),
        ):  # fmt: skip
            bench.equal(made, f"deposit.{name}", quote.text(place), after=(quote,))
        stellar = quote.text("network") == "stellar"
        there = bool(made.part("deposit").get("memo"))
        bench.holds(there is stellar, made, "only stellar has a memo", "deposit.memo", after=(quote,))


@promise("quote.confirmed", "States: Ramp quote", "writes")
def uses_the_quote(bench: Bench) -> None:
    """After a quote is confirmed, its status is confirmed."""
    for quote, made in _confirmed(bench):
        answer = bench.call(QUOTE, id=quote.text("id"))
        bench.equal(answer, "status", "confirmed", after=(quote, made))


@promise("quote.used_refused", "States: Ramp quote", "writes")
def once(bench: Bench) -> None:
    """Confirming a confirmed quote returns 409 quote_already_used and creates nothing."""
    for quote, made in _confirmed(bench):
        before = bench.total("GET /transactions")
        body = stock.onramp_details() if quote.text("type") == "onramp" else stock.offramp_details(bench)
        again = bench.call(CONFIRM, body, id=quote.text("id"))
        bench.refused(again, 409, "quote_already_used", after=(quote, made))
        bench.holds(bench.total("GET /transactions") == before, again, "a second transaction was created", "data")


def _refused(bench: Bench, quote: Answer, body: JsonObject, error: str, status: str) -> Answer:
    """Check that confirming a quote is refused with `error`, and that the quote then has the given status."""
    code, _, word = error.partition(" ")
    refused = bench.call(CONFIRM, body, id=quote.text("id"))
    bench.refused(refused, int(code), word, after=(quote,))
    bench.equal(bench.done(QUOTE, id=quote.text("id")), "status", status, after=(quote, refused))
    return refused


@promise("quote.expired_refused", "States: Ramp quote", "writes", "control")
def expired(bench: Bench) -> None:
    """Confirming an expired quote returns 422 quote_expired and creates nothing."""
    quotes = _quoted(bench)
    bench.world.advance("31m")
    before = bench.total("GET /transactions")
    for quote, body in quotes:
        refused = _refused(bench, quote, body, "422 quote_expired", "expired")
        bench.holds(bench.total("GET /transactions") == before, refused, "a transaction was created", "data")


@promise("quote.usable", "Quotes lock rate and fees for exactly 30 minutes", "writes", "control")
def last_second(bench: Bench) -> None:
    """A quote can be confirmed for 30 minutes, at the quoted rate."""
    quote = stock.onramp_quote(bench)
    bench.world.advance("29m59s")
    made = bench.call(CONFIRM, stock.onramp_details(), id=quote.text("id"))
    if bench.accepted(made, after=(quote,)):
        bench.equal(made, "rate", quote.text("rate"), after=(quote,))


@promise("confirm.not_found", "Confirm errors", "writes")
def unknown(bench: Bench) -> None:
    """Confirming an unknown quote returns 404 quote_not_found."""
    answer = bench.call(CONFIRM, stock.onramp_details(), id="qt_0000000000000000")
    bench.refused(answer, 404, "quote_not_found")


@promise("errors.invalid_wallet_address", "Confirm errors", "writes")
def address(bench: Bench) -> None:
    """An address for another network is refused with 422 invalid_wallet_address, and the quote stays active."""
    wrong = {"wallet_address": stock.ADDRESSES["stellar"]}, {"refund_address": stock.ADDRESSES["celo"]}
    for (quote, body), change in zip(_quoted(bench), wrong, strict=True):
        _refused(bench, quote, {**body, **change}, "422 invalid_wallet_address", "active")


@promise("errors.beneficiary_mismatch", "Confirm errors", "writes")
def beneficiary(bench: Bench) -> None:
    """A beneficiary whose currency or method differs from the quote's is refused with 422 beneficiary_mismatch."""
    payee = stock.beneficiary(bench, stock.BANK_BENEFICIARY).text("id")
    quote = stock.offramp_quote(bench)
    body = {**stock.offramp_details(bench), "beneficiary_id": payee}
    bench.refused(bench.call(CONFIRM, body, id=quote.text("id")), 422, "beneficiary_mismatch", after=(quote,))


@promise("confirm.missing", "Onramp confirm body, Offramp confirm body", "writes")
def required(bench: Bench) -> None:
    """A confirmation without a required field is refused with 400 missing_parameter, and param names the field."""
    required = ("wallet_address", "payer"), ("beneficiary_id", "refund_address")
    for (quote, body), names in zip(_quoted(bench), required, strict=True):
        for name in names:
            answer = bench.call(CONFIRM, changed(body, name, None), id=quote.text("id"))
            bench.refused(answer, 400, "missing_parameter", param=name, after=(quote,))


@promise("ramp.expires", "States: Ramp transaction", "writes", "control")
def ramp_expires(bench: Bench) -> None:
    """A ramp that receives no funds expires at the end of its payment period."""
    for create in (stock.onramp, stock.offramp):
        made = create(bench)
        bench.world.advance("29m50s")
        stock.shows(bench, made, made.text("status"))
        bench.world.advance("11s")
        stock.shows(bench, made, "expired")


@promise("onramp.way", "States: Ramp transaction", "writes", "control")
def onramp_way(bench: Bench) -> None:
    """A paid onramp is processing. A completed onramp has a tx_hash."""
    made = stock.onramp(bench)
    stock.shows(bench, made, "processing", after="payment_arrives")
    done = stock.shows(bench, made, "completed", after="complete")
    bench.holds(bool(done.body.get("tx_hash")), done, "a completed onramp has no tx_hash", "tx_hash")


@promise("offramp.way", "States: Ramp transaction", "writes", "control")
def offramp_way(bench: Bench) -> None:
    """An offramp is processing after its deposit has arrived. It is completed after the payout."""
    for network in ("stellar", "celo"):
        made = stock.offramp(bench, network)
        stock.shows(bench, made, "processing", after="deposit_arrives")
        stock.shows(bench, made, "completed", after="complete")


@promise("ramp.refund", "States: Ramp transaction", "writes", "control")
def refund(bench: Bench) -> None:
    """If a ramp's payout cannot be completed, the ramp fails and is then refunded."""
    made = stock.offramp(bench)
    bench.world.act("deposit_arrives", made.text("id"))
    stock.shows(bench, made, "failed", after="fail")
    stock.shows(bench, made, "refunded", after="refund")


@promise("ramp.forward", "Statuses only move forward", "writes", "control")
def forward(bench: Bench) -> None:
    """A ramp that is processing or completed does not expire."""
    done, under_way = stock.onramp(bench), stock.onramp(bench)
    stock.act(bench, done.text("id"), "payment_arrives", "complete")
    stock.act(bench, under_way.text("id"), "payment_arrives")
    bench.world.advance("3h")
    stock.shows(bench, done, "completed")
    stock.shows(bench, under_way, "processing")
