"""The tally of API requests: the number of responses and the first request by operation and result. The tally is a
table of the store, so snapshots include it. Unlike the journal, it does not drop old requests.
"""

from __future__ import annotations

from collections.abc import Container
from urllib.parse import parse_qsl

from simulator.engine.records.listing import Listing
from simulator.engine.records.requests import JournalEntry
from simulator.engine.rows.operation import Operation
from simulator.engine.text.json import loads
from simulator.engine.vocabulary.vocabulary import vocabulary_of
from simulator.kernel.dataclass import dataclass
from simulator.kernel.store import TableKey
from simulator.kernel.world import World

ANSWER = "answer"
REPLAY = "replay"
PAGE = "page"
SUCCESS = "success"
FIRST = "first"
FURTHER = "further"

REPLAYED_HEADER = "Idempotent-Replayed"
_EMPTY_PAGE = b'{"data":[],'


@dataclass(frozen=True, slots=True)
class Hits:
    hits: int
    first: str
    """The id of the first request."""


COVERAGE = TableKey("coverage", Hits, around=True)
"""The hits, by `sort operation which`, such as `answer create_quote success`."""


def count_entry(world: World, operation: Operation, exchange: JournalEntry) -> None:
    """Count one request to an operation. The caller must be inside a transaction."""
    outcome = SUCCESS
    if not 200 <= exchange.status <= 299:  # The status is 0 if the connection was dropped.
        outcome = code_of(exchange, vocabulary_of(world).errors) or str(exchange.status)
    _count(world, ANSWER, operation, outcome, exchange)
    if len(exchange.answer_headers) > 1 and any(name == REPLAYED_HEADER for name, _ in exchange.answer_headers):
        _count(world, REPLAY, operation, SUCCESS, exchange)
    if exchange.status == 200 and isinstance(operation.query, Listing):
        is_first = query_of(exchange.path).get("page", "1").lstrip("0") == "1"
        if is_first or not exchange.response.startswith(_EMPTY_PAGE):
            _count(world, PAGE, operation, FIRST if is_first else FURTHER, exchange)


def _count(world: World, sort: str, operation: Operation, which: str, exchange: JournalEntry) -> None:
    table, key = world.store[COVERAGE], f"{sort} {operation.name} {which}"
    row = table.get(key)
    table.put(key, Hits(1, exchange.id) if row is None else Hits(row.hits + 1, row.first))


def code_of(exchange: JournalEntry, errors: Container[str]) -> str:
    """Return the error code of a response, or "" if the code is not in `errors`."""
    if exchange.status < 400:
        return ""
    try:
        code = loads(exchange.response)["error"]["code"]
    except (ValueError, KeyError, TypeError):
        return ""
    return code if isinstance(code, str) and code in errors else ""


def query_of(path: str) -> dict[str, str]:
    """Return the non-empty query parameters of a path with a query string."""
    return {name: value for name, value in parse_qsl(path.partition("?")[2]) if value}
