"""Unreadable rows: rows of a journal are dropped and counted; other rows quarantine their world."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any
from zlib import crc32

import orjson
import pytest

from tests.service.durable.crashing import kept
from tests.support import QUOTE


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "worlds.db"


def rewrite(path: Path, change: Callable[[dict[str, Any]], None], world: str = "default") -> None:
    """Edit a world in a store, including its checksums, as another program would."""
    with closing(sqlite3.connect(path, isolation_level=None)) as store:
        rows = [
            *store.execute(
                "SELECT 'parts', parts.rowid, content FROM parts JOIN worlds ON parts.base = worlds.base WHERE id = ?",
                (world,),
            ),
            *store.execute("SELECT 'entries', rowid, content FROM entries WHERE world = ?", (world,)),
        ]
        for table, row, content in rows:
            piece = orjson.loads(content)
            change(piece)
            written = orjson.dumps(piece)
            store.execute(f"UPDATE {table} SET content = ?, crc = ? WHERE rowid = ?", (written, crc32(written), row))


def with_tabs(piece: dict[str, Any]) -> None:
    """Put a tab into the headers of all requests."""
    for call in piece.get("calls", ()):
        call["headers"] = {"$": "tuple", "items": [{"$": "tuple", "items": ["accept", "a\tb"]}]}


def test_unreadable_requests_are_dropped_and_counted(path: Path) -> None:
    with kept(path) as (world, _):
        quote = world.api("POST", "/quotes", QUOTE).body["id"]
        calls = len(world.control("GET", "/requests").body["data"])
    rewrite(path, with_tabs)
    for _ in range(2):
        with kept(path) as (world, _):
            journal = world.control("GET", "/requests").body
            assert (journal["data"], journal["dropped"], journal["truncated"]) == ([], calls, True)
            assert world.control("GET", f"/resources/{quote}").status == 200


def test_unreadable_requests_are_counted_once_over_restarts(path: Path) -> None:
    with kept(path) as (world, _):
        world.control("PATCH", "/settings", {"journal_limit": 2})
        for _ in range(3):
            world.control("POST", "/clock/advance", {"by": "1s"})
        before = world.control("GET", "/controls").body

    def spoil(piece: dict[str, Any]) -> None:
        rows = piece["rows"] if piece.get("table") == "control.calls" else piece.get("writes", {}).get("control.calls")
        for row in rows or ():
            if len(row) > 1:
                row[1] = {"$": "no such class"}

    rewrite(path, spoil)
    for _ in range(3):
        with kept(path) as (world, _):
            found = world.control("GET", "/controls").body
            assert (found["data"], found["dropped"]) == ([], before["dropped"] + len(before["data"]))
    with kept(path) as (world, _):
        for _ in range(3):
            world.control("POST", "/clock/advance", {"by": "1s"})
    with kept(path) as (world, _):
        found = world.control("GET", "/controls").body
        assert (len(found["data"]), found["dropped"]) == (2, before["dropped"] + len(before["data"]) + 1)
