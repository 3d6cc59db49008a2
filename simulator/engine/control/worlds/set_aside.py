"""Control calls that list, export and delete saved worlds that this version cannot read."""

from __future__ import annotations

from base64 import b64encode
from typing import Annotated, Literal

from typing_extensions import TypedDict

from simulator.engine.control.call import ControlCall
from simulator.engine.control.operation import calls_under
from simulator.engine.rows.error import ControlError
from simulator.engine.text.shapes import Count, Meanings

operation = calls_under("Worlds")

_ENCODINGS = {
    "utf-8": "The stored bytes as a string.",
    "base64": "The stored bytes in base64, because they are not valid UTF-8.",
}


class UnreadableWorld(TypedDict):
    id: str
    """The id of the world."""
    why: str
    """Why this version of the simulator cannot read it."""


class RawPiece(TypedDict):
    part: str
    """The kind of piece: `base`, `entry`, or `snapshot` followed by the id of the snapshot. The `base` is a saved
    state, and each `entry` contains later changes.
    """
    number: Count
    """The position of the piece. Entries follow their base in order of position."""
    whole: bool
    """False if the bytes are damaged."""
    encoding: Annotated[Literal["utf-8", "base64"], Meanings(_ENCODINGS)]
    """The encoding of `content`."""
    content: str
    """The content of the piece. The content is a JSON document unless it is damaged."""


class RawWorld(TypedDict):
    id: str
    """The id of the world."""
    unreadable: str | None
    """Why the world cannot be read; null if it can."""
    pieces: list[RawPiece]
    """All stored pieces of the world."""


def unreadable_worlds(call: ControlCall) -> list[UnreadableWorld]:
    """Return the saved worlds that this version cannot read and the caller's token can access."""
    found = {} if call.runtime.persistence is None else call.runtime.persistence.unreadable
    return [{"id": world_id, "why": why} for world_id, why in found.items() if call.access.reaches(world_id)]


def delete_unreadable(call: ControlCall, world_id: str) -> bool:
    """Delete an unreadable world. Return False if the caller's token can access no such world."""
    persistence = call.runtime.persistence
    if persistence is None or world_id not in persistence.unreadable or not call.access.reaches(world_id):
        return False
    persistence.delete_unreadable(world_id)
    return True


@operation("GET /worlds/{id}/raw", "Export a saved world", scope="server", catches_up=False, shows_keys=True)
async def export_raw(call: ControlCall) -> RawWorld:
    """Return the stored bytes of a world, even if this version cannot read them. Use the bytes to recover a damaged
    world. Fails with 404 if the world is not in a store.
    """
    persistence, world_id = call.runtime.persistence, call.path["id"]
    if not call.access.reaches(world_id):
        raise call.access.no_world(world_id)
    if persistence is None:
        raise ControlError(404, "not_found", "This server was started without --store, so its worlds are not saved.")
    try:
        pieces = await persistence.raw(world_id)
    except KeyError:
        raise call.access.no_world(world_id) from None
    shown: list[RawPiece] = []
    for piece in pieces:
        encoding: Literal["utf-8", "base64"] = "utf-8"
        try:
            content = piece.content.decode()
        except UnicodeDecodeError:
            encoding, content = "base64", b64encode(piece.content).decode()
        shown.append(
            {
                "part": piece.part,
                "number": piece.number,
                "whole": piece.is_whole,
                "encoding": encoding,
                "content": content,
            }
        )
    return {"id": world_id, "unreadable": persistence.unreadable.get(world_id), "pieces": shown}
