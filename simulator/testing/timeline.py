"""What happened in a world, in lines: what a failing test prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simulator.testing.worlds import World

_LINES = 40


def timeline(world: World) -> str:
    """Calls, events and deliveries in the order of simulated time, the newest last."""
    rows: list[tuple[str, int, str]] = [
        *(
            (call["at"], 0, f"{call['method']} {call['path']} → {call['status']}")
            for call in world.requests(limit=_LINES)
        ),
        *((event["created_at"], 1, f"event {event['type']}") for event in world.events(limit=_LINES)),
    ]
    return "\n".join(f"{at}  {text}" for at, _, text in sorted(rows, key=lambda row: row[:2])[-_LINES:])
