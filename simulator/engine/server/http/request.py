"""An API call in progress, and its journal entry."""

from __future__ import annotations

from time import perf_counter

from simulator.engine.records.requests import JournalEntry
from simulator.engine.rows.operation import Operation
from simulator.engine.server.http.messages import Incoming, Outgoing, public_key_of
from simulator.engine.text.masking import Masker
from simulator.engine.vocabulary.vocabulary import identity_of
from simulator.kernel.dataclass import dataclass
from simulator.kernel.journal import Cause
from simulator.kernel.world import World

BOOKKEEPING = Cause("request", "bookkeeping")
"""The cause of changes that remain even if the call is refused: request ids, rate limits, fault hits, counters."""
_REFUSED_KEPT_BYTES = 64 * 1024


@dataclass(slots=True)
class Request:
    """An API call in progress."""

    incoming: Incoming
    environment: str
    path: str
    world: World
    started: float
    """The start time, in seconds of a monotonic clock."""
    token: str | None
    request_id: str = ""
    operation: Operation | None = None
    public_key: str | None = None
    unknown_fields: tuple[str, ...] = ()
    is_entered: bool = False
    """True if the call has been added to the journal."""
    may_wait: bool = False
    """True if a fault may deliver the call's events before its response."""
    fault: str = ""
    """The id of the fault that affects the call, or ""."""

    @property
    def credential(self) -> str:
        """The public key or token that identifies the world of the call, or "" if there is none."""
        exchange = identity_of(self.world).exchange
        is_exchange = exchange is not None and self.path == exchange.path
        return (public_key_of(self.incoming) if is_exchange else self.token) or ""


def identify(request: Request) -> None:
    """Generate a request id for a call if it does not have one yet."""
    if not request.request_id:
        with request.world.change(BOOKKEEPING):
            request.request_id = draw_id(request.world)


def draw_id(world: World) -> str:
    """Generate the request id of the next API call. Use this function inside a transaction."""
    return world.streams.identifier("req_", "ids.request")


def entry_of(request: Request, outgoing: Outgoing, masker: Masker) -> JournalEntry:
    """Return the journal entry for a call, without secrets. If the call was refused, a large body is truncated."""
    incoming = request.incoming
    query = f"?{incoming.query.decode('latin-1')}" if incoming.query else ""
    body = incoming.body or b""
    if request.public_key is None and outgoing.status >= 400 and len(body) > _REFUSED_KEPT_BYTES:
        body = body[:_REFUSED_KEPT_BYTES] + b"... (cut; %d bytes in all)" % len(body)
    # The fields are positional: sixteen keywords take one percent of a create call and three of a read call.
    return JournalEntry(
        request.request_id,
        request.world.now_ms,
        request.environment or request.world.environments[0],
        request.public_key,
        incoming.method,
        masker.text(incoming.path + query),
        masker.head(incoming.headers),
        masker.raw(body),
        outgoing.status,
        masker.raw(outgoing.body),
        _milliseconds(perf_counter() - request.started),
        tuple(map(masker.text, request.unknown_fields)) if request.unknown_fields else (),
        request.operation.name if request.operation else "",
        tuple(outgoing.headers.items()),
        _milliseconds(request.started),
        request.fault,
    )


def _milliseconds(seconds: float) -> float:
    """Return a duration with three decimals, truncated. `round` takes three times as long."""
    return int(seconds * 1_000_000) / 1000
