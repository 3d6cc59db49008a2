"""The account's profile, KYC and limits."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

from simulator.conformance.bench import Bench
from simulator.conformance.laws import Refusal, guess, promise, refusals
from simulator.providers.ramp.laws import stock
from simulator.providers.ramp.laws.money.quotes import instant

PROFILE, CHANGE, LIMITS = "GET /profile", "PATCH /profile", "GET /profile/limits"


@promise("profile.sent_only", "PATCH /profile: only sent fields change", "writes")
def sent_only(bench: Bench) -> None:
    """PATCH /profile changes only the fields in the request."""
    before = bench.done(PROFILE)
    try:
        changed = bench.done(CHANGE, {"first_name": "Amina"})
        for answer in (changed, bench.done(PROFILE)):
            bench.equal(answer, "first_name", "Amina", after=(before,))
            bench.same(answer, before, *(name for name in before.body if name not in ("first_name", "updated_at")))
    finally:
        bench.call(CHANGE, {"first_name": before.text("first_name")})


@promise("profile.currency", "PATCH /profile: default_currency", "writes")
def currency(bench: Bench) -> None:
    """default_currency can be any of the five fiat currencies. Other values are refused with 400 invalid_parameter."""
    before = bench.done(PROFILE).text("default_currency")
    try:
        for code in ("ZAR", "NGN"):
            bench.done(CHANGE, {"default_currency": code})
            bench.equal(bench.done(PROFILE), "default_currency", code)
        bench.refused(bench.call(CHANGE, {"default_currency": "EUR"}), 400, "invalid_parameter")
    finally:
        bench.call(CHANGE, {"default_currency": before})


FIXED = {"email": "other@example.test", "country": "NG", "account_type": "business"}


@promise("profile.fixed", "PATCH /profile: Email, country, account type and business details", "writes")
def fixed(bench: Bench) -> None:
    """Email, country, account type and business details cannot be changed."""
    before = bench.done(PROFILE)
    for name, value in {**FIXED, "business_name": "Other"}.items():
        sent = bench.call(CHANGE, {name: value})
        later = bench.done(PROFILE)
        held = later.body.get(name) == before.body.get(name)
        bench.holds(held, later, f"{name} was changed", name, after=(sent,))


@promise("profile.phone", "PATCH /profile: phone_number", "writes")
def phone(bench: Bench) -> None:
    """A new phone number takes effect after it is verified. An invalid number is refused with 422
    invalid_phone_number.
    """
    before = bench.done(PROFILE)
    bench.refused(bench.call(CHANGE, {"phone_number": "12"}), 422, "invalid_phone_number")
    sent = bench.done(CHANGE, {"phone_number": "+254722000222"})
    bench.equal(bench.done(PROFILE), "phone_number", before.text("phone_number"), after=(sent,))
    if bench.controlled:
        bench.world.act("verify_phone")
        bench.equal(bench.done(PROFILE), "phone_number", "+254722000222", after=(sent,))
        bench.done(CHANGE, {"phone_number": before.text("phone_number")})
        bench.world.act("verify_phone")


@promise("kyc.same", "KYC detail; Profile: kyc_status")
def kyc_same(bench: Bench) -> None:
    """The KYC details and the profile contain the same status and account type."""
    bench.same(bench.done("GET /profile/kyc"), bench.done(PROFILE), "kyc_status", "account_type")


@promise("limits.remaining", "Limits")
def remaining(bench: Bench) -> None:
    """The remaining part of a limit is the limit's maximum minus the used part."""
    if bench.writes:
        stock.withdrawal(bench)
    answer = bench.done(LIMITS)
    for span in ("daily", "monthly"):
        left = answer.number(f"limits.{span}.max") - answer.number(f"limits.{span}.used")
        bench.amounts(answer, {f"limits.{span}.remaining": max(left, Decimal(0))})


@guess("limits.used", "M14", "writes")
def used(bench: Bench) -> None:
    """A withdrawal counts towards the limits with the amount that it pays out. A failed withdrawal does not count."""
    before = bench.done(LIMITS)
    made = stock.withdrawal(bench)
    after = bench.done(LIMITS)
    for span in ("daily", "monthly"):
        due = before.number(f"limits.{span}.used") + made.number("destination_amount")
        bench.amounts(after, {f"limits.{span}.used": due}, after=(made,))
    if bench.controlled:
        bench.world.act("fail", made.text("id"))
        bench.world.act("refund", made.text("id"))
        bench.same(bench.done(LIMITS), before, "limits.daily.used", "limits.monthly.used")


@promise("limits.enforced", "Fiat withdrawals are subject to the limits", "writes", "control")
def enforced(bench: Bench) -> None:
    """An amount above one of the account's limits is refused with 422 amount_too_high."""
    place = "limits.per_transaction.max"
    before, body = bench.done(LIMITS).text(place), stock.withdraw_quote_body(bench)
    with stock.meanwhile(bench.world, "set_limits", {"per_transaction": "1000"}, {"per_transaction": before}):
        bench.amounts(bench.done(LIMITS), {place: 1000})
        bench.refused(bench.call("POST /wallet/withdraw/quote", body), 422, "amount_too_high")
        bench.refused(bench.call("POST /quotes", stock.ONRAMP), 422, "amount_too_high")
    bench.accepted(bench.call("POST /wallet/withdraw/quote", body))


@promise("limits.resets", "Limits: resets_at", "writes", "control")
def resets(bench: Bench) -> None:
    """The used part of the daily limit becomes available again at resets_at.daily."""
    stock.withdrawal(bench)
    at = bench.done(LIMITS).text("resets_at.daily")
    bench.world.advance_to(at)
    answer = bench.done(LIMITS)
    bench.amounts(answer, {"limits.daily.used": 0})
    bench.holds(answer.text("resets_at.daily") > at, answer, "resets_at did not move on", "resets_at.daily")


@guess("limits.utc_days", "M14", "writes", "control")
def utc_days(bench: Bench) -> None:
    """For the limits, days and months start at midnight UTC."""
    midnight = bench.world.next_midnight()
    bench.world.advance_to(midnight + timedelta(hours=22, minutes=30))
    stock.withdrawal(bench)
    answer = bench.done(LIMITS)
    bench.holds(answer.number("limits.daily.used") > 0, answer, "nothing of the limit is used", "limits.daily.used")
    tomorrow = midnight + timedelta(days=1)
    # The first day of the next month. A month has at most 31 days.
    month = (midnight.replace(day=1) + timedelta(days=31)).replace(day=1)
    for place, due in (("resets_at.daily", tomorrow), ("resets_at.monthly", month)):
        got = instant(answer.text(place))
        bench.holds(got == due, answer, f"{place} is {got}, not {due}", place)
    bench.world.advance_to(tomorrow + timedelta(hours=1, minutes=30))
    bench.amounts(bench.done(LIMITS), {"limits.daily.used": 0})


fixed_refused = refusals(
    "profile.fixed_refused", "H6",
    "A field that cannot be changed is refused with 400 invalid_parameter and named in param.",
    *(Refusal("400 invalid_parameter", CHANGE, {name: value}, param=name) for name, value in FIXED.items()),
    promise=False,
)  # fmt: skip
