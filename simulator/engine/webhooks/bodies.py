"""The bodies of webhook endpoints, and the parameters of the action `emit`."""

from typing import Annotated, Any, Literal

from pydantic import Field

from simulator.engine.text.fields import Body, Note, Text
from simulator.engine.text.shapes import Assumed, Meanings
from simulator.engine.webhooks.states import MEANINGS

EventTypes = Annotated[list[str], Field(min_length=1), Assumed("H5", "minItems")]


class NewWebhook(Body):
    """`url` takes any string here: one that cannot be used is 422 invalid_webhook_url (decision W3)."""

    url: str
    """Where events are to be sent: a public HTTPS URL. It must answer the test request with exactly 200."""
    events: EventTypes
    """The event types to get; `*` stands for all."""
    description: Note | None = None
    """A note on the endpoint."""


class WebhookChange(Body):
    """Only what is sent changes."""

    url: str = ""
    """Where events are to be sent from now on; another URL is tested as at registration."""
    events: EventTypes = Field(default_factory=list)
    """The event types to get from now on; `*` stands for all."""
    description: Note | None = None
    """The new note; null takes it away."""
    status: Annotated[Literal["enabled", "disabled"], Meanings(MEANINGS)] = "enabled"
    """Whether it is to get events from now on."""


class EmitParameters(Body):
    """The members of `object` replace those of the object that would be sent."""

    type: Text
    """The event type to send."""
    about: Text | None = None
    """The id of the resource that the event is about: it is sent as it is now, but in the status that the event leaves
    a resource in. Without it, the newest resource in such a status is sent, or an example."""
    object: dict[str, Any] | None = None
    """Members that replace those of the object that would be sent."""
