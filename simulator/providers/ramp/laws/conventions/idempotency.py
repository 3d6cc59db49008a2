"""Idempotency-Key: a retry creates no duplicate."""

from __future__ import annotations

from collections.abc import Callable
from threading import Barrier, Thread

from simulator.conformance.bench import Bench
from simulator.conformance.laws import guess, promise
from simulator.conformance.service import Answer
from simulator.engine.text.json import JsonObject
from simulator.providers.ramp.laws import stock

COMMON = "Endpoints: common rules"

Making = tuple[str, dict[str, str], JsonObject, str]
"""An operation that makes something, the ids in its path, a body it accepts, and the list that grows by it."""


def _quoted(bench: Bench) -> list[Callable[[], Making]]:
    """What uses a quote."""

    def confirm() -> Making:
        quote = stock.onramp_quote(bench)
        return "POST /quotes/{id}/confirm", {"id": quote.text("id")}, stock.onramp_details(), "GET /transactions"

    def swap() -> Making:
        body = {"quote_id": stock.swap_quote(bench).text("id"), "reference": bench.fresh()}
        return "POST /wallet/swap", {}, body, "GET /transactions"

    def buy() -> Making:
        return "POST /wallet/buy", {}, stock.buy_details(stock.buy_quote(bench)), "GET /transactions"

    def withdraw() -> Making:
        body = {"quote_id": stock.withdraw_quote(bench).text("id"), "reference": bench.fresh()}
        return "POST /wallet/withdraw", {}, body, "GET /transactions"

    return [confirm, swap, buy, withdraw]


def _makings(bench: Bench) -> list[Callable[[], Making]]:
    def lightning() -> Making:
        home = stock.wallet(bench, "bitcoin").text("id")
        return "POST /wallets/{id}/lightning", {"id": home}, {"type": "invoice", "amount_sats": 1000}, ""

    return [
        *_quoted(bench),
        lightning,
        lambda: ("POST /quotes", {}, dict(stock.ONRAMP), ""),
        lambda: ("POST /beneficiaries", {}, dict(stock.BENEFICIARY), "GET /beneficiaries"),
        lambda: ("POST /wallets", {}, {"network": "celo", "reference": bench.fresh()}, "GET /wallets"),
        lambda: ("POST /wallet/send", {}, {**stock.SEND, "reference": bench.fresh()}, "GET /transactions"),
        lambda: ("POST /wallet/swap/quote", {}, dict(stock.SWAP_QUOTE), ""),
        lambda: ("POST /wallet/buy/quote", {}, dict(stock.BUY_QUOTE), ""),
        lambda: ("POST /wallet/withdraw/quote", {}, stock.withdraw_quote_body(bench), ""),
        lambda: ("POST /recurring-payments", {}, stock.recurring_body(bench), "GET /recurring-payments"),
    ]


@promise("idempotency.replay", COMMON, "writes")
def replay(bench: Bench) -> None:
    """A POST sent again under its Idempotency-Key gives what the first made."""
    for making in _makings(bench):
        operation, ids, body, _ = making()
        key = bench.fresh("key")
        first = bench.done(operation, body, key=key, path=ids)
        second = bench.call(operation, body, key=key, path=ids)
        # Not the whole body: what was made may have moved on, and the replay may show that.
        held = second.ok and second.text("id") == first.text("id")
        message = f"a second call under one key answers {second.short}, or with another id"
        bench.holds(held, second, message, "id", after=(first,))


@promise("idempotency.nothing_new", COMMON, "writes")
def nothing_new(bench: Bench) -> None:
    """A POST sent again under its Idempotency-Key, or with another body under it, makes nothing new."""
    for making in _makings(bench):
        operation, ids, body, rows = making()
        if not rows:
            continue
        key = bench.fresh("key")
        first = bench.done(operation, body, key=key, path=ids)
        before = bench.total(rows)
        second = bench.call(operation, body, key=key, path=ids)
        bench.call(operation, {**body, "reference": bench.fresh()}, key=key, path=ids)
        after = bench.total(rows)
        message = f"{rows} counted {before} after the first call and {after} after retries"
        bench.holds(after == before, second, message, rows, after=(first,))


@promise("idempotency.conflict", COMMON, "writes")
def conflict(bench: Bench) -> None:
    """A key used before with another body answers 409 idempotency_conflict."""
    for making in _makings(bench):
        operation, ids, body, _ = making()
        key = bench.fresh("key")
        first = bench.done(operation, body, key=key, path=ids)
        other = {**body, _changed(body): bench.fresh() if _changed(body) == "reference" else "21"}
        bench.refused(bench.call(operation, other, key=key, path=ids), 409, "idempotency_conflict", after=(first,))


def _changed(body: JsonObject) -> str:
    return "amount" if "amount" in body else "reference"


@promise("idempotency.two_keys", COMMON, "writes")
def two_keys(bench: Bench) -> None:
    """The same body under two keys makes two."""
    for operation, body in (("POST /quotes", stock.ONRAMP), ("POST /wallet/swap/quote", stock.SWAP_QUOTE)):
        first = bench.done(operation, body, key=bench.fresh("key"))
        second = bench.done(operation, body, key=bench.fresh("key"))
        held = first.text("id") != second.text("id")
        bench.holds(held, second, "another key gives the resource that an earlier one made", "id", after=(first,))


@promise("idempotency.case", COMMON, "writes")
def case(bench: Bench) -> None:
    """Two keys that differ in case alone are two keys."""
    key = bench.fresh("Key")
    first = bench.done("POST /quotes", stock.ONRAMP, key=key)
    for other in (key.lower(), key.upper()):
        second = bench.call("POST /quotes", stock.ONRAMP, key=other)
        held = second.ok and second.text("id") != first.text("id")
        words = f"under a key in another case it answers {second.short}, or what the first key made"
        bench.holds(held, second, words, "id", after=(first,))


@promise("idempotency.at_once", COMMON, "writes")
def at_once(bench: Bench) -> None:
    """A retry while the original is still being processed gives the same answer."""
    key, body, gate = bench.fresh("key"), {**stock.SEND, "reference": bench.fresh()}, Barrier(4)
    bench.done("POST /wallet/send", {**stock.SEND, "reference": bench.fresh()})
    answers: list[Answer] = []

    def ask() -> None:
        beside = bench.service.another()
        beside.sign_in()
        gate.wait(timeout=30)
        answers.append(beside.call("POST /wallet/send", body, key=key))
        beside.close()

    threads = [Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for answer in answers:
        bench.holds(
            answer.body == answers[0].body and answer.ok, answer,
            f"four calls at once under one key answer {', '.join(one.short for one in answers)}", "id",
        )  # fmt: skip


@guess("idempotency.bytes", "H14", "writes")
def same_bytes(bench: Bench) -> None:
    """A replay is the stored answer byte for byte, with the header Idempotent-Replayed."""
    key = bench.fresh("key")
    first = bench.done("POST /quotes", stock.ONRAMP, key=key)
    second = bench.call("POST /quotes", stock.ONRAMP, key=key)
    bench.holds(second.raw == first.raw, second, "the bytes of the replay are others", "", after=(first,))
    replayed = second.headers.get("idempotent-replayed")
    bench.holds(
        replayed == "true", second, f"Idempotent-Replayed is {replayed}", "Idempotent-Replayed", after=(first,)
    )  # fmt: skip


@guess("idempotency.refusal", "H14", "writes")
def refusal(bench: Bench) -> None:
    """A refusal for a business reason binds the key as well."""
    key, body = bench.fresh("key"), {**stock.ONRAMP, "amount": "0.01"}
    first = bench.call("POST /quotes", body, key=key)
    second = bench.call("POST /quotes", body, key=key)
    bench.holds(second.raw == first.raw, second, "a refused call sent again answers otherwise", "", after=(first,))
    third = bench.call("POST /quotes", stock.ONRAMP, key=key)
    bench.refused(third, 409, "idempotency_conflict", after=(first,))


@guess("idempotency.forgotten", "H14", "writes", "control")
def forgotten(bench: Bench) -> None:
    """A key is remembered for 24 hours and free again afterwards."""
    key = bench.fresh("key")
    first = bench.done("POST /quotes", stock.ONRAMP, key=key)
    bench.world.advance("23h59m")
    still = bench.call("POST /quotes", stock.ONRAMP, key=key)
    bench.equal(still, "id", first.text("id"), after=(first,))
    bench.world.advance("2m")
    anew = bench.call("POST /quotes", stock.ONRAMP, key=key)
    bench.holds(anew.ok and anew.text("id") != first.text("id"), anew, f"after 24 hours answers {anew.short}", "id")


@guess("idempotency.quote_expired", "H14", "writes", "control")
def quote_expired(bench: Bench) -> None:
    """The use of a quote is replayed under its key when the quote's time is over, too."""
    used = [(making(), bench.fresh("key")) for making in _quoted(bench)]
    firsts = [bench.done(operation, body, key=key, path=ids) for (operation, ids, body, _), key in used]
    bench.world.advance("31m")
    for ((operation, ids, body, _), key), first in zip(used, firsts, strict=True):
        again = bench.call(operation, body, key=key, path=ids)
        if bench.accepted(again, first.status, after=(first,)):
            bench.same(again, first)


@guess("idempotency.other_operation", "H14", "writes")
def other_operation(bench: Bench) -> None:
    """A key that was used in one operation answers 409 idempotency_conflict in another."""
    key = bench.fresh("key")
    first = bench.done("POST /quotes", stock.ONRAMP, key=key)
    bench.refused(
        bench.call("POST /wallets", {"network": "celo"}, key=key), 409, "idempotency_conflict", after=(first,)
    )


LAWS = (
    replay, nothing_new, conflict, two_keys, case, at_once, same_bytes, refusal, forgotten, quote_expired,
    other_operation,
)  # fmt: skip
