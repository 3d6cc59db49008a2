"""The tables in a SQLite store, its format number, and upgrades from older formats."""

from __future__ import annotations

FORMAT = 2
"""Incremented when a simulator version cannot read the files of an older version, or vice versa."""

TABLES = """
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE server (name TEXT PRIMARY KEY, value BLOB NOT NULL);
CREATE TABLE bases (id INTEGER PRIMARY KEY AUTOINCREMENT);
CREATE TABLE parts (
    base INTEGER NOT NULL, number INTEGER NOT NULL, crc INTEGER NOT NULL, content BLOB NOT NULL,
    PRIMARY KEY (base, number)
);
CREATE TABLE worlds (
    place INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, number INTEGER NOT NULL, base INTEGER NOT NULL,
    used_ms INTEGER NOT NULL DEFAULT 0, objects INTEGER NOT NULL DEFAULT 0, journal_bytes INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE entries (
    world TEXT NOT NULL, number INTEGER NOT NULL, crc INTEGER NOT NULL, content BLOB NOT NULL,
    PRIMARY KEY (world, number)
);
CREATE TABLE snapshots (
    place INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, world TEXT NOT NULL, base INTEGER NOT NULL
);
"""
UPGRADES = {
    1: (
        "ALTER TABLE worlds ADD COLUMN used_ms INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE worlds ADD COLUMN objects INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE worlds ADD COLUMN journal_bytes INTEGER NOT NULL DEFAULT 0",
        "UPDATE worlds SET used_ms = 1000 * CAST(strftime('%s', 'now') AS INTEGER)",
    )
}
"""Statements that upgrade a file from each format to the next format."""
PRAGMAS = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA wal_autocheckpoint = 4000",
    "PRAGMA temp_store = MEMORY",
)
