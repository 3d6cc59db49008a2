"""Reads and writes summaries ("cards") of suspended worlds in a SQLite store. Also reads the stored bytes of worlds.

A card contains what the server needs to know about a suspended world, and a digest of the checksums of the world's
stored bytes. With the digest, the server recognises and ignores stale cards.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias
from zlib import crc32

from simulator.engine.server.storage import RawPiece, Use

SCHEMA = "CREATE TABLE IF NOT EXISTS cards (world TEXT PRIMARY KEY, digest INTEGER NOT NULL, content BLOB NOT NULL)"
"""The table of cards. Older versions ignore it, and their writes make its cards stale, so the format stays."""

NewCard: TypeAlias = tuple[int, bytes, Use]
"""The number of the latest saved change that a card covers, the content of the card, and the world's last-used time."""


def cards_in(connection: sqlite3.Connection) -> Mapping[str, bytes]:
    """Return the content of every valid card, by world id.

    This computes the checksums of all worlds, at about 1 GB a second. A damaged world has no valid card, so the server
    reads the world at startup and quarantines it.
    """
    digests = _digests(connection, connection.execute("SELECT id, number, base FROM worlds").fetchall(), "", ())
    rows = connection.execute("SELECT world, digest, content FROM cards")
    return {world: content for world, digest, content in rows if digests.get(world) == digest}


def put_cards(connection: sqlite3.Connection, cards: Mapping[str, NewCard]) -> set[str]:
    """Write cards and the last-used times of their worlds. Call this inside a transaction.

    Return the ids of the worlds whose cards were written. A card is skipped if its world has later changes.
    """
    written = set()
    for world, (number, content, use) in cards.items():
        heads = connection.execute("SELECT id, number, base FROM worlds WHERE id = ?", (world,)).fetchall()
        asked = "SELECT count(*) FROM entries WHERE world = ?"
        if not heads or heads[0][1] + connection.execute(asked, (world,)).fetchone()[0] != number:
            continue
        digest = _digests(connection, heads, "WHERE world = ?", (world,))[world]
        connection.execute("INSERT OR REPLACE INTO cards VALUES (?, ?, ?)", (world, digest, content))
        put_uses(connection, {world: use})
        written.add(world)
    return written


def put_uses(connection: sqlite3.Connection, uses: Mapping[str, Use]) -> None:
    """Write the last-used times of worlds. Call this inside a transaction."""
    rows = [(use.used_ms, use.objects, use.journal_bytes, world) for world, use in uses.items()]
    connection.executemany("UPDATE worlds SET used_ms = ?, objects = ?, journal_bytes = ? WHERE id = ?", rows)


def _digests(connection: sqlite3.Connection, heads: Iterable[Any], where: str, values: Any) -> dict[str, int]:
    """Return a digest for each world, computed from the checksums of all its stored bytes."""
    made_of = {world: [(number, base)] for world, number, base in heads}
    bases = {base: world for world, (head, *_) in made_of.items() for base in (head[1],)}
    for world, base in connection.execute(f"SELECT world, base FROM snapshots {where} ORDER BY place", values):
        if world in made_of:
            bases[base] = world
            made_of[world].append((-1, base))
    of_bases = defaultdict(list)
    if where:
        asked = [connection.execute("SELECT base, number, crc FROM parts WHERE base = ?", (base,)) for base in bases]
        entries = connection.execute(f"SELECT world, number, crc FROM entries {where}", values)
    else:
        connection.create_function("checksum", 1, _checksum, deterministic=True)
        asked = [connection.execute("SELECT base, number, checksum(content) FROM parts")]
        entries = connection.execute("SELECT world, number, checksum(content) FROM entries")
    for rows in asked:
        for base, number, crc in rows:
            of_bases[bases.get(base)].append((base, number, crc))
    for world, number, crc in entries:
        of_bases[world].append((-1, number, crc))
    return {world: crc32(repr((heads, sorted(of_bases[world]))).encode()) for world, heads in made_of.items()}


def _checksum(content: object) -> int:
    return crc32(content) if isinstance(content, bytes) else -1


def raw_pieces(connection: sqlite3.Connection, world: str, base: int) -> list[RawPiece]:
    """Return all stored bytes of a world, even if they are damaged."""
    asked: list[tuple[str, str, object]] = [
        ("base", "parts WHERE base = ?", base),
        ("entry", "entries WHERE world = ?", world),
    ]
    snapshots = connection.execute("SELECT id, base FROM snapshots WHERE world = ? ORDER BY place", (world,))
    asked += [(f"snapshot {one}", "parts WHERE base = ?", base) for one, base in snapshots]
    return [
        RawPiece(part, number, content, crc32(content) == crc)
        for part, rows, value in asked
        for number, crc, content in connection.execute(
            f"SELECT number, crc, CAST(content AS BLOB) FROM {rows} ORDER BY number", (value,)
        )
    ]
