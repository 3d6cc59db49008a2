"""Hooks that adjust schemathesis requests to requirements that a schema cannot express.

- A webhook endpoint is called at its registration, so its URL must exist. The hooks use the inbox of the simulator
under test, or RAMPSIM_WEBHOOK_URL.
- POST /auth/token gets the real key pair. In some requests, it gets generated keys instead.
- The page size has two parameter names, and `size` takes precedence over `limit`. If `limit` is invalid, the hooks
remove `size`, so that the service refuses the request.
- A quote is used with its own beneficiary, payer and address, taken from earlier responses. Every second request keeps
the generated values, so that refusals are also covered.

Apart from webhook URLs and page sizes, the hooks change only requests that are meant to be accepted.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from simulator.conformance.settings import PUBLIC_KEY, SECRET_KEY, WEBHOOK_URL
from simulator.providers.ramp.laws import stock

INBOX = "/_simulator/inbox/conformance"

_USUAL_AMOUNTS = {
    "KES": "5000", "TZS": "100000", "NGN": "50000", "ZAR": "500", "ZMW": "500",
    "USDC": "20", "USDT": "20", "CUSD": "20", "XLM": "200", "CELO": "60", "BTC": "0.001",
}  # fmt: skip

Body = dict[str, Any]


_beneficiaries: dict[str, Body] = {}
_quotes: dict[str, Body] = {}
_entries: dict[str, Body] = {}
"""Resources found in earlier responses, by id, oldest first."""
_calls = Counter[str]()


def _every_second(operation: str) -> bool:
    _calls[operation] += 1
    return _calls[operation] % 2 == 1


def _payee(fiat: str, method: str | None = None) -> str | None:
    kinds = {"mobile_money": ("phone_number",), "bank_transfer": ("bank_account",)}
    wanted = kinds.get(method or "", ("phone_number", "bank_account"))
    rows = reversed(_beneficiaries.items())
    return next((name for name, row in rows if row["fiat_currency"] == fiat and row["type"] in wanted), None)


def _unused(prefix: str) -> str | None:
    return next((name for name in reversed(_quotes) if name.startswith(prefix)), None)


def before_call(case: Any) -> None:
    """Change a request before it is sent."""
    if isinstance(case.body, dict) and case.path.startswith("/webhooks"):
        url = case.body.get("url")
        if isinstance(url, str) and url.startswith("http"):
            origin = urlsplit(case.operation.base_url)
            inbox = os.environ.get(WEBHOOK_URL) or f"{origin.scheme}://{origin.netloc}{INBOX}"
            case.body = {**case.body, "url": inbox}
    _with_one_page_size(case)
    if case.meta is None or not case.meta.generation.mode.is_positive:
        return
    name = f"{case.method} {case.path}"
    with suppress(LookupError, TypeError, AttributeError):
        # A body in an unknown form is not changed.
        if isinstance(case.body, dict) and "amount" in case.body and _every_second(f"{name} amount"):
            _with_a_usual_amount(case)
        if name in _MATCHED and _every_second(name):
            _MATCHED[name](case)


def after_call(case: Any, response: Any) -> None:
    """Save a created resource for later requests, or remove a deleted resource."""
    name = f"{case.method} {case.path}"
    if response.status_code == 204:
        _beneficiaries.pop(str(case.path_parameters.get("id")), None)
        _entries.pop(str(case.path_parameters.get("lightning_id")), None)
    elif response.status_code == 201 and name in _REMEMBERED:
        with suppress(ValueError, KeyError, TypeError):  # the checks report a malformed response
            answer = json.loads(response.content)
            known, needed = _REMEMBERED[name]
            if answer[needed] is not None:
                known[answer["id"]] = answer


def _with_one_page_size(case: Any) -> None:
    """Remove `size` if `limit` is invalid, because `size` takes precedence and the request would be accepted."""
    limit, size = (str((case.query or {}).get(name) or "") for name in ("limit", "size"))
    if limit and size and not (limit.isdecimal() and 1 <= int(limit) <= 100):
        case.query = {name: value for name, value in case.query.items() if name != "size"}


def _with_real_keys(case: Any) -> None:
    keys = {"public_key": os.environ.get(PUBLIC_KEY, ""), "secret_key": os.environ.get(SECRET_KEY, "")}
    case.body = {**case.body, **keys}


def _with_a_usual_amount(case: Any) -> None:
    """Set an amount within the limits, because a schema does not contain the limits."""
    body = case.body
    recipient = body.get("recipient")
    target = recipient.get("destination") if isinstance(recipient, dict) else body.get("destination")
    if isinstance(target, dict) and "invoice" in target:
        # A Lightning invoice has its own amount.
        return
    named = [body.get(name) for name in ("amount_currency", "currency", "fiat_currency", "symbol")]
    if body.get("amount_currency") in ("crypto", "asset"):
        named = [body.get("symbol"), body.get("asset")]
    side = body.get(body.get("amount_side") or "from")
    if isinstance(side, dict):
        named = [side.get("symbol")]
    found = next((_USUAL_AMOUNTS[name] for name in named if name in _USUAL_AMOUNTS), None)
    if found is not None:
        case.body = {**body, "amount": found}


def _to_a_payee(case: Any) -> None:
    """Set the request's beneficiary to one in the withdrawal's fiat currency."""
    payee = _payee(case.body["fiat_currency"])
    if payee is not None:
        case.body = {**case.body, "beneficiary_id": payee}


def _recurring_to_a_payee(case: Any) -> None:
    recipient = case.body["recipient"]
    currency = case.body["amount_currency"]
    payee = _payee(currency if currency in stock.PHONES else "KES")
    if "beneficiary_id" in recipient and payee is not None:
        case.body = {**case.body, "recipient": {**recipient, "beneficiary_id": payee}}


def _with_an_unused_quote(prefix: str) -> Callable[[Any], None]:
    def use(case: Any) -> None:
        quote = _unused(prefix)
        if quote is not None:
            shown = _quotes.pop(quote)
            case.body = {**case.body, "quote_id": quote}
            if "method" in shown:
                case.body["payer"] = _payer(shown)

    return use


def _as_the_quote_says(case: Any) -> None:
    """Confirm a quote with the fields that the quote's type and method require."""
    quote_id = _unused("qt_")
    if quote_id is None:
        return
    quote = _quotes.pop(quote_id)
    if quote["type"] == "onramp":
        needed: Body = {"wallet_address": stock.ADDRESSES[quote["network"]], "payer": _payer(quote)}
    else:
        payee = _payee(quote["fiat_currency"], quote["method"])
        if payee is None:
            return
        needed = {"beneficiary_id": payee, "refund_address": stock.ADDRESSES[quote["network"]]}
    kept = {name: value for name, value in case.body.items() if name == "reference"}
    case.path_parameters = {**case.path_parameters, "id": quote_id}
    case.body = {**kept, **needed}


def _payer(quote: Body) -> Body:
    if quote["method"] == "mobile_money":
        return {"phone_number": stock.PHONES[quote["fiat_currency"]]}
    return {"account_name": "Amina Otieno"}


def _a_live_entry(case: Any) -> None:
    if _entries:
        name, entry = next(iter(_entries.items()))
        case.path_parameters = {"id": entry["wallet_id"], "lightning_id": name}


_QUOTING = ("POST /quotes", "POST /wallet/swap/quote", "POST /wallet/buy/quote", "POST /wallet/withdraw/quote")
_REMEMBERED = {
    "POST /beneficiaries": (_beneficiaries, "fiat_currency"),
    **dict.fromkeys(_QUOTING, (_quotes, "id")),
    "POST /wallets/{id}/lightning": (_entries, "id"),
}
"""Operations whose responses are saved: where, and a field that must not be null."""

_MATCHED: dict[str, Callable[[Any], None]] = {
    "POST /auth/token": _with_real_keys,
    "POST /wallet/withdraw/quote": _to_a_payee,
    "POST /recurring-payments": _recurring_to_a_payee,
    "POST /wallet/swap": _with_an_unused_quote("sq_"),
    "POST /wallet/buy": _with_an_unused_quote("bq_"),
    "POST /wallet/withdraw": _with_an_unused_quote("wq_"),
    "POST /quotes/{id}/confirm": _as_the_quote_says,
    "DELETE /wallets/{id}/lightning/{lightning_id}": _a_live_entry,
}
"""Operations whose requests refer to earlier responses."""
