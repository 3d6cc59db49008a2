"""What a call says and is answered, in the words of its world (`wire/wording`)."""

from __future__ import annotations

from collections.abc import Mapping

from simulator.server.messages import Outgoing, body_of
from simulator.server.request import Request
from simulator.wire import wording
from simulator.wire.errors import ApiError
from simulator.wire.json import JsonObject, dumps
from simulator.wire.operation import Operation
from simulator.wire.settings import assumes


def body_sent(request: Request) -> JsonObject:
    """The JSON object of its body (decisions H4, H12 and H13)."""
    if assumes(request.world, "H13", "any_type_is_taken"):
        return body_of(request.incoming, None)
    return body_of(request.incoming, 415 if assumes(request.world, "H13", "answers_415") else 400)


def answered(request: Request, operation: Operation, answer: Mapping[str, object] | None) -> Outgoing:
    """What a room returned for a call, with the status of its operation (decision H1)."""
    status = operation.status
    if status == 201 and assumes(request.world, "H1", "creating_answers_200"):
        status = 200
    return outgoing(request, status, b"" if answer is None else dumps(wording.answer(request.world, answer)))


def refused(request: Request, error: ApiError) -> Outgoing:
    """A refusal; the call has its id."""
    error = wording.refusal(request.world, error)
    body = wording.envelope(request.world, error, request.request_id)
    return outgoing(request, error.status, dumps(body), error.headers)


def outgoing(request: Request, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> Outgoing:
    """An answer under the id of its call."""
    return Outgoing(status, body, {"X-Request-Id": request.request_id, **(headers or {})})
