"""Making a built-in inbox the address of a webhook endpoint: what an integrator does by POST /webhooks, in one call."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

from pydantic import Field

from simulator.engine.clients.address import inbox_path
from simulator.engine.control.call import ControlCall
from simulator.engine.control.operation import calls_under
from simulator.engine.rows.error import ApiError, ControlError
from simulator.engine.rows.operation import Call, Probe
from simulator.engine.rows.pipeline import perform
from simulator.engine.rows.vocabulary import identity_of
from simulator.engine.text.fields import Body, Text
from simulator.engine.webhooks import shapes as webhooks
from simulator.kernel.journal import Cause

operation = calls_under("Seeing")


class SubscribeBody(Body):
    events: Annotated[list[Text], Field(min_length=1)] = Field(default_factory=lambda: ["*"])
    """The event types to get; `*`, which is what it gets when this is left out, stands for all."""


@operation(
    "POST /inbox/{name}/subscribe",
    "Make an inbox a webhook endpoint",
    status=201,
    body=SubscribeBody,
    by_environment=True,
)
async def subscribe_inbox(call: ControlCall) -> webhooks.WebhookEndpoint:
    """Register the inbox as a webhook endpoint in the environment of the header; the inbox gets the test request.

    It passes all that POST /webhooks checks, so it is refused by the same codes and in the same words; what is 422
    there, an inbox that answers anything but 200, is 409 here.
    """
    call.check_environment()
    world, row = call.world, call.runtime.router.find("/webhooks")
    assert row is not None
    body = {"url": f"{call.origin}{inbox_path(world.id, call.path['name'])}", "events": call.body.events}
    cause = Cause("action", "subscribe_inbox", call.id)
    with _in_the_words_of_the_interface():
        gates = identity_of(world).check_gates
        asked = perform(row[0]["POST"], Call(world, call.environment, {}), body, cause=cause, gates=gates)
        assert isinstance(asked, Probe)
        # A task of its own: what sends it asks for the task it runs in, and a control call may begin without one.
        outcome = await asyncio.create_task(call.runtime.courier.probe(world, asked))
        if not call.simulator.lives(world):
            raise ControlError(409, "invalid_state", "The world was replaced meanwhile.")
        with world.change(cause):
            made: webhooks.WebhookEndpoint = asked.then(outcome)  # type: ignore[assignment]  # as POST /webhooks shows
    await call.runtime.follow_up(world)
    return made


@contextmanager
def _in_the_words_of_the_interface() -> Iterator[None]:
    try:
        yield
    except ApiError as error:
        status = 409 if error.status == 422 else error.status
        raise ControlError(status, error.code, error.message, error.param) from None
