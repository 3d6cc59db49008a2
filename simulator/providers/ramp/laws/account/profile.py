"""The profile, KYC and the limits of the account."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

from simulator.conformance.bench import Bench
from simulator.conformance.laws import guess, promise
from simulator.conformance.service import Answer
from simulator.providers.ramp.laws import stock
from simulator.providers.ramp.laws.money.quotes import instant

PROFILE, CHANGE, LIMITS = "GET /profile", "PATCH /profile", "GET /profile/limits"


@promise("profile.sent_only", "PATCH /profile: only sent fields change", "writes")
def sent_only(bench: Bench) -> None:
    """PATCH changes the fields that are sent, and no others."""
    before = bench.done(PROFILE)
    try:
        changed = bench.done(CHANGE, {"first_name": "Amina"})
        later = bench.done(PROFILE)
        for answer in (changed, later):
            bench.equal(answer, "first_name", "Amina", after=(before,))
            others = [name for name in before.body if name not in ("first_name", "updated_at")]
            bench.same(answer, before, *others)
    finally:
        bench.call(CHANGE, {"first_name": before.text("first_name")})


@promise("profile.currency", "PATCH /profile: default_currency", "writes")
def currency(bench: Bench) -> None:
    """default_currency can be any of the five, and no other: 400 invalid_parameter."""
    before = bench.done(PROFILE).text("default_currency")
    try:
        for code in ("ZAR", "NGN"):
            bench.done(CHANGE, {"default_currency": code})
            bench.equal(bench.done(PROFILE), "default_currency", code)
        bench.refused(bench.call(CHANGE, {"default_currency": "EUR"}), 400, "invalid_parameter")
    finally:
        bench.call(CHANGE, {"default_currency": before})


@promise("profile.fixed", "PATCH /profile: Email, country, account type and business details", "writes")
def fixed(bench: Bench) -> None:
    """Email, country, account type and business details cannot be changed."""
    before = bench.done(PROFILE)
    for name, value in (
        ("email", "other@example.test"), ("country", "NG"), ("account_type", "business"), ("business_name", "Other"),
    ):  # fmt: skip
        sent = bench.call(CHANGE, {name: value})
        later = bench.done(PROFILE)
        held = later.body.get(name) == before.body.get(name)
        bench.holds(held, later, f"{name} was changed", name, after=(sent,))


@guess("profile.fixed_refused", "H6", "writes")
def fixed_refused(bench: Bench) -> None:
    """A field that cannot be changed is refused with 400 invalid_parameter that names it."""
    for name, value in (("email", "other@example.test"), ("country", "NG"), ("account_type", "business")):
        bench.refuses(400, "invalid_parameter", CHANGE, {name: value}, param=name)


@promise("profile.phone", "PATCH /profile: phone_number", "writes")
def phone(bench: Bench) -> None:
    """A new phone number takes effect when it is verified; one that is none is 422 invalid_phone_number."""
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
    """KYC detail and profile tell the same status and account type."""
    bench.same(bench.done("GET /profile/kyc"), bench.done(PROFILE), "kyc_status", "account_type")


def _remains(bench: Bench, answer: Answer, span: str) -> None:
    most, used = answer.number(f"limits.{span}.max"), answer.number(f"limits.{span}.used")
    left = answer.number(f"limits.{span}.remaining")
    words = f"remaining is {left}, max {most} less used {used}"
    bench.holds(left == max(most - used, Decimal(0)), answer, words, f"limits.{span}.remaining")


@promise("limits.remaining", "Limits")
def remaining(bench: Bench) -> None:
    """What remains of a limit is its maximum less what was used."""
    if bench.writes:
        quote = stock.withdraw_quote(bench)
        bench.done("POST /wallet/withdraw", {"quote_id": quote.text("id")})
    answer = bench.done(LIMITS)
    for span in ("daily", "monthly"):
        _remains(bench, answer, span)


@guess("limits.used", "M14", "writes")
def used(bench: Bench) -> None:
    """A withdrawal counts with what it pays out, a failed one no more."""
    before = bench.done(LIMITS)
    quote = stock.withdraw_quote(bench)
    made = bench.done("POST /wallet/withdraw", {"quote_id": quote.text("id")})
    after = bench.done(LIMITS)
    for span in ("daily", "monthly"):
        got = after.number(f"limits.{span}.used") - before.number(f"limits.{span}.used")
        due = made.number("destination_amount")
        bench.holds(got == due, after, f"used rose by {got}, paid out are {due}", f"limits.{span}.used", after=(made,))
    if bench.controlled:
        bench.world.act("fail", made.text("id"))
        bench.world.act("refund", made.text("id"))
        bench.same(bench.done(LIMITS), before, "limits.daily.used", "limits.monthly.used")


@promise("limits.enforced", "Fiat withdrawals are subject to the limits", "writes", "control")
def enforced(bench: Bench) -> None:
    """What goes beyond a limit of the account is refused with 422 amount_too_high."""
    before = bench.done(LIMITS)
    body = stock.withdraw_quote_body(bench)
    bench.world.act("set_limits", per_transaction="1000")
    try:
        limits, place = bench.done(LIMITS), "limits.per_transaction.max"
        bench.holds(limits.number(place) == 1000, limits, f"{place} is {limits.at(place)}, not 1000", place)
        bench.refused(bench.call("POST /wallet/withdraw/quote", body), 422, "amount_too_high")
        bench.refused(bench.call("POST /quotes", stock.ONRAMP), 422, "amount_too_high")
    finally:
        bench.world.act("set_limits", per_transaction=before.text("limits.per_transaction.max"))
    bench.accepted(bench.call("POST /wallet/withdraw/quote", body))


@promise("limits.resets", "Limits: resets_at", "writes", "control")
def resets(bench: Bench) -> None:
    """What was used of the daily limit is free again from resets_at.daily on."""
    quote = stock.withdraw_quote(bench)
    bench.done("POST /wallet/withdraw", {"quote_id": quote.text("id")})
    told = bench.done(LIMITS).text("resets_at.daily")
    bench.world.control.post("/clock/advance", {"to": told})
    answer = bench.done(LIMITS)
    bench.holds(answer.number("limits.daily.used") == 0, answer, "used is not zero", "limits.daily.used")
    bench.holds(answer.text("resets_at.daily") > told, answer, "resets_at did not move on", "resets_at.daily")


@guess("limits.utc_days", "M14", "writes", "control")
def utc_days(bench: Bench) -> None:
    """The day and the month of the limits begin at midnight UTC: what is used late in the evening is free after it."""
    midnight = bench.world.next_midnight()
    bench.world.advance_to(midnight + timedelta(hours=22, minutes=30))
    bench.done("POST /wallet/withdraw", {"quote_id": stock.withdraw_quote(bench).text("id")})
    told = bench.done(LIMITS)
    bench.holds(told.number("limits.daily.used") > 0, told, "nothing of the limit is used", "limits.daily.used")
    tomorrow = midnight + timedelta(days=1)
    # The first day of the month after this one; a month has at most 31 days.
    month = (midnight.replace(day=1) + timedelta(days=31)).replace(day=1)
    for place, due in (("resets_at.daily", tomorrow), ("resets_at.monthly", month)):
        got = instant(told.text(place))
        bench.holds(got == due, told, f"{place} is {got}, {due} is due", place)
    bench.world.advance_to(tomorrow + timedelta(hours=1, minutes=30))
    answer = bench.done(LIMITS)
    bench.holds(answer.number("limits.daily.used") == 0, answer, "used is not zero", "limits.daily.used")


LAWS = (sent_only, currency, fixed, fixed_refused, phone, kyc_same, remaining, used, enforced, resets, utc_days)
