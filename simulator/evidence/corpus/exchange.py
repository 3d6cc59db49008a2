"""The two types of recorded traffic: `Traffic` is raw, and `Exchange` contains no secrets and no personal data. Only
`sanitise` and `read_line` (which reads recordings) create an `Exchange`, and only an `Exchange` can be saved to a file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, fields
from typing import Any, Literal, TypeAlias

from simulator.engine.text.json import JsonObject, Shown, dumps
from simulator.kernel.dataclass import dataclass

Direction: TypeAlias = Literal["call", "webhook"]
SignatureVerdict: TypeAlias = Literal["valid", "invalid", "absent", "unknown"]
BodyForm: TypeAlias = Literal["json", "none", "other", "large", "cut"]
"""The kind of a body: JSON, empty, not JSON, too large to record, or truncated."""

_SEAL = object()


@dataclass(frozen=True, kw_only=True)
class Traffic:
    """One raw call or webhook. It contains secrets and cannot be saved to a file."""

    n: int
    direction: Direction = "call"
    at_ms: int
    """The start time."""
    method: str
    path: str
    """The path below the base URL, percent-encoded, without the query."""
    query: str = ""
    headers: Sequence[tuple[str, str]] = ()
    body: bytes | None = b""
    """None if it was too large to be recorded."""
    status: int | None
    """None if there was no response."""
    response_headers: Sequence[tuple[str, str]] = ()
    response: bytes | None = b""
    """None if it was too large to be recorded."""
    is_cut: bool = False
    """True if the connection ended before the response did."""
    signature: SignatureVerdict = "absent"


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """One call or webhook without secrets and personal data: one line of a corpus."""

    n: int
    """The number in the recording, starting with 1. Exchanges are ordered by start time."""
    direction: Direction
    after_ms: int
    """Milliseconds since the first exchange of the recording."""
    at: str
    """The start time, in the shifted time of the recording. All timestamps are shifted by the same duration."""
    operation: str | None
    """The `operationId`, or the event type of a webhook. None if the contract does not contain it."""
    method: str
    path: str
    """The path below the base URL. Ids in it are pseudonyms."""
    query: Shown
    """The query parameters by name. The value of a repeated parameter is a list."""
    headers: Mapping[str, str | None]
    """The request headers, with lower-case names. None replaces a hidden value. The content type is "" if it is not
    known."""
    authenticated: bool
    """True if a call contained credentials."""
    request: Any
    """The parsed body; None if there is none or it is not JSON."""
    request_body: BodyForm
    status: int | None
    """None if there was no response."""
    response_headers: Mapping[str, str | None]
    response: Any
    """The parsed body; None if there is none or it is not JSON."""
    response_body: BodyForm
    signature: SignatureVerdict
    """The signature of a webhook. A call has none."""
    attempt: int
    """The number of this delivery of the event, or of this call with the same `Idempotency-Key`."""
    hides_amounts: bool
    """True if amounts and rates are pseudonyms, too."""
    seal: object = field(repr=False)

    def __post_init__(self) -> None:
        if self.seal is not _SEAL:
            raise TypeError("do not create an Exchange directly: use `sanitise`, or read it from a corpus")

    def line(self) -> bytes:
        """Return the exchange as a line of a corpus."""
        return dumps({name: getattr(self, name) for name in MEMBERS}) + b"\n"


MEMBERS = tuple(one.name for one in fields(Exchange) if one.name != "seal")


def sealed(values: JsonObject) -> Exchange:
    """Return the exchange with these fields. Only `sanitise` and `read_line` may call this function."""
    return Exchange(**values, seal=_SEAL)
