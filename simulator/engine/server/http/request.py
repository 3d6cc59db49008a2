"""A call of the interface while it is being answered, and its entry in the journal."""

from __future__ import annotations

from time import perf_counter

from simulator.engine.records.requests import JournalEntry
from simulator.engine.rows.operation import Operation
from simulator.engine.server.http.messages import Incoming, Outgoing, public_key_of
from simulator.engine.text.masking import Masker
from simulator.kernel.dataclass import dataclass
from simulator.kernel.journal import Cause
from simulator.kernel.world import World

BOOKKEEPING = Cause("request", "bookkeeping")
"""Request ids, rate limits, hits of faults and counts of coverage: what stays of a call when it is refused."""
_REFUSED_KEPT_BYTES = 64 * 1024


@dataclass(slots=True)
class Request:
    """What is known of a call. `started` tells distances only, in seconds; `token` is the one that it sends.

    `is_entered`: it is in the journal. `may_wait`: a fault may have its events delivered before it is answered.
    `fault`: the id of the one that acts on it.
    """

    incoming: Incoming
    environment: str
    path: str
    world: World
    started: float
    token: str | None
    request_id: str = ""
    operation: Operation | None = None
    public_key: str | None = None
    unknown_fields: tuple[str, ...] = ()
    is_entered: bool = False
    may_wait: bool = False
    fault: str = ""

    @property
    def credential(self) -> str:
        """The public key or token by which its world is found; "" for none."""
        return (public_key_of(self.incoming) if self.path == "/auth/token" else self.token) or ""


def identify(request: Request) -> None:
    """Give a call its request id, once."""
    if not request.request_id:
        with request.world.change(BOOKKEEPING):
            request.request_id = draw_id(request.world)


def draw_id(world: World) -> str:
    """The id of the next call; inside a change."""
    return world.streams.identifier("req_", "ids.request")


def entry_of(request: Request, outgoing: Outgoing, masker: Masker) -> JournalEntry:
    """What the journal keeps of a call and its answer: all but the secrets, and the rest of a large refused body."""
    incoming = request.incoming
    query = f"?{incoming.query.decode('latin-1')}" if incoming.query else ""
    body = incoming.body or b""
    if request.public_key is None and outgoing.status >= 400 and len(body) > _REFUSED_KEPT_BYTES:
        body = body[:_REFUSED_KEPT_BYTES] + b"... (cut; %d bytes in all)" % len(body)
    return JournalEntry(
        id=request.request_id,
        at_ms=request.world.now_ms,
        environment=request.environment or request.world.environments[0],
        public_key=request.public_key,
        method=incoming.method,
        path=masker.text(incoming.path + query),
        headers=masker.head(incoming.headers),
        body=masker.raw(body),
        status=outgoing.status,
        response=masker.raw(outgoing.body),
        duration_ms=round((perf_counter() - request.started) * 1000, 3),
        unknown_fields=tuple(map(masker.text, request.unknown_fields)),
        operation=request.operation.name if request.operation else "",
        answer_headers=tuple(outgoing.headers.items()),
        wall_ms=round(request.started * 1000, 3),
        fault=request.fault,
    )
