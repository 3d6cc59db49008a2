"""E-mails that the service would have sent. They are recorded, not sent (decision W5)."""

from __future__ import annotations

from typing_extensions import TypedDict

from simulator.engine.rows.service import signing_of
from simulator.engine.text.shapes import Timestamp
from simulator.engine.vocabulary.vocabulary import identity_of
from simulator.engine.webhooks.records import EMAILS, Email, Webhook
from simulator.kernel.clock import format_timestamp
from simulator.kernel.ids import derive, text_of
from simulator.kernel.world import World


def record_disabled_email(world: World, endpoint: Webhook) -> None:
    """Record the e-mail about an endpoint that was disabled after repeated failures. Call this inside a transaction."""
    written = signing_of(world).disabled_email(endpoint)
    identifier = "eml_" + text_of(derive("email", endpoint.id, world.now_ms))
    email = Email(
        id=identifier,
        sequence=endpoint.sequence,
        at_ms=world.now_ms,
        to=identity_of(world).account(world).email,
        subject=written.subject,
        body=written.body,
    )
    world.store[EMAILS].put(identifier, email)


class EmailEntry(TypedDict):
    id: str
    """The id of the e-mail."""
    at: Timestamp
    """The time at which it would have been sent."""
    to: str
    """The recipient."""
    subject: str
    """The subject line."""
    body: str
    """The text of the message."""


def emails(world: World) -> list[EmailEntry]:
    """Return the recorded e-mails, oldest first."""
    rows = sorted(world.store[EMAILS].values(), key=lambda row: (row.at_ms, row.sequence))
    return [
        {"id": row.id, "at": format_timestamp(row.at_ms), "to": row.to, "subject": row.subject, "body": row.body}
        for row in rows
    ]
