"""Selects the fault that affects an API call, and applies it."""

from __future__ import annotations

import asyncio
from fnmatch import fnmatchcase

from simulator.engine.faults import models as faults
from simulator.engine.faults import mutations
from simulator.engine.faults.in_force import FAULTS, UNDER_KEYS, first_hit, give_back
from simulator.engine.records.records import find
from simulator.engine.rows.operation import Operation
from simulator.engine.server.checks import idempotency
from simulator.engine.server.checks.ratelimit import retry_after
from simulator.engine.server.http.messages import WITHOUT_BODY, Outgoing
from simulator.engine.server.http.request import Request
from simulator.engine.text.json import dumps
from simulator.engine.vocabulary.vocabulary import identity_of, vocabulary_of
from simulator.kernel.clock import SECOND_MS, parse_duration
from simulator.kernel.world import World


def doubts(world: World, fault: faults.Fault) -> list[str]:
    """Return warnings about a fault that cannot match now: its endpoint or key pair is unknown or revoked."""
    if isinstance(fault, faults.WebhookFault):
        endpoint = fault.webhook.endpoint_id
        if endpoint is None or getattr(find(world, endpoint), "kind", "") == "webhook":
            return []
        return [f"webhook.endpoint_id: no endpoint of the world {world.id} has the id {endpoint!r}"]
    key = fault.match.public_key
    if key is None:
        return []
    pair = next((pair for pair in identity_of(world).keys(world) if pair.public_key == key), None)
    if pair is None:
        return [f"match.public_key: no key pair of the world {world.id} has the public key {key!r}"]
    return [f"match.public_key: the key pair {key!r} is revoked"] if pair.status == "revoked" else []


def places_of(world: World, operation: Operation) -> mutations.Places:
    """Return the paths of the fields in an operation's regular response."""
    return {} if operation.answer is None else mutations.places_of(vocabulary_of(world), operation.answer())


def _can_mutate(world: World, operation: Operation, fault: faults.InterfaceFault) -> bool:
    """Return True if a fault changes no fields of an operation's response body, or if it can change them."""
    mutation = mutations.Mutation.of(fault)
    return mutation is None or not any(mutations.impossible((places_of(world, operation),), mutation))


def _seconds(given: str | float | None) -> float:
    return min(parse_duration(given or 0), faults.LONGEST_DELAY_MS) / SECOND_MS


def _drawn_seconds(world: World, latency: faults.Latency | None) -> float:
    """Draw a random delay in seconds. Call this function inside a transaction."""
    if latency is None:
        return 0.0
    from statistics import NormalDist  # its import takes as long as ten calls, and few servers need it

    median, p99 = _seconds(latency.median), _seconds(latency.p99)
    drawn = (world.streams.below(1 << 52, "fault latency") + 0.5) / (1 << 52)  # The number is neither 0 nor 1.
    factor: float = (p99 / median) ** (NormalDist().inv_cdf(drawn) / NormalDist().inv_cdf(0.99))
    return min(median * factor, faults.LONGEST_DELAY_MS / SECOND_MS)


class Interference:
    """The effect of one fault on one API call."""

    def __init__(self, request: Request, fault_id: str, fault: faults.InterfaceFault, operation: Operation) -> None:
        self._id = fault_id
        self._request = request
        request.fault = fault_id
        self._fault = fault
        self._operation = operation
        self._mutation = mutations.Mutation.of(fault)
        self.delay_seconds = _seconds(fault.delay) + _drawn_seconds(request.world, fault.latency)
        self._answer_delay_seconds = _seconds(fault.answer_delay)
        self.replaces = fault.respond is not None or fault.drop
        self.works = fault.after_commit or not self.replaces
        """True if the call is carried out."""
        self.act = fault.act
        """A third-party action that is performed before the call is carried out."""

    def came_to_nothing(self, world: World) -> None:
        """Handle the refusal of the third-party action that this fault was to perform. A fault without other effects
        then does not count as applied. Call this inside a transaction.
        """
        if self._mutation is None and not self.replaces and not self._acts_otherwise:
            self._give_back(world)

    def _give_back(self, world: World) -> None:
        give_back(world, self._id)
        self._request.fault = ""

    async def hold_answer(self) -> None:
        """Delay the response of a call that has been carried out."""
        if self._answer_delay_seconds:
            await asyncio.sleep(self._answer_delay_seconds)

    def answer(self, world: World, request_id: str) -> Outgoing:
        """Return the response that the fault sends instead of the regular response."""
        respond = self._fault.respond
        if respond is None or self._fault.drop:
            return Outgoing(0, b"", cut=True, headers={"X-Request-Id": request_id})
        message = respond.message or "An injected fault."
        body = dumps({"error": {"code": respond.code, "message": message, "request_id": request_id}})
        headers = {"X-Request-Id": request_id}
        if respond.retry_after is not None:
            headers["Retry-After"] = retry_after(world, str(respond.retry_after), world.now_ms)
        return self.disturb(Outgoing(respond.status, body, headers))

    def in_place_of(self, world: World, true: Outgoing) -> Outgoing:
        """Apply the fault to the regular response `true` and return the result. Call this inside a transaction.

        If the fault's change to the body is impossible in this response, the fault does not count as applied.
        """
        mutated = None
        if self._mutation is not None and 200 <= true.status < 300:
            mutated = mutations.mutated(true.body, places_of(world, self._operation), self._mutation)
        if mutated is not None:
            true.body = mutated
        elif self._mutation is not None and not self._acts_otherwise:
            self._give_back(world)
        return self.disturb(true)

    @property
    def _acts_otherwise(self) -> bool:
        fault = self._fault
        delays = self.delay_seconds or self._answer_delay_seconds
        return bool(delays) or fault.malformed is not None or fault.key_forgotten

    def disturb(self, outgoing: Outgoing) -> Outgoing:
        """If the fault requires it, truncate the body of a response, or replace it with content that is not JSON."""
        if outgoing.status in WITHOUT_BODY:
            return outgoing
        if self._fault.malformed == "truncate":
            outgoing.body = outgoing.body[: len(outgoing.body) // 2]
        elif self._fault.malformed == "garbage":
            outgoing.body = b"<html><body>Bad gateway</body></html>"
        return outgoing


def choose(request: Request, operation: Operation) -> Interference | None:
    """Find the first fault that matches a call, count the match, and return the fault's effect, or None if no fault
    matches. Call this inside a transaction.
    """
    if not request.world.store[FAULTS].rows:
        return None
    request.may_wait = True
    world, method, path = request.world, request.incoming.method, request.path
    given = idempotency.key_of(operation, request.incoming)
    key = None if given is None else idempotency.place_of(request.environment, given)
    counted = world.store[UNDER_KEYS]

    def matches(fault_id: str, fault: faults.InterfaceFault) -> bool:
        match, most = fault.match, fault.first_per_key
        return (
            (match.method is None or match.method.upper() == method)
            and (match.path is None or fnmatchcase(path, match.path))
            and (match.public_key is None or match.public_key == request.public_key)
            and (most is None or (key is not None and (counted.get(f"{fault_id}|{key}") or 0) < most))
            and _can_mutate(world, operation, fault)
            and (not fault.key_forgotten or (key is not None and idempotency.is_kept(world, key)))
        )

    hit = first_hit(world, "match", matches)
    if hit is None:
        return None
    fault_id, fault = hit
    if fault.first_per_key is not None:
        place = f"{fault_id}|{key}"
        counted.put(place, (counted.get(place) or 0) + 1)
    if fault.key_forgotten and key is not None:
        world.store[idempotency.ANSWERS].delete(key)
    return Interference(request, fault_id, fault, operation)
