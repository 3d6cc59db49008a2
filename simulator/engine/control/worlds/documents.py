"""Conversion between a world and one untrusted JSON document. Rows are validated one by one, then together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any

import orjson
from typing_extensions import is_typeddict

from simulator.engine.control.history.journal import CALLS
from simulator.engine.control.worlds.trial import check_consistency
from simulator.engine.insight.tally import COVERAGE
from simulator.engine.records.codec import Codec, StateError, checker, classes_in, texts_of
from simulator.engine.records.dropped_rows import DroppedRows
from simulator.engine.records.requests import JournalEntry
from simulator.engine.records.saved import hold_against
from simulator.engine.rows.error import ControlError
from simulator.engine.scenario.play.catalogue import UPLOADED, row_of
from simulator.engine.server.checks.idempotency import ANSWERS
from simulator.engine.server.checks.ratelimit import WINDOWS
from simulator.engine.text.json import JsonObject, dumps, json_text, read_down_to
from simulator.engine.vocabulary.vocabulary import by_name
from simulator.engine.worlds.observations import read_all
from simulator.engine.worlds.settings import DEFAULTS, SETTINGS
from simulator.engine.worlds.simulator import Blueprint, Simulator, WorldState
from simulator.kernel.clock import FASTEST, LAST_MS, MODES, SLOWEST, format_timestamp, parse_timestamp
from simulator.kernel.dataclass import dataclass
from simulator.kernel.store import TableKey, address_of
from simulator.kernel.texts import pack
from simulator.version import __version__

FORMAT = "rampsim.state"
VERSION = 1
MAX_BYTES = 64 * 1024**2


@dataclass(frozen=True)
class Contents:
    """The tables and row classes that a document may contain."""

    tables: Mapping[str, TableKey[Any]]
    """Tables by name. The name does not include the environment, the owner or `:deleted`."""
    environments: tuple[str, ...]
    codec: Codec


@lru_cache(maxsize=8)
def contents_of(own: tuple[TableKey[Any], ...], environments: tuple[str, ...]) -> Contents:
    """Return what a simulator's documents may contain: its provider's `own` tables, and those of the server."""
    tables = by_name("tables", (*own, ANSWERS, CALLS, COVERAGE, WINDOWS), lambda table: table.name)
    return Contents(tables, environments, Codec(classes_in((*(table.row for table in tables.values()), JournalEntry))))


def document_text(simulator: Simulator, state: WorldState) -> bytes:
    """Return the state as a JSON document. Tables are lists of [key, row], because the order of the rows matters."""
    encode = contents_of(simulator.tables, simulator.wiring.environments).codec.encode
    tables = _tables(simulator, state)
    parts = [dumps(_head_of(state))[:-1], b',"tables":{']
    for number, (name, rows) in enumerate(tables.items()):
        parts += [b"," if number else b"", dumps(name), b":["]
        parts.append(b",".join([dumps([key, encode(row)]) for key, row in rows.items()]))
        parts.append(b"]")
    parts += [b'},"requests":[', b",".join([dumps(encode(row)) for row in state.requests]), b"]}"]
    return b"".join(parts)


def _head_of(state: WorldState) -> JsonObject:
    blueprint = state.blueprint
    return {
        "format": FORMAT,
        "version": VERSION,
        "simulator": __version__,
        "world": state.world_id,
        "keys_of": state.keys_of,
        "seed": state.seed,
        "clock": _shown_clock(state),
        "started_at": format_timestamp(state.started_at_ms),
        "blueprint": {
            "seed": blueprint.seed,
            "clock": _shown_clock(blueprint),
            "scenarios": list(blueprint.scenarios),
            "settings": dict(blueprint.settings),
            **({"observed": [one.document for one in blueprint.observed]} if blueprint.observed else {}),
        },
    }


def _shown_clock(of: WorldState | Blueprint) -> JsonObject:
    return {"mode": of.mode, "now": format_timestamp(of.now_ms), "rate": str(of.rate)}


def _tables(simulator: Simulator, state: WorldState) -> dict[str, Mapping[str, object]]:
    """Return a world's tables. Scenarios of this server, which another may lack, are added as uploaded ones."""
    uploaded = state.tables.get(UPLOADED.name, {})
    own = [name for name in simulator.library if name not in simulator.shipped and name not in uploaded]
    if not own:
        return dict(state.tables)
    return {**state.tables, UPLOADED.name: {**uploaded, **{name: row_of(simulator.library[name]) for name in own}}}


def read_document(simulator: Simulator, raw: bytes) -> WorldState:
    """Return the state in a document. If it is invalid, raise `ControlError` 400 with the path of the first error."""
    if len(raw) > MAX_BYTES:
        raise ControlError(400, "invalid_request", f"The document is larger than {MAX_BYTES // 1024**2} MB.")
    try:
        document = read_down_to(raw, _TABLE_DEPTH)
        if not isinstance(document, dict):
            raise ControlError(400, "invalid_request", "The body must be a JSON object.")
        parsed = {name: value if name in _LONG else _whole(value) for name, value in document.items()}
        state = _read(parsed, contents_of(simulator.tables, simulator.wiring.environments), simulator)
        check_consistency(simulator, state)
    except StateError as error:
        message = f"The document is not the state of a world: {error}."
        raise ControlError(400, "invalid_parameter", message, error.path or None) from None
    except ValueError as error:
        raise ControlError(400, "invalid_request", f"The body is not valid JSON: {error}.") from None
    return state


_TABLE_DEPTH = 3
_LONG = ("tables", "requests")
"""Fields that may be long. Their items are parsed one by one."""


def _whole(value: object) -> object:
    if isinstance(value, dict):
        return {name: _whole(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_whole(item) for item in value]
    return orjson.loads(value) if isinstance(value, bytes) else value


def _read(document: JsonObject, contents: Contents, simulator: Simulator) -> WorldState:
    if document.get("format") != FORMAT:
        raise StateError("format", f"it must be {FORMAT!r}")
    version = document.get("version")
    if type(version) is not int or version != VERSION:
        raise StateError("version", f"this simulator reads only version {VERSION} of this document format")
    clock = _clock(document, "", contents.codec)
    settings = _settings(_object(document, "blueprint", ""))
    blueprint = document["blueprint"]
    start = _clock(blueprint, "blueprint.", contents.codec)
    scenarios = blueprint.get("scenarios")
    if not checker(list[str])(scenarios):
        raise StateError("blueprint.scenarios", "it must be a list of names")
    keys_of = _text(document, "keys_of", "")
    provider = simulator.provider
    files = blueprint.get("observed") or ()
    observed = read_all(files, provider.alternatives(), "blueprint.observed", provider.malformed_fact)
    dropped = DroppedRows()
    tables = {name: _table(name, rows, contents, dropped) for name, rows in _object(document, "tables", "").items()}
    requests = tuple(_requests(document.get("requests"), contents, dropped))
    dropped.enter(tables)
    pack(text for rows in tables.values() for row in rows.values() for text in texts_of(row))
    return WorldState(
        blueprint=Blueprint(
            "", _seed(blueprint, "blueprint."), *start, tuple(scenarios), settings, keys_of, observed=observed
        ),
        world_id=_text(document, "world", ""),
        keys_of=keys_of,
        seed=_seed(document, ""),
        mode=clock[0],
        now_ms=clock[1],
        rate=clock[2],
        started_at_ms=_moment(document, "started_at", ""),
        tables=tables,
        requests=requests,
        requests_dropped=dropped.calls,
    )


def _object(parent: JsonObject, name: str, at: str) -> JsonObject:
    value = parent.get(name)
    if not isinstance(value, dict):
        raise StateError(at + name, "it must be an object")
    return value


def _text(parent: JsonObject, name: str, at: str) -> str:
    value = parent.get(name)
    if not isinstance(value, str) or not 1 <= len(value) <= 1000:
        raise StateError(at + name, "it must be a string of 1 to 1000 characters")
    return value


def _seed(parent: JsonObject, at: str) -> int:
    value = parent.get("seed")
    if type(value) is not int or not 0 <= value < 2**63:
        raise StateError(f"{at}seed", "it must be an integer from 0 to 2^63 - 1")
    return value


def _moment(parent: JsonObject, name: str, at: str) -> int:
    try:
        at_ms = parse_timestamp(_text(parent, name, at))
    except ValueError as error:
        raise StateError(at + name, str(error)) from None
    if not 0 <= at_ms <= LAST_MS:
        raise StateError(at + name, "it must be between the years 1970 and 9998")
    return at_ms


def _clock(parent: JsonObject, at: str, codec: Codec) -> tuple[str, int, Decimal]:
    clock = _object(parent, "clock", at)
    if clock.get("mode") not in MODES:
        raise StateError(f"{at}clock.mode", f"it must be one of {', '.join(MODES)}")
    rate = codec.decode({"$": "decimal", "value": _text(clock, "rate", f"{at}clock.")}, f"{at}clock.rate")
    if not SLOWEST <= rate <= FASTEST:
        raise StateError(f"{at}clock.rate", f"it must be a number from {SLOWEST} to {FASTEST}")
    return clock["mode"], _moment(clock, "now", f"{at}clock."), rate


def _settings(blueprint: JsonObject) -> JsonObject:
    settings = _object(blueprint, "settings", "blueprint.")
    _check_row(SETTINGS, "settings", settings, "blueprint.settings")
    return {**DEFAULTS, **settings}  # An earlier version had fewer settings.


def _table(name: str, pairs: object, contents: Contents, dropped: DroppedRows) -> dict[str, Any]:
    """Return the rows of a table, unchanged if it is unknown. Unreadable rows of a journal are only counted."""
    pairs = read_down_to(pairs, 2) if isinstance(pairs, bytes) else pairs
    if not isinstance(pairs, list):
        raise StateError(f"tables.{name}", "it must be a list of pairs [key, row]")
    address = address_of(name, contents.tables, contents.environments)
    table = None if address is None else address.key
    shape = object if table is None else table.shape or table.row
    fits = checker(JsonObject if is_typeddict(shape) else shape)
    rows: dict[str, Any] = {}
    for index, piece in enumerate(pairs):
        pair = _whole(piece)
        if not (isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str)):
            raise StateError(f"tables.{name}[{index}]", "it must be a pair [key, row]")
        key, path = pair[0], f"tables.{name}.{pair[0]}"
        if key in rows:
            raise StateError(path, "the key occurs more than once")
        try:
            row = contents.codec.decode(pair[1], path)
            if not fits(row):
                raise StateError(path, "the row has the wrong type for this table")
            if table is not None:
                _check_row(table, key, row, path)
            if isinstance(row, dict) and row.get("environment", "") not in ("", *contents.environments):
                raise StateError(f"{path}.environment", f"it must be {' or '.join(contents.environments)}")
        except StateError:
            if table is None or not table.journal:
                raise
            dropped.add(name, table, key)
            continue
        rows[key] = row if table is None or table.shape is None else json_text(row)
    return rows


def _check_row(table: TableKey[Any], key: str, row: object, path: str) -> None:
    """Raise `StateError` if a row does not have the row type of its table, or if the table's own check fails."""
    shape = table.shape or table.row
    if is_typeddict(shape):
        hold_against(shape, row, path)
    if table.check is None:
        return
    try:
        table.check(key, row)
    except StateError as error:
        raise StateError(f"{path}.{error.path}" if error.path else path, error.why) from None


def _requests(rows: object, contents: Contents, dropped: DroppedRows) -> Iterator[JournalEntry]:
    if not isinstance(rows, list):
        raise StateError("requests", "it must be a list")
    for index, row in enumerate(rows):
        try:
            exchange = contents.codec.decode(_whole(row), f"requests[{index}]")
        except StateError:
            exchange = None
        if isinstance(exchange, JournalEntry) and exchange.environment in ("", *contents.environments):
            yield exchange
        else:
            dropped.calls += 1
