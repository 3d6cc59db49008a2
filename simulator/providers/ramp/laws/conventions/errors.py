"""Errors: the envelope, which status a code has, and the refusals that any client can bring about."""

from __future__ import annotations

from collections.abc import Iterator

from simulator.conformance.bench import Bench
from simulator.conformance.laws import always_guess, always_promise, guess, promise
from simulator.conformance.service import Answer
from simulator.engine.rows.vocabulary import collected
from simulator.engine.text.json import JsonObject
from simulator.providers.ramp.laws import steering, stock
from simulator.providers.ramp.provider import PROVIDER

CHAPTER = "Errors"
_CODES = collected(PROVIDER).errors


@always_promise("errors.envelope", "Error envelope")
def envelope(answer: Answer) -> Iterator[tuple[str, str | None]]:
    """Every failure has the error envelope with a code and a message."""
    if answer.status >= 400:
        error = answer.body.get("error")
        held = isinstance(error, dict) and all(isinstance(error.get(name), str) for name in ("code", "message"))
        yield "error", None if held else f"{answer.status} without error.code and error.message"


@always_promise("errors.status", "Errors: the status of each code")
def status_of_code(answer: Answer) -> Iterator[tuple[str, str | None]]:
    """A code of the catalogue comes with its own status."""
    row = _CODES.get(answer.code or "")
    # 405 has no code of its own in the catalogue.
    if row is not None and row.basis == "specified" and answer.status != 405:
        fault = f"{row.code} comes with {answer.status}, not {row.status}"
        yield "status", None if answer.status == row.status else fault


CODES_NOT_SHOWN = ("POST /wallet/send", "POST /wallet/send/estimate", "POST /wallet/withdraw")


@always_promise("errors.known_code", "Errors")
def known_code(answer: Answer) -> Iterator[tuple[str, str | None]]:
    """The code of a failure is one of the catalogue."""
    # The specification does not show the codes for another method, for another status, and of a send or withdrawal.
    if answer.code is not None and answer.status not in (405, 409) and answer.operation not in CODES_NOT_SHOWN:
        yield "error.code", None if answer.code in _CODES else f"{answer.code} is no code of the catalogue"


@always_guess("request_id.same", "H11")
def request_id_same(answer: Answer) -> Iterator[tuple[str, str | None]]:
    """The request_id of an error is that of its header."""
    if answer.code is not None and answer.headers.get("x-request-id"):
        told = answer.part("error").get("request_id")
        same = told == answer.headers["x-request-id"]
        yield "error.request_id", None if same else f"request_id is {told}, the header says another"


@always_promise("answer.internal_error", "Errors: internal_error")
def internal_error(answer: Answer) -> Iterator[tuple[str, str | None]]:
    """No call of this run makes the service fail."""
    yield "status", f"answers {answer.short}" if answer.status == 500 else None


@promise("errors.not_found", "Errors: not_found, order_not_found, quote_not_found")
def unknown(bench: Bench) -> None:
    """An id that does not exist answers 404 with the code of its kind."""
    for operation, code in (
        ("GET /quotes/{id}", "quote_not_found"),
        ("GET /transactions/{id}", "not_found"),
        ("GET /orders/{order_id}", "order_not_found"),
        ("GET /beneficiaries/{id}", "not_found"),
        ("GET /wallets/{id}", "not_found"),
        ("GET /wallets/{id}/deposits", "not_found"),
        ("GET /wallets/{id}/lightning", "not_found"),
        ("GET /fees/{id}", "not_found"),
        ("GET /recurring-payments/{id}/review", "not_found"),
        ("GET /recurring-payments/{id}/transactions", "not_found"),
        ("GET /webhooks/{id}", "not_found"),
        ("GET /webhooks/{id}/deliveries", "not_found"),
    ):
        bench.refuses(404, code, operation, path={"id": "none_00000000", "order_id": "none_00000000"})


def _bodies(bench: Bench) -> list[tuple[str, JsonObject, tuple[str, ...]]]:
    """Operations with a body they accept and the fields of it that they cannot do without."""
    withdraw, payment = stock.withdraw_quote_body(bench), stock.recurring_body(bench)
    fee = {"product": "onramp", "amount": stock.FIAT, "currency": "KES", "network": "celo", "fiat_currency": "KES"}
    return [
        ("POST /quotes", stock.ONRAMP, tuple(stock.ONRAMP)),
        ("POST /beneficiaries", stock.BENEFICIARY, ("type", "name", "country", "fiat_currency", "phone_number")),
        ("POST /beneficiaries", stock.ADDRESS_BENEFICIARY, ("wallet_address",)),
        ("POST /wallets", {"network": "celo"}, ("network",)),
        ("POST /wallet/send/estimate", stock.SEND, tuple(stock.SEND)),
        ("POST /wallet/send", stock.SEND, tuple(stock.SEND)),
        ("POST /wallet/swap/quote", stock.SWAP_QUOTE, tuple(stock.SWAP_QUOTE)),
        ("POST /wallet/swap", {"quote_id": "sq_none"}, ("quote_id",)),
        ("POST /wallet/buy/quote", stock.BUY_QUOTE, tuple(stock.BUY_QUOTE)),
        ("POST /wallet/withdraw/quote", withdraw, tuple(withdraw)),
        ("POST /wallet/withdraw", {"quote_id": "wq_none"}, ("quote_id",)),
        ("POST /recurring-payments", payment, ("name", "type", "source", "amount", "amount_currency", "recipient")),
        ("POST /fees/calculate", fee, ("product", "amount", "currency", "fiat_currency")),
        ("POST /webhooks", {"url": "https://example.com/hook", "events": ["*"]}, ("url", "events")),
    ]


@promise("errors.missing", "Errors: missing_parameter", "writes")
def missing(bench: Bench) -> None:
    """A body without a required field is refused with 400 missing_parameter."""
    for operation, body, names in _bodies(bench):
        for name in names:
            left = {member: value for member, value in body.items() if member != name}
            bench.refused(bench.call(operation, left), 400, "missing_parameter")


@promise("errors.param", "Errors: param names it", "writes")
def param(bench: Bench) -> None:
    """param names the field that is missing or wrong."""
    for operation, body, names in _bodies(bench):
        for name in names:
            answer = bench.call(operation, {member: value for member, value in body.items() if member != name})
            bench.holds(answer.param == name, answer, f"param is {answer.param}, {name} is missing", "error.param")
        if "amount" in body:
            answer = bench.call(operation, {**body, "amount": "ten"})
            bench.holds(answer.param == "amount", answer, f"param is {answer.param}, amount is wrong", "error.param")


@promise("errors.malformed", "Errors: invalid_parameter", "writes")
def malformed(bench: Bench) -> None:
    """An amount that is no decimal string is refused with 400 invalid_parameter."""
    for operation, body, _ in _bodies(bench):
        if "amount" in body:
            for amount in ("ten", "", "-5"):
                bench.refused(bench.call(operation, {**body, "amount": amount}), 400, "invalid_parameter")


@guess("errors.amount_type", "H7", "writes")
def amount_types(bench: Bench) -> None:
    """An amount that is a JSON number, has an exponent or too many decimals is refused with 400 invalid_parameter."""
    for amount in (5000, "5e3", "5000.001"):
        bench.refuses(400, "invalid_parameter", "POST /quotes", {**stock.ONRAMP, "amount": amount})


@promise("errors.body", "Errors: invalid_request", "writes")
def body(bench: Bench) -> None:
    """A body that is no JSON object is refused with 400 invalid_request."""
    for raw in (b"{", b"[]", b'"text"'):
        for operation in ("POST /quotes", "POST /wallet/send", "POST /beneficiaries"):
            bench.refused(bench.service.call(operation, raw=raw), 400, "invalid_request")


RATES = {"type": "onramp", "network": "celo", "asset": "USDC", "fiat_currency": "KES"}


@promise("errors.rates_query", "GET /rates: 400 invalid_request")
def rates_queries(bench: Bench) -> None:
    """GET /rates without one of its parameters is refused with 400 invalid_request."""
    for name in RATES:
        bench.refuses(400, "invalid_request", "GET /rates", query={key: RATES[key] for key in RATES if key != name})
    bench.refuses(422, "unsupported_pair", "GET /rates", query={**RATES, "network": "stellar", "asset": "CUSD"})


@promise("errors.rate_limited", "Errors: rate_limited", "writes", "control")
def rate_limited(bench: Bench) -> None:
    """Too many requests are answered 429 rate_limited with Retry-After, and work again afterwards."""
    beside = bench.service.another()
    beside.patient = False
    token = beside.sign_in()
    with bench.world.settings(rate_limit="3/60"):
        answers = [beside.call("GET /profile", token=token) for _ in range(6)]
    bench.refused(answers[-1], 429, "rate_limited")
    wait = answers[-1].headers.get("retry-after", "")
    bench.holds(wait.isdecimal() and int(wait) > 0, answers[-1], f"Retry-After is {wait!r}", "Retry-After")
    beside.close()


@guess("errors.route", "H3")
def route(bench: Bench) -> None:
    """An unknown path answers 404 not_found, a method that a path has not 405 with Allow."""
    bench.refused(bench.call("GET /nothing/here"), 404, "not_found")
    if bench.writes:
        wrong = bench.call("PUT /quotes", {})
        bench.refused(wrong, 405)
        allow = wrong.headers.get("allow", "")
        bench.holds("POST" in allow, wrong, f"Allow is {allow!r}", "Allow")


@promise("errors.network_unavailable", "Errors: network_unavailable", "writes", "control")
def network_unavailable(bench: Bench) -> None:
    """What needs a network that is down is refused with 503 network_unavailable, and works when it is up again."""
    with steering.network_status(bench.world, "celo", "down"):
        for operation, asked in (
            ("POST /quotes", stock.ONRAMP), ("POST /wallet/send", stock.SEND),
            ("POST /wallet/swap/quote", stock.SWAP_QUOTE), ("POST /wallet/buy/quote", stock.BUY_QUOTE),
        ):  # fmt: skip
            bench.refused(bench.call(operation, asked), 503, "network_unavailable")
        stats = bench.done("GET /network/stats", query={"network": "celo"})
        bench.equal(stats, "networks", [{**stats.body["networks"][0], "network": "celo", "status": "down"}])
    bench.accepted(bench.call("POST /quotes", stock.ONRAMP))


LAWS = (unknown, missing, param, malformed, amount_types, body, rates_queries, rate_limited, route, network_unavailable)


ALWAYS = (envelope, status_of_code, known_code, request_id_same, internal_error)
