"""Detectors for advice on an integrator's requests, which read journalled requests and yield signals."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import pairwise

from simulator.engine.insight.traffic import INFO, JournaledCall, Signal, Traffic
from simulator.engine.records.advice import Severity
from simulator.engine.records.listing import Listing
from simulator.engine.records.records import find
from simulator.engine.vocabulary.vocabulary import vocabulary_of
from simulator.kernel.clock import MINUTE_MS, SECOND_MS, format_duration
from simulator.kernel.world import World

RETRY_WINDOW_MS = MINUTE_MS
"""The time limit for retries. A repeated request after a longer wait is not a retry."""
SHORTEST_WAIT_MS = 250
"""The minimum wait before a retry. A shorter wait is not backoff, even with jitter."""
WAIT_TOLERANCE_MS = 50
GROWTH_OF_WAITS = 1.1
POLLS_IN_A_ROW = 5
TOKENS_IN_A_ROW = 5
LATE_MS = 15 * SECOND_MS
_RETRIABLE = frozenset({429, 500, 502, 503, 504})


def _signal(
    kind: str, subject: str, calls: Iterable[JournaledCall], detail: str = "", severity: Severity | None = None
) -> Signal:
    calls = tuple(calls)
    return Signal(kind, subject, calls[-1].row.at_ms, tuple(call.row.id for call in calls), (), detail, severity)


def _name(call: JournaledCall) -> str:
    return f"{call.operation.method} {call.operation.path}"


def _other_key(call: JournaledCall, earlier: JournaledCall) -> bool:
    """Return True if both requests have an idempotency key and the keys differ, so that the requests are separate."""
    first, second = earlier.header("idempotency-key"), call.header("idempotency-key")
    return first is not None and second is not None and first != second


# --- single calls -------------------------------------------------------------------------------------------------


def unknown_fields(_: World, call: JournaledCall) -> Iterator[Signal]:
    for name in call.row.unknown_fields:
        yield _signal("unknown_field", f"{_name(call)} {name}", [call], name)


def posts_without_key(_: World, call: JournaledCall) -> Iterator[Signal]:
    row, operation = call.row, call.operation
    creates = operation.takes_key and (operation.status == 201 or operation.money)
    reached = call.succeeded or row.status in (0, 409, 422) or row.status >= 500
    if creates and reached and call.header("idempotency-key") is None:
        yield _signal("post_without_key", _name(call), [call], severity=None if operation.money else INFO)


def amounts_as_numbers(_: World, call: JournaledCall) -> Iterator[Signal]:
    error = call.answer.get("error") if call.row.status == 400 else None
    param = error.get("param") if isinstance(error, dict) else None
    if isinstance(param, str) and param.endswith("amount"):
        value = call.body.get(param)
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield _signal("amount_as_number", _name(call), [call], param)


def limit_aliases(_: World, call: JournaledCall) -> Iterator[Signal]:
    if isinstance(call.operation.query, Listing) and "limit" in call.query:
        yield _signal("limit_alias", _name(call), [call])


def late_confirmations(world: World, call: JournaledCall) -> Iterator[Signal]:
    if call.row.status != 201 or call.is_replay or call.row.method != "POST" or call.operation.claim is None:
        return
    named = (find(world, one) for one in (*call.bare_path.split("/"), *call.body.values()) if isinstance(one, str))
    expires_at_ms = next((at for one in named if (at := getattr(one, "expires_at_ms", None)) is not None), None)
    if expires_at_ms is not None and expires_at_ms - call.row.at_ms <= LATE_MS:
        left = format_duration(max(expires_at_ms - call.row.at_ms, 0))
        yield _signal("late_confirmation", _name(call), [call], left)


# --- retries ------------------------------------------------------------------------------------------------------


def unchanged_retries(world: World, traffic: Traffic) -> Iterator[Signal]:
    lasting = {row.code for row in vocabulary_of(world).errors.values() if row.lasting}
    for group in traffic.repetitions():
        for earlier, call in pairwise(group):
            if earlier.row.status not in (400, 403, 404, 422) or _other_key(call, earlier):
                continue
            answered = f"{earlier.row.status} {earlier.code}"
            if earlier.code in lasting and call.wait_ms(earlier) < RETRY_WINDOW_MS:
                yield _signal("unchanged_retry", _name(call), [earlier, call], answered)
        yield from _hammering(group, lasting)


def _hammering(group: list[JournaledCall], lasting: Collection[str]) -> Iterator[Signal]:
    """Yield signals for three identical requests in a row, without a wait, that get the same error not in `lasting`."""
    for first, second, third in zip(group, group[1:], group[2:], strict=False):
        trio = (first, second, third)
        if (
            all(call.row.status in (403, 422) and call.code == first.code for call in trio)
            and first.code not in lasting
            and third.place == first.place + 2
            and not _other_key(second, first)
            and not _other_key(third, second)
            and second.wait_ms(first) < SECOND_MS
            and third.wait_ms(second) < SECOND_MS
        ):
            yield _signal("unchanged_retry", _name(first), trio, f"{first.row.status} {first.code}")


def hasty_retries(_: World, traffic: Traffic) -> Iterator[Signal]:
    for group in traffic.repetitions():
        waits: list[float] = []
        for earlier, call in pairwise(group):
            if earlier.row.status not in _RETRIABLE or call.wait_ms(earlier) > RETRY_WINDOW_MS:
                waits = []
                continue
            answered, wait_ms = f"{earlier.row.status} {earlier.code}".strip(), call.wait_ms(earlier)
            if earlier.retry_after_ms is not None:
                if wait_ms < earlier.retry_after_ms - WAIT_TOLERANCE_MS:
                    yield _signal("retry_before_retry_after", _name(call), [earlier, call], answered)
                waits = []
                continue
            waits.append(wait_ms)
            constant = len(waits) >= 3 and waits[-1] < waits[0] * GROWTH_OF_WAITS
            if wait_ms < SHORTEST_WAIT_MS or constant:
                yield _signal("retry_without_backoff", _name(call), [earlier, call], answered)


def failures_not_retried(_: World, traffic: Traffic) -> Iterator[Signal]:
    """Yield signals for server failures that the caller did not retry, even once, before it sent other requests. Ignore
    the error `network_unavailable`, because a network may stay unavailable for a long time.
    """
    failures: dict[tuple[object, ...], int] = {}
    last_of_path: dict[tuple[object, ...], int] = {}
    last_of_caller: dict[str | None, int] = {}
    for call in traffic.calls:
        last_of_path[call.row.environment, call.row.method, call.bare_path] = call.place
        last_of_caller[call.row.public_key] = call.place
    for call in traffic.calls:
        row = call.row
        failed = row.status in _RETRIABLE or row.status == 0
        tries = failures[call.identity] = failures.get(call.identity, 0) + 1 if failed else 0
        if (
            row.status in _RETRIABLE
            and tries == 1
            and call.code != "network_unavailable"
            and last_of_path[row.environment, row.method, call.bare_path] == call.place
            and last_of_caller[row.public_key] > call.place
        ):
            yield _signal("not_retried", _name(call), [call], f"{row.status} {call.code}".strip())


# --- idempotency keys ---------------------------------------------------------------------------------------------


def retries_under_new_keys(_: World, traffic: Traffic) -> Iterator[Signal]:
    """Yield signals for retries with another idempotency key after a lost response or a server failure."""
    for group in traffic.repetitions():
        if not (group[0].operation.takes_key and group[0].operation.money):
            continue
        for earlier, call in pairwise(group):
            failed = earlier.row.status == 0 or earlier.row.status >= 500
            if failed and _other_key(call, earlier) and call.wait_ms(earlier) < RETRY_WINDOW_MS:
                answered = f"{earlier.row.status} {earlier.code}".strip() if earlier.row.status else "cut"
                yield _signal("retried_with_new_key", _name(call), [earlier, call], answered)


def reused_keys(_: World, traffic: Traffic) -> Iterator[Signal]:
    first: dict[tuple[str, str], JournaledCall] = {}
    for call in traffic.calls:
        key = call.header("idempotency-key")
        if key is None or not call.operation.takes_key:
            continue
        earlier = first.setdefault((call.row.environment, key), call)
        if call.code == "idempotency_conflict" and earlier.identity != call.identity:
            yield _signal("key_reused", _name(call), [earlier, call], f"{_name(earlier)} came first")


_CAME_TO_NOTHING = frozenset({"failed", "expired", "refunded"})


def references_paid_twice(world: World, traffic: Traffic) -> Iterator[Signal]:
    """Yield signals for two payments of one kind with the same reference, neither of which failed."""
    paid: dict[tuple[object, ...], JournaledCall] = {}
    orders = vocabulary_of(world).provider.money.orders
    for call in traffic.calls:
        if not (call.operation.money and call.row.method == "POST" and call.row.status == 201) or call.is_replay:
            continue
        reference = call.body.get("reference")
        if not isinstance(reference, str) or not reference or reference.startswith("simulator:"):
            continue
        made = find(world, str(call.answer.get("id")))
        if made is None or made.status in _CAME_TO_NOTHING or made.kind not in orders:
            continue
        place = (call.row.environment, call.operation.name, call.row.public_key, reference, call.answer.get("type"))
        earlier = paid.setdefault(place, call)
        if earlier is not call:
            yield _signal("reference_paid_twice", _name(call), [earlier, call], reference)


# --- tokens -------------------------------------------------------------------------------------------------------


def dead_tokens(_: World, traffic: Traffic) -> Iterator[Signal]:
    renewed: dict[str, int] = {}
    last = traffic.calls[-1].place if traffic.calls else 0
    for call in traffic.calls:
        if call.operation.name == "create_token" and call.succeeded:
            renewed[call.row.environment] = call.place
    for call in traffic.calls:
        refused = call.code == "unauthorized" and call.header("authorization") is not None
        if refused and renewed.get(call.row.environment, -1) < call.place < last:
            yield _signal("not_reauthenticated", call.row.environment, [call])


def tokens_per_request(_: World, traffic: Traffic) -> Iterator[Signal]:
    """Yield a signal for each series of tokens of one key pair of which each was used for at most one request."""
    held: dict[tuple[str, str], list[JournaledCall]] = {}
    used: dict[tuple[str, str], int] = {}
    for call in traffic.calls:
        row = call.row
        if call.code == "unauthorized":
            held.clear()
        elif call.operation.name != "create_token":
            if row.public_key is not None:
                used[row.environment, row.public_key] = used.get((row.environment, row.public_key), 0) + 1
        elif call.succeeded:
            place = (row.environment, str(call.body.get("public_key")))
            wasted = held.setdefault(place, [])
            if wasted:
                lifetime = wasted[-1].answer.get("expires_in")
                lifetime_ms = lifetime * SECOND_MS if isinstance(lifetime, int) else 0
                if row.at_ms - wasted[-1].row.at_ms >= lifetime_ms or used.get(place, 0) > 1:
                    wasted.clear()
            wasted.append(call)
            used[place] = 0
            if len(wasted) == TOKENS_IN_A_ROW:
                yield _signal("token_per_request", place[1], wasted)
            elif len(wasted) > TOKENS_IN_A_ROW:
                yield _signal("token_per_request", place[1], [call])


# --- polling ------------------------------------------------------------------------------------------------------


def fast_polls(_: World, traffic: Traffic) -> Iterator[Signal]:
    """Yield a signal for each series of equal GET requests with equal responses, each within a second of the last."""
    found: list[tuple[int, Signal]] = []
    for group in traffic.repetitions():
        if group[0].row.method != "GET" or len(group) < POLLS_IN_A_ROW:
            continue
        run: list[JournaledCall] = []
        for call in group:
            if not call.succeeded:
                continue
            if run and (run[-1].row.response != call.row.response or call.wait_ms(run[-1]) >= SECOND_MS):
                run.clear()
            run.append(call)
            if len(run) == POLLS_IN_A_ROW:
                found.append((call.place, _signal("fast_polling", call.bare_path, run)))
            elif len(run) > POLLS_IN_A_ROW:
                found.append((call.place, _signal("fast_polling", call.bare_path, [call])))
    yield from (signal for _, signal in sorted(found, key=lambda item: item[0]))


MANY_READS = 30
"""The minimum number of reads of one order that leads to a finding."""


def polls_without_webhooks(world: World, traffic: Traffic) -> Iterator[Signal]:
    """Yield signals for repeated reads of one order by an integrator without a webhook endpoint."""
    if any(call.operation.name == "create_webhook" and call.succeeded for call in traffic.calls):
        return
    reading = vocabulary_of(world).provider.money.reading
    reads: dict[tuple[str, str], list[JournaledCall]] = {}
    for call in traffic.calls:
        if call.operation.name == reading and call.succeeded:
            reads.setdefault((call.row.environment, call.bare_path), []).append(call)
    for (_, path), group in reads.items():
        if len(group) >= MANY_READS:
            yield _signal("polling_without_webhooks", path, group, str(len(group)))


SINGLE_CALLS = (unknown_fields, posts_without_key, amounts_as_numbers, limit_aliases, late_confirmations)
"""Detectors that judge each request by itself, so that they can read the requests in chunks."""

DETECTORS: tuple[Callable[[World, Traffic], Iterator[Signal]], ...] = (
    unchanged_retries,
    hasty_retries,
    failures_not_retried,
    dead_tokens,
    tokens_per_request,
    fast_polls,
    retries_under_new_keys,
    reused_keys,
    references_paid_twice,
    polls_without_webhooks,
)
"""Detectors that compare requests."""
