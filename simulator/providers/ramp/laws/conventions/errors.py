"""Errors: the envelope, the status for each code, and refusals that any client can cause."""

from __future__ import annotations

from simulator.conformance.bench import Bench
from simulator.conformance.laws import Checked, Refusal, always_guess, always_promise, changed, guess, promise, refusals
from simulator.conformance.service import Answer
from simulator.engine.text.json import JsonObject
from simulator.engine.vocabulary.vocabulary import collected
from simulator.providers.ramp.laws import stock
from simulator.providers.ramp.provider import PROVIDER

_CODES = collected(PROVIDER).errors


@always_promise("errors.envelope", "Error envelope")
def envelope(answer: Answer) -> Checked:
    """Every error response contains the error envelope with a code and a message."""
    if answer.status >= 400:
        error = answer.body.get("error")
        held = isinstance(error, dict) and all(isinstance(error.get(name), str) for name in ("code", "message"))
        yield "error", None if held else f"{answer.status} without error.code and error.message"


@always_promise("errors.status", "Errors: the status of each code")
def status_of_code(answer: Answer) -> Checked:
    """Each error code in the catalogue of errors is returned with its documented status."""
    row = _CODES.get(answer.code or "")
    # The catalogue has no separate code for 405.
    if row is not None and row.basis == "specified" and answer.status != 405:
        fault = f"{row.code} comes with {answer.status}, not {row.status}"
        yield "status", None if answer.status == row.status else fault


CODES_NOT_SHOWN = ("POST /wallet/send", "POST /wallet/send/estimate", "POST /wallet/withdraw")


@always_promise("errors.known_code", "Errors")
def known_code(answer: Answer) -> Checked:
    """The code of each error is in the catalogue of errors."""
    # The specification does not list error codes for unknown methods, for illegal transitions, or for sends and
    # withdrawals.
    if answer.code is not None and answer.status not in (405, 409) and answer.operation not in CODES_NOT_SHOWN:
        yield "error.code", None if answer.code in _CODES else f"{answer.code} is not in the catalogue"


@always_guess("request_id.same", "H11")
def request_id_same(answer: Answer) -> Checked:
    """An error's request_id equals the X-Request-Id header."""
    if answer.code is not None and answer.headers.get("x-request-id"):
        found = answer.part("error").get("request_id")
        same = found == answer.headers["x-request-id"]
        yield "error.request_id", None if same else f"request_id is {found}, the header has another"


@always_promise("answer.internal_error", "Errors: internal_error")
def internal_error(answer: Answer) -> Checked:
    """No call in this run causes an internal error."""
    yield "status", f"returns {answer.short}" if answer.status == 500 else None


def _bodies(bench: Bench) -> list[tuple[str, JsonObject, tuple[str, ...]]]:
    """Return operations, each with a valid body and the names of its required fields."""
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
            bench.refused(bench.call(operation, changed(body, name, None)), 400, "missing_parameter")


@promise("errors.param", "Errors: param names it", "writes")
def param(bench: Bench) -> None:
    """In the error, param is the name of the missing or wrong field."""
    for operation, body, names in _bodies(bench):
        for name in names:
            answer = bench.call(operation, changed(body, name, None))
            bench.holds(answer.param == name, answer, f"param is {answer.param}; {name} is missing", "error.param")
        if "amount" in body:
            answer = bench.call(operation, {**body, "amount": "ten"})
            bench.holds(answer.param == "amount", answer, f"param is {answer.param}; amount is wrong", "error.param")


@promise("errors.malformed", "Errors: invalid_parameter", "writes")
def malformed(bench: Bench) -> None:
    """An amount that is not a decimal string is refused with 400 invalid_parameter."""
    for operation, body, _ in _bodies(bench):
        if "amount" in body:
            for amount in ("ten", "", "-5"):
                bench.refused(bench.call(operation, {**body, "amount": amount}), 400, "invalid_parameter")


@promise("errors.body", "Errors: invalid_request", "writes")
def body(bench: Bench) -> None:
    """A body that is not a JSON object is refused with 400 invalid_request."""
    for raw in (b"{", b"[]", b'"text"'):
        for operation in ("POST /quotes", "POST /wallet/send", "POST /beneficiaries"):
            bench.refused(bench.service.call(operation, raw=raw), 400, "invalid_request")


@promise("errors.rate_limited", "Errors: rate_limited", "writes", "control")
def rate_limited(bench: Bench) -> None:
    """Requests above the rate limit return 429 rate_limited with the header Retry-After."""
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
    """An unknown path returns 404 not_found. An unknown method returns 405 with the header Allow."""
    bench.refused(bench.call("GET /nothing/here"), 404, "not_found")
    if bench.writes:
        wrong = bench.call("PUT /quotes", {})
        bench.refused(wrong, 405)
        allow = wrong.headers.get("allow", "")
        bench.holds("POST" in allow, wrong, f"Allow is {allow!r}", "Allow")


@promise("errors.network_unavailable", "Errors: network_unavailable", "writes", "control")
def network_unavailable(bench: Bench) -> None:
    """While a network is down, a request that needs the network is refused with 503 network_unavailable."""
    with stock.network_status(bench.world, "celo", "down"):
        for operation, asked in (
            ("POST /quotes", stock.ONRAMP), ("POST /wallet/send", stock.SEND),
            ("POST /wallet/swap/quote", stock.SWAP_QUOTE), ("POST /wallet/buy/quote", stock.BUY_QUOTE),
        ):  # fmt: skip
            bench.refused(bench.call(operation, asked), 503, "network_unavailable")
        stats = bench.done("GET /network/stats", query={"network": "celo"})
        bench.equal(stats, "networks", [{**stats.body["networks"][0], "network": "celo", "status": "down"}])
    bench.accepted(bench.call("POST /quotes", stock.ONRAMP))


RATES = {"type": "onramp", "network": "celo", "asset": "USDC", "fiat_currency": "KES"}
UNKNOWN = (
    ("quote_not_found", "quotes/{id}"), ("not_found", "transactions/{id}"), ("order_not_found", "orders/{order_id}"),
    ("not_found", "beneficiaries/{id}"), ("not_found", "wallets/{id}"), ("not_found", "wallets/{id}/deposits"),
    ("not_found", "wallets/{id}/lightning"), ("not_found", "fees/{id}"),
    ("not_found", "recurring-payments/{id}/review"), ("not_found", "recurring-payments/{id}/transactions"),
    ("not_found", "webhooks/{id}"), ("not_found", "webhooks/{id}/deliveries"),
)  # fmt: skip

not_found = refusals(
    "errors.not_found", "Errors: not_found, order_not_found, quote_not_found",
    "An unknown id returns 404 with the code of its kind.",
    *(Refusal(f"404 {code}", f"GET /{path}", path={"id": "none_00000000", "order_id": "none_00000000"})
      for code, path in UNKNOWN),
    needs=(),
)  # fmt: skip
amount_type = refusals(
    "errors.amount_type", "H7",
    "A JSON number, an exponent or too many decimals as amount is refused with 400 invalid_parameter.",
    *(Refusal("400 invalid_parameter", "POST /quotes", stock.ONRAMP, {"amount": amount})
      for amount in (5000, "5e3", "5000.001")),
    promise=False,
)  # fmt: skip
rates_query = refusals(
    "errors.rates_query", "GET /rates: 400 invalid_request",
    "GET /rates without one of its parameters is refused with 400 invalid_request.",
    *(Refusal("400 invalid_request", "GET /rates", query=changed(RATES, name, None)) for name in RATES),
    Refusal("422 unsupported_pair", "GET /rates", query={**RATES, "network": "stellar", "asset": "CUSD"}), needs=(),
)  # fmt: skip
