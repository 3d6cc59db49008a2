"""Idempotency-Key: a retry creates no duplicate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import field
from threading import Barrier

from simulator.conformance.bench import Bench
from simulator.conformance.laws import guess, promise
from simulator.conformance.service import Answer, Service
from simulator.engine.text.json import JsonObject
from simulator.kernel.dataclass import dataclass
from simulator.providers.ramp.laws import stock

COMMON = "Endpoints: common rules"


@dataclass(frozen=True)
class Post:
    """A valid POST request with its own Idempotency-Key."""

    bench: Bench
    operation: str
    body: JsonObject
    rows: str = ""
    """The list to which the request adds an item, if any."""
    ids: Mapping[str, str] = field(default_factory=dict)
    key: str = ""

    def send(self, body: JsonObject | None = None, key: str | None = None) -> Answer:
        return self.bench.call(self.operation, body or self.body, key=key or self.key, path=self.ids)

    def first(self) -> Answer:
        """Send the request for the first time. Raise `SetupRefused` if it is refused."""
        return self.bench.done(self.operation, self.body, key=self.key, path=self.ids)

    def conflict(self, answer: Answer, first: Answer) -> None:
        self.bench.refused(answer, 409, "idempotency_conflict", after=(first,))

    def creates_another(self, second: Answer, first: Answer, message: str) -> None:
        """Check that the responses `second` and `first` contain different resources."""
        held = second.ok and second.text("id") != first.text("id")
        self.bench.holds(held, second, f"returns {second.short} {message}", "id", after=(first,))


def _post(bench: Bench, operation: str, body: JsonObject, rows: str = "", **ids: str) -> Post:
    return Post(bench, operation, body, rows, ids, bench.fresh("Key"))


def _quote(bench: Bench) -> Post:
    return _post(bench, "POST /quotes", stock.ONRAMP)


def _send(bench: Bench) -> Post:
    return _post(bench, "POST /wallet/send", {**stock.SEND, "reference": bench.fresh()}, "GET /transactions")


def _uses(bench: Bench) -> Iterator[Post]:
    """Yield requests that use a quote. Each quote is created when it is needed."""
    ramp = stock.onramp_quote(bench).text("id")
    yield _post(bench, "POST /quotes/{id}/confirm", stock.onramp_details(), "GET /transactions", id=ramp)
    for _, operation, body in stock.uses(bench):
        yield _post(bench, operation, body, "GET /transactions")


def _posts(bench: Bench) -> Iterator[Post]:
    yield from _uses(bench)
    home = stock.wallet(bench, "bitcoin").text("id")
    yield _post(bench, "POST /wallets/{id}/lightning", {"type": "invoice", "amount_sats": 1000}, id=home)
    yield _quote(bench)
    yield _post(bench, "POST /beneficiaries", stock.BENEFICIARY, "GET /beneficiaries")
    yield _post(bench, "POST /wallets", {"network": "celo", "reference": bench.fresh()}, "GET /wallets")
    yield _send(bench)
    yield _post(bench, "POST /wallet/swap/quote", stock.SWAP_QUOTE)
    yield _post(bench, "POST /wallet/buy/quote", stock.BUY_QUOTE)
    yield _post(bench, "POST /wallet/withdraw/quote", stock.withdraw_quote_body(bench))
    yield _post(bench, "POST /recurring-payments", stock.recurring_body(bench), "GET /recurring-payments")


@promise("idempotency.replay", COMMON, "writes")
def replay(bench: Bench) -> None:
    """A POST repeated with the same Idempotency-Key returns the resource that the first request created."""
    for post in _posts(bench):
        first, second = post.first(), post.send()
        # Do not compare the whole body. The resource may have changed since, and the replay may return the changed
        # resource.
        held = second.ok and second.text("id") == first.text("id")
        bench.holds(held, second, f"a repeated call returns {second.short} or another id", "id", after=(first,))


@promise("idempotency.nothing_new", COMMON, "writes")
def nothing_new(bench: Bench) -> None:
    """A POST repeated with the same Idempotency-Key creates no second resource, even with a different body."""
    for post in _posts(bench):
        if not post.rows:
            continue
        first, before = post.first(), bench.total(post.rows)
        second = post.send()
        post.send({**post.body, "reference": bench.fresh()})
        after = bench.total(post.rows)
        message = f"{post.rows} has {before} rows after the first call and {after} after retries"
        bench.holds(after == before, second, message, post.rows, after=(first,))


@promise("idempotency.conflict", COMMON, "writes")
def conflict(bench: Bench) -> None:
    """A request that reuses an Idempotency-Key with another body is refused with 409 idempotency_conflict."""
    for post in _posts(bench):
        first = post.first()
        change = {"amount": "21"} if "amount" in post.body else {"reference": bench.fresh()}
        post.conflict(post.send({**post.body, **change}), first)


@promise("idempotency.two_keys", COMMON, "writes")
def two_keys(bench: Bench) -> None:
    """Two requests with the same body but different idempotency keys create two resources."""
    for operation, body in (("POST /quotes", stock.ONRAMP), ("POST /wallet/swap/quote", stock.SWAP_QUOTE)):
        post = _post(bench, operation, body)
        first = post.first()
        post.creates_another(post.send(key=bench.fresh("key")), first, "or the same resource for another key")


@promise("idempotency.case", COMMON, "writes")
def case(bench: Bench) -> None:
    """Idempotency keys that differ only in case are different keys."""
    post = _quote(bench)
    first = post.first()
    for other in (post.key.lower(), post.key.upper()):
        post.creates_another(post.send(key=other), first, "or the same resource for a key in another case")


@promise("idempotency.at_once", COMMON, "writes")
def at_once(bench: Bench) -> None:
    """Concurrent calls with the same Idempotency-Key return the same response."""
    post, gate = _send(bench), Barrier(4)
    _send(bench).first()

    def ask(beside: Service) -> Answer:
        gate.wait(timeout=30)
        return beside.call(post.operation, post.body, key=post.key)

    with ThreadPoolExecutor(4) as pool, ExitStack() as stack:
        clients = [stack.enter_context(closing(bench.service.another())) for _ in range(4)]
        for one in clients:
            one.sign_in()
        answers = list(pool.map(ask, clients))
    shown = ", ".join(one.short for one in answers)
    for answer in answers:
        held = answer.body == answers[0].body and answer.ok
        bench.holds(held, answer, f"four concurrent calls with the same key return {shown}", "id")


@guess("idempotency.bytes", "H14", "writes")
def same_bytes(bench: Bench) -> None:
    """A replay returns the stored response byte for byte, with the header Idempotent-Replayed."""
    post = _quote(bench)
    first, second = post.first(), post.send()
    bench.holds(second.raw == first.raw, second, "the replay has other bytes", "", after=(first,))
    header = "Idempotent-Replayed"
    replayed = second.headers.get(header.lower())
    bench.holds(replayed == "true", second, f"{header} is {replayed}", header, after=(first,))


@guess("idempotency.refusal", "H14", "writes")
def refusal(bench: Bench) -> None:
    """A request that is refused for a business reason also consumes its idempotency key."""
    post = _quote(bench)
    low = {**post.body, "amount": "0.01"}
    first, second = post.send(low), post.send(low)
    bench.holds(second.raw == first.raw, second, "a repeated refusal differs from the first", "", after=(first,))
    post.conflict(post.send(), first)


@guess("idempotency.forgotten", "H14", "writes", "control")
def forgotten(bench: Bench) -> None:
    """An Idempotency-Key is stored for 24 hours. After that, it can be used for another request."""
    post = _quote(bench)
    first = post.first()
    bench.world.advance("23h59m")
    bench.equal(post.send(), "id", first.text("id"), after=(first,))
    bench.world.advance("2m")
    post.creates_another(post.send(), first, "or the same resource after 24 hours")


@guess("idempotency.quote_expired", "H14", "writes", "control")
def quote_expired(bench: Bench) -> None:
    """A request that used a quote can be repeated with its idempotency key after the quote has expired, and returns the
    same response.
    """
    firsts = [(post, post.first()) for post in [*_uses(bench)]]
    bench.world.advance("31m")
    for post, first in firsts:
        again = post.send()
        if bench.accepted(again, first.status, after=(first,)):
            bench.same(again, first)


@guess("idempotency.other_operation", "H14", "writes")
def other_operation(bench: Bench) -> None:
    """A request that reuses an Idempotency-Key of another operation is refused with 409 idempotency_conflict."""
    post = _quote(bench)
    first = post.first()
    post.conflict(bench.call("POST /wallets", {"network": "celo"}, key=post.key), first)
