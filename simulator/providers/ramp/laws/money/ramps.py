"""Ramps: what confirming a quote makes, what it refuses, and the way to completion, expiry and refund."""

from __future__ import annotations

from simulator.conformance.bench import Bench
from simulator.conformance.laws import Law
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


def first_state(bench: Bench) -> None:
    for quote, made in _confirmed(bench):
        onramp = quote.text("type") == "onramp"
        bench.equal(made, "status", "awaiting_payment" if onramp else "awaiting_deposit", after=(quote,))


def what_only_one_has(bench: Bench) -> None:
    for quote, made in _confirmed(bench):
        mine, others = ["payment_instructions", "wallet_address"], ["deposit", "beneficiary_id"]
        if quote.text("type") == "offramp":
            mine, others = others, mine
        for name in mine:
            bench.holds(bool(made.body.get(name)), made, f"{name} is not given", name, after=(quote,))
        for name in others:
            bench.holds(name not in made.body, made, f"{name} belongs to the other type", name, after=(quote,))


def copies_the_quote(bench: Bench) -> None:
    for quote, made in _confirmed(bench):
        bench.equal(made, "quote_id", quote.text("id"), after=(quote,))
        bench.same(
            made, quote, "type", "network", "asset", "fiat_currency", "rate", "source_amount", "destination_amount",
            "fee",
        )  # fmt: skip


def copies_the_request(bench: Bench) -> None:
    for quote, body in (
        (stock.onramp_quote(bench), stock.onramp_details()),
        (stock.offramp_quote(bench), stock.offramp_details(bench)),
    ):
        made = bench.done(CONFIRM, body, id=quote.text("id"))
        for name in ("reference", "wallet_address", "beneficiary_id"):
            if name in body:
                bench.equal(made, name, body[name], after=(quote,))


def deposit(bench: Bench) -> None:
    for quote, made in _confirmed(bench)[1:]:
        bench.equal(made, "deposit.deposit_by", quote.text("expires_at"), after=(quote,))
        bench.equal(made, "deposit.asset", quote.text("asset"), after=(quote,))
        bench.equal(made, "deposit.network", quote.text("network"), after=(quote,))
        bench.equal(made, "deposit.amount", quote.text("source_amount"), after=(quote,))
        stellar = quote.text("network") == "stellar"
        there = bool(made.part("deposit").get("memo"))
        bench.holds(there is stellar, made, "memo is for stellar, and only there", "deposit.memo", after=(quote,))


def uses_the_quote(bench: Bench) -> None:
    for quote, made in _confirmed(bench):
        answer = bench.call("GET /quotes/{id}", id=quote.text("id"))
        bench.equal(answer, "status", "confirmed", after=(quote, made))


def once(bench: Bench) -> None:
    for quote, made in _confirmed(bench):
        before = bench.total("GET /transactions")
        body = stock.onramp_details() if quote.text("type") == "onramp" else stock.offramp_details(bench)
        again = bench.call(CONFIRM, body, id=quote.text("id"))
        bench.refused(again, 409, "quote_already_used", after=(quote, made))
        bench.holds(bench.total("GET /transactions") == before, again, "a second transaction was made", "data")


def expired(bench: Bench) -> None:
    quotes = [(stock.onramp_quote(bench), stock.onramp_details()),
              (stock.offramp_quote(bench), stock.offramp_details(bench))]  # fmt: skip
    bench.world.advance("31m")
    before = bench.total("GET /transactions")
    for quote, body in quotes:
        refused = bench.call(CONFIRM, body, id=quote.text("id"))
        bench.refused(refused, 422, "quote_expired", after=(quote,))
        bench.equal(bench.done("GET /quotes/{id}", id=quote.text("id")), "status", "expired", after=(quote, refused))
        bench.holds(bench.total("GET /transactions") == before, refused, "a transaction was made", "data")


def last_second(bench: Bench) -> None:
    quote = stock.onramp_quote(bench)
    bench.world.advance("29m59s")
    made = bench.call(CONFIRM, stock.onramp_details(), id=quote.text("id"))
    if bench.accepted(made, after=(quote,)):
        bench.equal(made, "rate", quote.text("rate"), after=(quote,))


def unknown(bench: Bench) -> None:
    answer = bench.call(CONFIRM, stock.onramp_details(), id="qt_0000000000000000")
    bench.refused(answer, 404, "quote_not_found")


def address(bench: Bench) -> None:
    on, off = stock.onramp_quote(bench), stock.offramp_quote(bench)
    wrong_on = {**stock.onramp_details(), "wallet_address": stock.ADDRESSES["stellar"]}
    wrong_off = {**stock.offramp_details(bench), "refund_address": stock.ADDRESSES["celo"]}
    for quote, body in ((on, wrong_on), (off, wrong_off)):
        refused = bench.call(CONFIRM, body, id=quote.text("id"))
        bench.refused(refused, 422, "invalid_wallet_address", after=(quote,))
        bench.equal(bench.done("GET /quotes/{id}", id=quote.text("id")), "status", "active", after=(quote, refused))


def beneficiary(bench: Bench) -> None:
    payee = stock.beneficiary(bench, stock.BANK_BENEFICIARY).text("id")
    quote = stock.offramp_quote(bench)
    body = {**stock.offramp_details(bench), "beneficiary_id": payee}
    bench.refused(bench.call(CONFIRM, body, id=quote.text("id")), 422, "beneficiary_mismatch", after=(quote,))


def required(bench: Bench) -> None:
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


def ramp_expires(bench: Bench) -> None:
    for make in (stock.onramp, stock.offramp):
        made = make(bench)
        name = made.text("id")
        bench.world.advance("29m50s")
        _shows(bench, name, made.text("status"))
        bench.world.advance("11s")
        _shows(bench, name, "expired")


def onramp_way(bench: Bench) -> None:
    name = stock.onramp(bench).text("id")
    bench.world.act("payment_arrives", name)
    _shows(bench, name, "processing")
    bench.world.act("complete", name)
    done = _shows(bench, name, "completed")
    bench.holds(bool(done.body.get("tx_hash")), done, "a completed onramp has no tx_hash", "tx_hash")


def offramp_way(bench: Bench) -> None:
    for network in ("stellar", "celo"):
        name = stock.offramp(bench, network).text("id")
        bench.world.act("deposit_arrives", name)
        _shows(bench, name, "processing")
        bench.world.act("complete", name)
        _shows(bench, name, "completed")


def refund(bench: Bench) -> None:
    name = stock.offramp(bench).text("id")
    bench.world.act("deposit_arrives", name)
    bench.world.act("fail", name, failure_code="payout_failed")
    _shows(bench, name, "failed")
    bench.world.act("refund", name)
    _shows(bench, name, "refunded")


def forward(bench: Bench) -> None:
    done, under_way = stock.onramp(bench).text("id"), stock.onramp(bench).text("id")
    for name in (done, under_way):
        bench.world.act("payment_arrives", name)
    bench.world.act("complete", done)
    bench.world.advance("3h")
    _shows(bench, done, "completed")
    _shows(bench, under_way, "processing")


LAWS: tuple[Law, ...] = (
    Law(
        "ramp.created", "A confirmed onramp awaits its payment, a confirmed offramp its deposit.",
        first_state, clause="States: Ramp transaction", needs=("writes",),
    ),
    Law(
        "ramp.variant",
        "payment_instructions and wallet_address are an onramp's, deposit and beneficiary_id an offramp's.",
        what_only_one_has, clause="Ramp transaction: Onramp only, Offramp only", needs=("writes",),
    ),
    Law(
        "quote.locked", "A transaction has the rate, the amounts and the fee of its quote.",
        copies_the_quote, clause="Ramp transaction: As on the quote", needs=("writes",),
    ),
    Law(
        "ramp.request_kept", "A transaction has the reference, the address and the beneficiary of the request.",
        copies_the_request, clause="Ramp transaction", needs=("writes",),
    ),
    Law(
        "offramp.deposit",
        "The deposit asked for is the quote's source amount by its expires_at, with a memo on stellar "
        "alone.",
        deposit, clause="Ramp transaction: deposit", needs=("writes",),
    ),
    Law(
        "quote.confirmed", "A confirmed quote shows that it is confirmed.",
        uses_the_quote, clause="States: Ramp quote", needs=("writes",),
    ),
    Law(
        "quote.used_refused", "Confirming a confirmed quote answers 409 quote_already_used and makes nothing.",
        once, clause="States: Ramp quote", needs=("writes",),
    ),
    Law(
        "quote.expired_refused", "Confirming an expired quote answers 422 quote_expired and makes nothing.",
        expired, clause="States: Ramp quote", needs=("writes", "control"),
    ),
    Law(
        "quote.usable", "A quote can be confirmed until its 30 minutes are over, at the rate it had.",
        last_second, clause="Quotes lock rate and fees for exactly 30 minutes", needs=("writes", "control"),
    ),
    Law(
        "confirm.not_found", "Confirming a quote that does not exist answers 404 quote_not_found.",
        unknown, clause="Confirm errors", needs=("writes",),
    ),
    Law(
        "errors.invalid_wallet_address",
        "An address that is none of the network is refused with 422 invalid_wallet_address and leaves the"
        " quote active.",
        address, clause="Confirm errors", needs=("writes",),
    ),
    Law(
        "errors.beneficiary_mismatch",
        "A beneficiary of another currency or method is refused with 422 beneficiary_mismatch.",
        beneficiary, clause="Confirm errors", needs=("writes",),
    ),
    Law(
        "confirm.missing", "A field that confirming needs is named by missing_parameter when it is absent.",
        required, clause="Onramp confirm body, Offramp confirm body", needs=("writes",),
    ),
    Law(
        "ramp.expires", "A ramp that got no funds in its window is expired.",
        ramp_expires, clause="States: Ramp transaction", needs=("writes", "control"),
    ),
    Law(
        "onramp.way", "A paid onramp is processing, then completed with its tx_hash.",
        onramp_way, clause="States: Ramp transaction", needs=("writes", "control"),
    ),
    Law(
        "offramp.way", "An offramp whose deposit arrived is processing, then completed.",
        offramp_way, clause="States: Ramp transaction", needs=("writes", "control"),
    ),
    Law(
        "ramp.refund", "A payout that cannot finish makes a ramp failed, a refund makes it refunded.",
        refund, clause="States: Ramp transaction", needs=("writes", "control"),
    ),
    Law(
        "ramp.forward", "What is completed stays so when its window lapses, and what is under way does not expire.",
        forward, clause="Statuses only move forward", needs=("writes", "control"),
    ),
)  # fmt: skip
