"""Errors: the envelope, which status a code has, and the refusals that any client can bring about."""

from __future__ import annotations

from collections.abc import Iterator

from simulator.conformance.bench import Answer, Bench, always, law
from simulator.engine.rows.error import CATALOGUE
from simulator.engine.text.json import JsonObject
from simulator.providers.ramp.laws import stock

CHAPTER = "Errors"


@always("errors.envelope", clause="Error envelope")
def envelope(answer: Answer) -> Iterator[tuple[str, str | None]]:
    """Every failure has the error envelope with a code and a message."""
    if answer.status >= 400:
        error = answer.body.get("error")
        held = isinstance(error, dict) and all(isinstance(error.get(name), str) for name in ("code", "message"))
        yield "error", None if held else f"{answer.status} without error.code and error.message"


@always("errors.status", clause="Errors: the status of each code")
def status_of_code(answer: Answer) -> Iterator[tuple[str, str | None]]:
    """A code of the catalogue comes with its own status."""
    row = CATALOGUE.get(answer.code or "")
    # 405 has no code of its own in the catalogue.
    if row is not None and row.basis == "specified" and answer.status != 405:
        fault = f"{row.code} comes with {answer.status}, not {row.status}"
        yield "status", None if answer.status == row.status else fault


CODES_NOT_SHOWN = ("POST /wallet/send", "POST /wallet/send/estimate", "POST /wallet/withdraw")


@always("errors.known_code", clause="Errors")
def known_code(answer: Answer) -> Iterator[tuple[str, str | None]]:
    """The code of a failure is one of the catalogue."""
    # The specification does not show the codes for another method, for another status, and of a send or withdrawal.
    if answer.code is not None and answer.status not in (405, 409) and answer.operation not in CODES_NOT_SHOWN:
        yield "error.code", None if answer.code in CATALOGUE else f"{answer.code} is no code of the catalogue"


@always("request_id.same", guess="H11")
def request_id_same(answer: Answer) -> Iterator[tuple[str, str | None]]:
    """The request_id of an error is that of its header."""
    if answer.code is not None and answer.headers.get("x-request-id"):
        told = answer.part("error").get("request_id")
        same = told == answer.headers["x-request-id"]
        yield "error.request_id", None if same else f"request_id is {told}, the header says another"


@always("answer.internal_error", clause="Errors: internal_error")
def internal_error(answer: Answer) -> Iterator[tuple[str, str | None]]:
    """No call of this run makes the service fail."""
    yield "status", f"answers {answer.short}" if answer.status == 500 else None


UNKNOWN = (
    ("GET /quotes/{id}", "quote_not_found"), ("GET /transactions/{id}", "not_found"),
    ("GET /orders/{order_id}", "order_not_found"), ("GET /beneficiaries/{id}", "not_found"),
    ("GET /wallets/{id}", "not_found"), ("GET /wallets/{id}/deposits", "not_found"),
    ("GET /wallets/{id}/lightning", "not_found"), ("GET /fees/{id}", "not_found"),
    ("GET /recurring-payments/{id}/review", "not_found"), ("GET /recurring-payments/{id}/transactions", "not_found"),
    ("GET /webhooks/{id}", "not_found"), ("GET /webhooks/{id}/deliveries", "not_found"),
)  # fmt: skip


@law("errors.not_found", clause="Errors: not_found, order_not_found, quote_not_found")
def not_found(bench: Bench) -> None:
    """An id that does not exist answers 404 with the code of its kind."""
    for operation, code in UNKNOWN:
        answer = bench.call(operation, path={"id": "none_00000000", "order_id": "none_00000000"})
        bench.refused(answer, 404, code)


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


@law("errors.missing", "writes", clause="Errors: missing_parameter")
def missing(bench: Bench) -> None:
    """A body without a required field is refused with 400 missing_parameter."""
    for operation, body, names in _bodies(bench):
        for name in names:
            left = {member: value for member, value in body.items() if member != name}
            bench.refused(bench.call(operation, left), 400, "missing_parameter")


@law("errors.param", "writes", clause="Errors: param names it")
def param(bench: Bench) -> None:
    """param names the field that is missing or wrong."""
    for operation, body, names in _bodies(bench):
        for name in names:
            answer = bench.call(operation, {member: value for member, value in body.items() if member != name})
            bench.holds(answer.param == name, answer, f"param is {answer.param}, {name} is missing", "error.param")
        if "amount" in body:
            answer = bench.call(operation, {**body, "amount": "ten"})
            bench.holds(answer.param == "amount", answer, f"param is {answer.param}, amount is wrong", "error.param")


@law("errors.malformed", "writes", clause="Errors: invalid_parameter")
def malformed(bench: Bench) -> None:
    """An amount that is no decimal string is refused with 400 invalid_parameter."""
    for operation, body, _ in _bodies(bench):
        if "amount" in body:
            for amount in ("ten", "", "-5"):
                bench.refused(bench.call(operation, {**body, "amount": amount}), 400, "invalid_parameter")


@law("errors.amount_type", "writes", guess="H7")
def amount_type(bench: Bench) -> None:
    """An amount that is a JSON number, has an exponent or too many decimals is refused with 400 invalid_parameter."""
    for amount in (5000, "5e3", "5000.001"):
        bench.refused(bench.call("POST /quotes", {**stock.ONRAMP, "amount": amount}), 400, "invalid_parameter")


@law("errors.body", "writes", clause="Errors: invalid_request")
def body(bench: Bench) -> None:
    """A body that is no JSON object is refused with 400 invalid_request."""
    for raw in (b"{", b"[]", b'"text"'):
        for operation in ("POST /quotes", "POST /wallet/send", "POST /beneficiaries"):
            bench.refused(bench.service.call(operation, raw=raw), 400, "invalid_request")


@law("errors.rates_query", clause="GET /rates: 400 invalid_request")
def rates_query(bench: Bench) -> None:
    """GET /rates without one of its parameters is refused with 400 invalid_request."""
    asked = {"type": "onramp", "network": "celo", "asset": "USDC", "fiat_currency": "KES"}
    for name in asked:
        left = {member: value for member, value in asked.items() if member != name}
        bench.refused(bench.call("GET /rates", query=left), 400, "invalid_request")
    wrong = bench.call("GET /rates", query={**asked, "network": "stellar", "asset": "CUSD"})
    bench.refused(wrong, 422, "unsupported_pair")


@law("errors.rate_limited", "writes", "control", clause="Errors: rate_limited")
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


@law("errors.route", guess="H3")
def route(bench: Bench) -> None:
    """An unknown path answers 404 not_found, a method that a path has not 405 with Allow."""
    bench.refused(bench.call("GET /nothing/here"), 404, "not_found")
    if bench.writes:
        wrong = bench.call("PUT /quotes", {})
        bench.refused(wrong, 405)
        allow = wrong.headers.get("allow", "")
        bench.holds("POST" in allow, wrong, f"Allow is {allow!r}", "Allow")


@law("errors.network_unavailable", "writes", "control", clause="Errors: network_unavailable")
def network_unavailable(bench: Bench) -> None:
    """What needs a network that is down is refused with 503 network_unavailable, and works when it is up again."""
    with bench.world.network("celo", "down"):
        for operation, asked in (
            ("POST /quotes", stock.ONRAMP), ("POST /wallet/send", stock.SEND),
            ("POST /wallet/swap/quote", stock.SWAP_QUOTE), ("POST /wallet/buy/quote", stock.BUY_QUOTE),
        ):  # fmt: skip
            bench.refused(bench.call(operation, asked), 503, "network_unavailable")
        stats = bench.done("GET /network/stats", query={"network": "celo"})
        bench.equal(stats, "networks", [{**stats.body["networks"][0], "network": "celo", "status": "down"}])
    bench.accepted(bench.call("POST /quotes", stock.ONRAMP))
