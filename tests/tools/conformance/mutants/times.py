"""Deadlines that are not met."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from tests.tools.conformance.mutants.service import Answer, Call, Service, answer, service

QUOTES = ("POST /quotes", "POST /wallet/swap/quote", "POST /wallet/buy/quote", "POST /wallet/withdraw/quote")


def later(moment: str, **span: float) -> str:
    """A timestamp that much later."""
    shifted = datetime.fromisoformat(moment) + timedelta(**span)
    return shifted.strftime("%Y-%m-%dT%H:%M:%S.") + f"{shifted.microsecond // 1000:03d}Z"


@answer("Quotes say that they are good for an hour more.", *QUOTES, "GET /quotes/{id}", found_by="quote.validity")
def quote_lives_longer(body: Any, call: Call) -> None:
    body["expires_at"] = later(body["expires_at"], hours=1)


@answer("A buy quote is good for one minute.", "POST /wallet/buy/quote", found_by="quote.validity")
def buy_quote_lives_shorter(body: Any, call: Call) -> None:
    body["expires_at"] = later(body["created_at"], minutes=1)


@answer("An offramp's deposit may come an hour after its quote expired.", "POST /quotes/{id}/confirm",
        "GET /transactions/{id}", found_by="offramp.deposit")  # fmt: skip
def deposit_deadline_later(body: Any, call: Call) -> None:
    if "deposit" in body:
        body["deposit"]["deposit_by"] = later(body["deposit"]["deposit_by"], hours=1)


@answer("Nobody is told that a quote has expired: it stays active.", "GET /quotes/{id}", found_by="quote.expires")
def quote_stays_active(body: Any, call: Call) -> None:
    if body["status"] == "expired":
        body["status"] = "active"


@service("An expired quote can be confirmed.", "POST /quotes", "POST /quotes/{id}/confirm",
         found_by="quote.expired_refused")  # fmt: skip
async def expired_quote_confirmed(call: Call, ask: Service) -> Answer:
    found = await ask(call)
    if call.operation == "POST /quotes":
        if found.status == 201:
            call.memory[found.body["id"]] = call.body
        return found
    if found.status == 422 and found.body["error"]["code"] == "quote_expired":
        fresh = await ask(call.to("POST", "/quotes", call.memory[call.id]))
        found = await ask(call.to("POST", f"/quotes/{fresh.body['id']}/confirm", call.body))
        found.body["quote_id"] = call.id
    return found


@service("An expired swap quote is carried out.", "POST /wallet/swap/quote", "POST /wallet/swap",
         found_by="wallet_quote.expired_refused")  # fmt: skip
async def expired_swap_executed(call: Call, ask: Service) -> Answer:
    found = await ask(call)
    if call.operation == "POST /wallet/swap/quote":
        if found.status == 201:
            call.memory[found.body["id"]] = call.body
        return found
    if found.status == 422 and found.body["error"]["code"] == "quote_expired":
        fresh = await ask(call.to("POST", "/wallet/swap/quote", call.memory[call.body["quote_id"]]))
        return await ask(call.to("POST", "/wallet/swap", {**call.body, "quote_id": fresh.body["id"]}))
    return found


@answer("An onramp that nobody pays waits for ever.", "GET /transactions/{id}", found_by="ramp.expires")
def unpaid_onramp_waits(body: Any, call: Call) -> None:
    if body["type"] == "onramp" and body["status"] == "expired":
        body["status"] = "awaiting_payment"


@answer("A Lightning invoice lives for a day.", "POST /wallets/{id}/lightning", found_by="invoice.lifetime")
def invoice_lives_longer(body: Any, call: Call) -> None:
    if body["type"] == "invoice":
        body["expires_at"] = later(body["created_at"], days=1)


@answer("An unpaid invoice stays pending.", "GET /wallets/{id}/lightning", "GET /wallets/{id}",
        found_by="invoice.expires")  # fmt: skip
def invoice_stays_pending(body: Any, call: Call) -> None:
    for entry in body.get("data", body.get("lightning_addresses", [])):
        if entry["status"] == "expired":
            entry["status"] = "pending"


@service("Tokens live for ever.", found_by="token.expires")
async def tokens_never_expire(call: Call, ask: Service) -> Answer:
    found = await ask(call)
    if call.operation == "POST /auth/token":
        if found.status == 200:
            call.memory[f"Bearer {found.body['access_token']}"] = call.body
        return found
    keys = call.memory.get(call.headers.get("authorization"))
    token = await ask(call.to("POST", "/auth/token", keys)) if found.status == 401 and keys else None
    if token is not None and token.status == 200:
        bearer = {"authorization": f"Bearer {token.body['access_token']}"}
        return await ask(call.but(headers={**call.headers, **bearer}))
    return found


@answer("The next run of a recurring payment is an hour off.", "POST /recurring-payments/{id}/activate",
        found_by="recurring.next_run")  # fmt: skip
def next_run_an_hour_off(body: Any, call: Call) -> None:
    body["next_run_at"] = later(body["next_run_at"], hours=1)


@answer("A token says that it is good for two hours.", "POST /auth/token", found_by="token.answer token.expires")
def token_says_two_hours(body: Any, call: Call) -> None:
    body["expires_in"] = 7200


@answer("The last change is older than the making.", "GET /transactions/{id}", found_by="time.order")
def updated_before_created(body: Any, call: Call) -> None:
    body["updated_at"] = later(body["created_at"], hours=-1)


@answer(
    "The day's limit is reset in the middle of the day.",
    "GET /profile/limits",
    found_by="limits.resets",
)
def limits_reset_at_noon(body: Any, call: Call) -> None:
    body["resets_at"]["daily"] = later(body["resets_at"]["daily"], hours=12)


@service("A month without the day of the schedule has no run.", "PUT /recurring-payments/{id}/schedule",
         "GET /recurring-payments/{id}/review", found_by="recurring.short_months")  # fmt: skip
async def short_months_skipped(call: Call, ask: Service) -> Answer:
    found = await ask(call)
    if call.method == "PUT":
        call.memory[call.id] = (call.body or {}).get("day_of_month")
    elif found.status == 200 and call.memory.get(call.id):
        wanted = call.memory[call.id]
        found.body["next_runs"] = [run for run in found.body["next_runs"] if int(run[8:10]) == wanted]
    return found


@service("A schedule that ends on a date has no run on that day.", "PUT /recurring-payments/{id}/schedule",
         found_by="recurring.on_date")  # fmt: skip
async def on_date_is_exclusive(call: Call, ask: Service) -> Answer:
    end = (call.body or {}).get("end")
    if not isinstance(end, dict) or end.get("type") != "on_date" or end.get("date") == call.body.get("start_date"):
        return await ask(call)
    before = later(f"{end['date']}T00:00:00+00:00", days=-1)[:10]
    found = await ask(call.but(body={**call.body, "end": {**end, "date": before}}))
    if found.status == 200:
        found.body["schedule"]["end"]["date"] = end["date"]
    return found


@answer("The day of the limits is that of Nairobi.", "GET /profile/limits", found_by="limits.utc_days")
def limits_of_nairobi(body: Any, call: Call) -> None:
    for span in ("daily", "monthly"):
        body["resets_at"][span] = later(body["resets_at"][span], hours=-3)
