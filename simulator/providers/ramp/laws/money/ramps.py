"""Ramps: what confirming a quote makes, what it refuses, and the way to completion, expiry and refund."""

from __future__ import annotations

from simulator.conformance.bench import Bench
from simulator.conformance.laws import promise
from simulator.conformance.service import Answer
from simulator.providers.ramp.laws import stock

CONFIRM = "POST /quotes/{id}/confirm"
TRANSACTION = "GET /transactions/{id}"


def _confirmed(bench: Bench) -> list[tuple[Answer, Answer]]:
    """Quotes with the transactions they became."""
    on, off = stock.onramp_quote(bench), stock.offramp_quote(bench)
    off_celo = stock.offramp_quote(bench, network="celo")
    return [
        (on, bench.done(CONFIRM, stock.onramp_details(), id=on.text("id"))),
        (off, bench.done(CONFIRM, stock.offramp_details(bench), id=off.text("id"))),
        (off_celo, bench.done(CONFIRM, stock.offramp_details(bench, "celo"), id=off_celo.text("id"))),
    ]


@promise("ramp.created", "States: Ramp transaction", "writes")
def first_state(bench: Bench) -> None:
    """A confirmed onramp awaits its payment, a confirmed offramp its deposit."""
    for quote, made in _confirmed(bench):
        onramp = quote.text("type") == "onramp"
        bench.equal(made, "status", "awaiting_payment" if onramp else "awaiting_deposit", after=(quote,))


@promise("ramp.variant", "Ramp transaction: Onramp only, Offramp only", "writes")
def what_only_one_has(bench: Bench) -> None:
    """payment_instructions and wallet_address are an onramp's, deposit and beneficiary_id an offramp's."""
    for quote, made in _confirmed(bench):
        mine, others = ["payment_instructions", "wallet_address"], ["deposit", "beneficiary_id"]
        if quote.text("type") == "offramp":
            mine, others = others, mine
        for name in mine:
            bench.holds(bool(made.body.get(name)), made, f"{name} is not given", name, after=(quote,))
        for name in others:
            bench.holds(name not in made.body, made, f"{name} belongs to the other type", name, after=(quote,))


@promise("quote.locked", "Ramp transaction: As on the quote", "writes")
def copies_the_quote(bench: Bench) -> None:
    """A transaction has the rate, the amounts and the fee of its quote."""
    for quote, made in _confirmed(bench):
        bench.equal(made, "quote_id", quote.text("id"), after=(quote,))
        bench.same(
            made, quote, "type", "network", "asset", "fiat_currency", "rate", "source_amount", "destination_amount",
            "fee",
        )  # fmt: skip


@promise("ramp.request_kept", "Ramp transaction", "writes")
def copies_the_request(bench: Bench) -> None:
    """A transaction has the reference, the address and the beneficiary of the request."""
    for quote, body in (
        (stock.onramp_quote(bench), stock.onramp_details()),
        (stock.offramp_quote(bench), stock.offramp_details(bench)),
    ):
        made = bench.done(CONFIRM, body, id=quote.text("id"))
        for name in ("reference", "wallet_address", "beneficiary_id"):
            if name in body:
                bench.equal(made, name, body[name], after=(quote,))


@promise("offramp.deposit", "Ramp transaction: deposit", "writes")
def deposit(bench: Bench) -> None:
    """The deposit asked for is the quote's source amount by its expires_at, with a memo on stellar alone."""
    for quote, made in _confirmed(bench)[1:]:
        bench.equal(made, "deposit.deposit_by", quote.text("expires_at"), after=(quote,))
        bench.equal(made, "deposit.asset", quote.text("asset"), after=(quote,))
        bench.equal(made, "deposit.network", quote.text("network"), after=(quote,))
        bench.equal(made, "deposit.amount", quote.text("source_amount"), after=(quote,))
        stellar = quote.text("network") == "stellar"
        there = bool(made.part("deposit").get("memo"))
        bench.holds(there is stellar, made, "memo is for stellar, and only there", "deposit.memo", after=(quote,))


@promise("quote.confirmed", "States: Ramp quote", "writes")
def uses_the_quote(bench: Bench) -> None:
    """A confirmed quote shows that it is confirmed."""
    for quote, made in _confirmed(bench):
        answer = bench.call("GET /quotes/{id}", id=quote.text("id"))
        bench.equal(answer, "status", "confirmed", after=(quote, made))


@promise("quote.used_refused", "States: Ramp quote", "writes")
def once(bench: Bench) -> None:
    """Confirming a confirmed quote answers 409 quote_already_used and makes nothing."""
    for quote, made in _confirmed(bench):
        before = bench.total("GET /transactions")
        body = stock.onramp_details() if quote.text("type") == "onramp" else stock.offramp_details(bench)
        again = bench.call(CONFIRM, body, id=quote.text("id"))
        bench.refused(again, 409, "quote_already_used", after=(quote, made))
        bench.holds(bench.total("GET /transactions") == before, again, "a second transaction was made", "data")


@promise("quote.expired_refused", "States: Ramp quote", "writes", "control")
def expired(bench: Bench) -> None:
    """Confirming an expired quote answers 422 quote_expired and makes nothing."""
    quotes = [(stock.onramp_quote(bench), stock.onramp_details()),
              (stock.offramp_quote(bench), stock.offramp_details(bench))]  # fmt: skip
    bench.world.advance("31m")
    before = bench.total("GET /transactions")
    for quote, body in quotes:
        refused = bench.call(CONFIRM, body, id=quote.text("id"))
        bench.refused(refused, 422, "quote_expired", after=(quote,))
        bench.equal(bench.done("GET /quotes/{id}", id=quote.text("id")), "status", "expired", after=(quote, refused))
        bench.holds(bench.total("GET /transactions") == before, refused, "a transaction was made", "data")


@promise("quote.usable", "Quotes lock rate and fees for exactly 30 minutes", "writes", "control")
def last_second(bench: Bench) -> None:
    """A quote can be confirmed until its 30 minutes are over, at the rate it had."""
    quote = stock.onramp_quote(bench)
    bench.world.advance("29m59s")
    made = bench.call(CONFIRM, stock.onramp_details(), id=quote.text("id"))
    if bench.accepted(made, after=(quote,)):
        bench.equal(made, "rate", quote.text("rate"), after=(quote,))


@promise("confirm.not_found", "Confirm errors", "writes")
def unknown(bench: Bench) -> None:
    """Confirming a quote that does not exist answers 404 quote_not_found."""
    answer = bench.call(CONFIRM, stock.onramp_details(), id="qt_0000000000000000")
    bench.refused(answer, 404, "quote_not_found")


@promise("errors.invalid_wallet_address", "Confirm errors", "writes")
def address(bench: Bench) -> None:
    """An address that is none of the network is refused with 422 invalid_wallet_address and leaves the quote active."""
    on, off = stock.onramp_quote(bench), stock.offramp_quote(bench)
    wrong_on = {**stock.onramp_details(), "wallet_address": stock.ADDRESSES["stellar"]}
    wrong_off = {**stock.offramp_details(bench), "refund_address": stock.ADDRESSES["celo"]}
    for quote, body in ((on, wrong_on), (off, wrong_off)):
        refused = bench.call(CONFIRM, body, id=quote.text("id"))
        bench.refused(refused, 422, "invalid_wallet_address", after=(quote,))
        bench.equal(bench.done("GET /quotes/{id}", id=quote.text("id")), "status", "active", after=(quote, refused))


@promise("errors.beneficiary_mismatch", "Confirm errors", "writes")
def beneficiary(bench: Bench) -> None:
    """A beneficiary of another currency or method is refused with 422 beneficiary_mismatch."""
    payee = stock.beneficiary(bench, stock.BANK_BENEFICIARY).text("id")
    quote = stock.offramp_quote(bench)
    body = {**stock.offramp_details(bench), "beneficiary_id": payee}
    bench.refused(bench.call(CONFIRM, body, id=quote.text("id")), 422, "beneficiary_mismatch", after=(quote,))


@promise("confirm.missing", "Onramp confirm body, Offramp confirm body", "writes")
def required(bench: Bench) -> None:
    """A field that confirming needs is named by missing_parameter when it is absent."""
    for quote, body, names in (
        (stock.onramp_quote(bench), stock.onramp_details(), ("wallet_address", "payer")),
        (stock.offramp_quote(bench), stock.offramp_details(bench), ("beneficiary_id", "refund_address")),
    ):
        for name in names:
            left = {member: value for member, value in body.items() if member != name}
            answer = bench.call(CONFIRM, left, id=quote.text("id"))
            bench.refused(answer, 400, "missing_parameter", param=name, after=(quote,))


def _shows(bench: Bench, name: str, status: str) -> Answer:
    answer = bench.done(TRANSACTION, id=name)
    bench.equal(answer, "status", status)
    return answer


@promise("ramp.expires", "States: Ramp transaction", "writes", "control")
def ramp_expires(bench: Bench) -> None:
    """A ramp that got no funds in its window is expired."""
    for make in (stock.onramp, stock.offramp):
        made = make(bench)
        name = made.text("id")
        bench.world.advance("29m50s")
        _shows(bench, name, made.text("status"))
        bench.world.advance("11s")
        _shows(bench, name, "expired")


@promise("onramp.way", "States: Ramp transaction", "writes", "control")
def onramp_way(bench: Bench) -> None:
    """A paid onramp is processing, then completed with its tx_hash."""
    name = stock.onramp(bench).text("id")
    bench.world.act("payment_arrives", name)
    _shows(bench, name, "processing")
    bench.world.act("complete", name)
    done = _shows(bench, name, "completed")
    bench.holds(bool(done.body.get("tx_hash")), done, "a completed onramp has no tx_hash", "tx_hash")


@promise("offramp.way", "States: Ramp transaction", "writes", "control")
def offramp_way(bench: Bench) -> None:
    """An offramp whose deposit arrived is processing, then completed."""
    for network in ("stellar", "celo"):
        name = stock.offramp(bench, network).text("id")
        bench.world.act("deposit_arrives", name)
        _shows(bench, name, "processing")
        bench.world.act("complete", name)
        _shows(bench, name, "completed")


@promise("ramp.refund", "States: Ramp transaction", "writes", "control")
def refund(bench: Bench) -> None:
    """A payout that cannot finish makes a ramp failed, a refund makes it refunded."""
    name = stock.offramp(bench).text("id")
    bench.world.act("deposit_arrives", name)
    bench.world.act("fail", name, failure_code="payout_failed")
    _shows(bench, name, "failed")
    bench.world.act("refund", name)
    _shows(bench, name, "refunded")


@promise("ramp.forward", "Statuses only move forward", "writes", "control")
def forward(bench: Bench) -> None:
    """What is completed stays so when its window lapses, and what is under way does not expire."""
    done, under_way = stock.onramp(bench).text("id"), stock.onramp(bench).text("id")
    for name in (done, under_way):
        bench.world.act("payment_arrives", name)
    bench.world.act("complete", done)
    bench.world.advance("3h")
    _shows(bench, done, "completed")
    _shows(bench, under_way, "processing")


LAWS = (
    first_state, what_only_one_has, copies_the_quote, copies_the_request, deposit, uses_the_quote, once, expired,
    last_second, unknown, address, beneficiary, required, ramp_expires, onramp_way, offramp_way, refund, forward,
)  # fmt: skip
