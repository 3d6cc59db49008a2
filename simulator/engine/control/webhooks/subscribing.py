"""The control call that registers a built-in inbox as a webhook endpoint."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

from pydantic import Field

from simulator.engine.clients.address import inbox_path
from simulator.engine.control.call import ControlCall
from simulator.engine.control.operation import calls_under
from simulator.engine.control.refusals import replaced
from simulator.engine.rows.error import ApiError, ControlError
from simulator.engine.rows.operation import Call, Probe
from simulator.engine.server.pipeline import perform
from simulator.engine.text.fields import Body, Text
from simulator.engine.vocabulary.vocabulary import identity_of
from simulator.engine.webhooks import shapes as webhooks
from simulator.kernel.journal import Cause

operation = calls_under("Seeing")


class SubscribeBody(Body):
    events: Annotated[list[Text], Field(min_length=1)] = Field(default_factory=lambda: ["*"])
    """The event types to receive. The default `*` means all event types."""


@operation(
    "POST /inbox/{name}/subscribe",
    "Register an inbox as a webhook endpoint",
    status=201,
    body=SubscribeBody,
    by_environment=True,
)
async def subscribe_inbox(call: ControlCall) -> webhooks.WebhookEndpoint:
    """Register an inbox as a webhook endpoint in the environment of the header. The inbox receives the test request.
    This has the same effect and the same errors as POST /webhooks with the URL of the inbox. If the inbox does not
    respond with 200, the error is 409 instead of 422.
    """
    world, row = call.world, call.runtime.router.find("/webhooks")
    assert row is not None
    body = {"url": f"{call.origin}{inbox_path(world.id, call.path['name'])}", "events": call.body.events}
    cause = Cause("action", "subscribe_inbox", call.id)
    with _as_control_error():
        gates = identity_of(world).check_gates
        probe = perform(row[0]["POST"], Call(world, call.environment, {}), body, cause=cause, gates=gates)
        assert isinstance(probe, Probe)
        # This runs in a task, because the courier needs a current task and a control call may begin without one.
        outcome = await asyncio.create_task(call.runtime.courier.probe(world, probe))
        if not call.simulator.lives(world):
            raise replaced()
        with world.change(cause):
            endpoint: webhooks.WebhookEndpoint = probe.then(outcome)  # type: ignore[assignment]  # as in POST /webhooks
    await call.runtime.follow_up(world)
    return endpoint


@contextmanager
def _as_control_error() -> Iterator[None]:
    try:
        yield
    except ApiError as error:
        status = 409 if error.status == 422 else error.status
        raise ControlError(status, error.code, error.message, error.param) from None
