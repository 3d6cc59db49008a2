"""The bodies of webhook endpoints, and the parameters of the action `emit`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from simulator.wire.fields import Body, Note, Text

EventTypes = Annotated[list[str], Field(min_length=1)]


class NewWebhook(Body):
    """`url` takes any string here: one that cannot be used is 422 invalid_webhook_url (decision W3)."""

    url: str
    events: EventTypes
    description: Note | None = None


class WebhookChange(Body):
    url: str = ""
    events: EventTypes = Field(default_factory=list)
    description: Note | None = None
    status: Literal["enabled", "disabled"] = "enabled"


class EmitParameters(Body):
    """The members of `object` replace those of the object that would be sent."""

    type: Text
    object: dict[str, Any] | None = None
