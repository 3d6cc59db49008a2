"""The request bodies for webhook endpoints, and the parameters of the action `emit`."""

from typing import Annotated, Any, Literal

from pydantic import Field

from simulator.engine.text.fields import Body, Note, Text
from simulator.engine.text.shapes import Assumed, Meanings
from simulator.engine.webhooks.states import MEANINGS

EventTypes = Annotated[list[str], Field(min_length=1), Assumed("H5", "minItems")]


class NewWebhook(Body):
    """The body of a registration.

    `url` can be any string here. A URL that cannot be used is refused with 422 invalid_webhook_url (decision W3).
    """

    url: str
    """The URL to which events are sent.

    It must be a public HTTPS URL and respond to the test request with status 200.
    """
    events: EventTypes
    """The event types to send. `*` means all."""
    description: Note | None = None
    """A note on the endpoint."""


class WebhookChange(Body):
    """Changes to an endpoint. Fields that are not sent do not change."""

    url: str = ""
    """The new URL. It is tested in the same way as at registration."""
    events: EventTypes = Field(default_factory=list)
    """The event types to send from now on. `*` means all."""
    description: Note | None = None
    """The new note. null removes it."""
    status: Annotated[Literal["enabled", "disabled"], Meanings(MEANINGS)] = "enabled"
    """Whether the endpoint receives events from now on."""


class EmitParameters(Body):
    """Parameters of the action `emit`."""

    type: Text
    """The event type to send."""
    about: Text | None = None
    """The id of the resource that the event is about.

    The event contains the current resource, but with a status that is possible after such an event. Without `about`,
    the newest resource with such a status is sent, or an example if there is none.
    """
    object: dict[str, Any] | None = None
    """Fields to replace in the object."""
