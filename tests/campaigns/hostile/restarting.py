"""The end of every campaign: the server is restarted and must have the same state as before.

A world is compared if its clock is manual and it has no attempts in flight. The restart itself changes other worlds.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import orjson

Ask = Callable[[str, str], Awaitable[tuple[int, bytes]]]
"""GET of a path below /_simulator, in a world: status and body."""
Fail = Callable[[str, str, str, str], None]

_UNDER_WAY = ("webhook_in_flight", "webhook_ready")
_MOST_WORLDS = 200


@dataclass
class Kept:
    """The state before the restart: the ids of all worlds, and the documents of worlds to compare."""

    worlds: list[str]
    documents: dict[str, Any]


async def kept_by(ask: Ask, only: set[str] | None = None) -> Kept:
    """Read the state of a server. The documents can be limited to some worlds."""
    _, raw = await ask("", "/worlds")
    rows = orjson.loads(raw)["data"]
    documents = {}
    for row in rows[-_MOST_WORLDS:]:
        if row["clock"]["mode"] != "manual" or (only is not None and row["id"] not in only):
            continue
        status, document = await ask(row["id"], "/state")
        read: Any = orjson.loads(document) if status == 200 else {"refused": document.decode("utf-8", "replace")[:500]}
        if only is not None or (status == 200 and not any(read["tables"].get(name) for name in _UNDER_WAY)):
            documents[row["id"]] = {"tables": read.get("tables"), "requests": read.get("requests"), **_refused(read)}
    return Kept([row["id"] for row in rows], documents)


def _refused(read: Any) -> dict[str, str]:
    return {"refused": read["refused"]} if "refused" in read else {}


def judge(before: Kept, after: Kept, fail: Fail) -> None:
    """Every world is there again, and those that are compared have every row and every call."""
    for lost in sorted(set(before.worlds) - set(after.worlds)):
        fail("restart", "a world is gone after a restart", "restart", lost)
    for world, document in before.documents.items():
        found = after.documents.get(world)
        if found is None or found == document:
            continue
        if "refused" in found:
            fail("restart", "a world cannot be read after a restart", f"world {world}", found["refused"])
            continue
        names = [name for name in document["tables"] if found["tables"].get(name) != document["tables"][name]]
        names += ["requests"] if found["requests"] != document["requests"] else []
        told = ", ".join(names) or "tables that were not there"
        fail(
            "restart",
            f"a world is another after a restart: {told}",
            f"world {world}",
            _first_difference(document, found),
        )


def _first_difference(before: Any, after: Any) -> str:
    pairs = [*before["tables"].items(), ("requests", before["requests"])]
    for name, rows in pairs:
        others = after["requests"] if name == "requests" else after["tables"].get(name, [])
        for index, row in enumerate(rows):
            if index >= len(others) or others[index] != row:
                there = others[index] if index < len(others) else None
                return f"{name}[{index}]: {row!r:.600} → {there!r:.600}"
    return "further rows"
