"""Reads request bodies and builds responses to API calls, as the assumptions of the call's world require."""

from __future__ import annotations

from collections.abc import Mapping

from simulator.engine.rows.error import ApiError
from simulator.engine.rows.operation import Operation
from simulator.engine.rows.service import service_of
from simulator.engine.server.http.messages import Outgoing, body_of
from simulator.engine.server.http.request import Request, identify
from simulator.engine.text.json import MAX_BYTES, JsonObject, dumps
from simulator.engine.worlds.settings import assumes, assumes_anything
from simulator.kernel.machine import IllegalMove

_NOT_SHOWN = frozenset({"list_webhooks", "list_assets", "list_currencies"})
"""The list operations whose response is not defined in the specification (decision L6)."""


def body_sent(request: Request) -> JsonObject:
    """Return the JSON object in a request's body (decisions H4, H12 and H13)."""
    world, incoming = request.world, request.incoming
    if not assumes_anything(world):
        return body_of(incoming)
    if incoming.body is None and assumes(world, "H12", "too_large_answers_413"):
        raise ApiError("invalid_request", f"The body is larger than {MAX_BYTES} bytes.", status=413)
    if assumes(world, "H13", "any_type_is_taken"):
        body = body_of(incoming, None)
    else:
        body = body_of(incoming, 415 if assumes(world, "H13", "answers_415") else 400)
    amount = body.get("amount")
    if isinstance(amount, int | float) and not isinstance(amount, bool) and assumes(world, "H7", "numbers_are_taken"):
        body = {**body, "amount": str(amount)}
    return body


def answered(request: Request, operation: Operation, answer: Mapping[str, object] | None) -> Outgoing:
    """Return the response to a successful call, with the status of its operation (decision H1)."""
    status, world = operation.status, request.world
    if status == 201 and assumes(world, "H1", "creating_answers_200"):
        status = 200
    if answer is None:
        return outgoing(request, status, b"")
    said = service_of(world).wording.answer(world, answer)
    is_bare = operation.name in _NOT_SHOWN and assumes(world, "L6", "bare_lists")
    return Outgoing(status, dumps(said["data"] if is_bare else said), {"X-Request-Id": request.request_id})


def refused(request: Request, error: ApiError | IllegalMove) -> Outgoing:
    """Return the response to a refused call. If the call has no request id, generate one."""
    identify(request)
    if isinstance(error, IllegalMove):
        error = ApiError("invalid_state", f"Not possible in the current status: {error}")
    wording = service_of(request.world).wording
    error = wording.refusal(request.world, error)
    body = wording.envelope(request.world, error, request.request_id)
    return outgoing(request, error.status, dumps(body), error.headers)


def outgoing(request: Request, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> Outgoing:
    """Return a response that includes the call's request id."""
    return Outgoing(status, body, {"X-Request-Id": request.request_id, **(headers or {})})
