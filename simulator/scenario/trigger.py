"""The ways of an own object to an event: every path through its state table, the shortest legal one first.

The state table says which move emits what; this module says who makes each move: the outside world by an action, the
account by a call, or the clock by a law.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from simulator.kernel.machine import Machine, Move
from simulator.kernel.world import World
from simulator.resources.recurring import NOTICE, RUN
from simulator.resources.reference import NETWORK_ASSETS, currency_of, listing
from simulator.scenario.walks import Act, Ask, Step, Wait, activation, schedule_from
from simulator.wire.actions import ActionTable
from simulator.wire.errors import ControlError
from simulator.wire.events import EVENT_TYPES
from simulator.wire.records import Record, kind_of

_TEST = Move("test", "enabled", ("webhook.test",))
_BESIDE_THE_TABLE: Mapping[str, Mapping[str, tuple[Move, ...]]] = {"webhook": {"enabled": (_TEST,)}}
"""Events that an object emits without a move of its state table."""

_LAST_RUN = 1_000_000


@dataclass(frozen=True, slots=True)
class Path:
    """One way to the event: its moves, and the steps that make them."""

    moves: tuple[Move, ...]
    steps: tuple[Step, ...]

    @property
    def cost(self) -> tuple[int, int, int]:
        """Ways without waiting first, then short ones, then ones that need nothing out of the ordinary."""
        waits = sum(isinstance(step, Wait) for step in self.steps)
        return waits, len(self.moves), sum(move.when == "short" for move in self.moves)


def paths_to(world: World, actions: ActionTable, record: Record, event: str) -> list[Path]:
    """Every way from where the object stands to the event, cheapest first; ControlError 409 in words when none."""
    machine, beside = kind_of(world, record).machine, _BESIDE_THE_TABLE.get(record.kind, {})
    allowed = actions.allowed(world, record)
    if record.owner:
        raise _refused(f"{record.id} belongs to another user; events tell of the account's own objects.", allowed)
    emitting = [move for row in (*machine.rows.values(), *beside.values()) for move in row if event in move.events]
    born = any(event in move.events for move in machine.initial)
    if not emitting and born:
        raise _refused(
            f"{event} happens when a {_named(record)} comes into being, and {record.id} is there already; "
            "trigger it without a target.",
            allowed,
        )
    if not emitting:
        about = EVENT_TYPES[event].object
        raise _refused(f"{event} tells of a {about.replace('_', ' ')}; {record.id} is a {_named(record)}.", allowed)
    found = []
    for moves in _walks(machine, beside, record.status, event):
        parts = [_steps(world, actions, record, move) for move in moves]
        if all(parts):
            found.append(Path(moves, tuple(step for part in parts for step in part or ())))
    if not found:
        state = f"in the state {record.status!r}"
        raise _refused(f"There is no legal way from a {_named(record)} {state} to {event}.", allowed)
    return sorted(found, key=lambda path: path.cost)


def _refused(message: str, allowed: list[str]) -> ControlError:
    return ControlError(409, "invalid_transition", message, allowed=allowed)


def _named(record: Record) -> str:
    return record.kind.replace("_", " ")


def _walks(
    machine: Machine, beside: Mapping[str, tuple[Move, ...]], state: str, event: str, visited: tuple[str, ...] = ()
) -> Iterator[tuple[Move, ...]]:
    """Every sequence of moves that visits no state twice and ends with a move that emits the event."""
    for move in (*machine.rows.get(state, ()), *beside.get(state, ())):
        if event in move.events:
            yield (move,)
        elif move.target != state and move.target not in visited:
            for rest in _walks(machine, beside, move.target, event, (*visited, state)):
                yield (move, *rest)


def _steps(world: World, actions: ActionTable, record: Any, move: Move) -> tuple[Step, ...] | None:
    """Who makes this move, and how; None when nobody can be asked to."""
    kind, trigger = record.kind, move.on
    if trigger in actions.rows and kind in actions.kinds(trigger):
        return (Act(trigger, record.id, _parameters(record, move)),)
    if kind == "network":
        return (Act("set_network", None, {"network": record.name, "status": move.when}),)
    if trigger == "expire":
        return (Wait(record.id, tuple(row.kind for row in world.wiring.timers.values() if trigger in row.moves)),)
    if kind == "recurring_payment":
        return _recurring_steps(world, record, move)
    if kind == "beneficiary" and trigger == "delete":
        return (Ask("DELETE", f"/beneficiaries/{record.id}"),)
    if kind == "webhook" and trigger == "test":
        return (Ask("POST", f"/webhooks/{record.id}/test"),)
    if kind == "webhook" and trigger == "enable":
        return (Ask("PATCH", f"/webhooks/{record.id}", {"status": "enabled"}),)
    return None


def _parameters(record: Any, move: Move) -> dict[str, Any]:
    """What makes an action take this cell of its trigger."""
    if move.when == "short":
        return {"amount": f"{currency_of(record.paid.code, record.paid.network).unit:f}"}
    if move.when == "enough":
        return {"confirmations": listing(NETWORK_ASSETS[record.network][0], record.network).confirmations}
    return {}


def _recurring_steps(world: World, record: Any, move: Move) -> tuple[Step, ...] | None:
    path = f"/recurring-payments/{record.id}"
    if move.on == "activate":
        return activation(record.id, schedule_from(world.now_ms) if record.schedule is None else None)
    if move.on in ("pause", "restart"):
        return (Ask("POST", f"{path}/{move.on}", {}),)
    if move.on == "delete":
        return (Ask("DELETE", path),)
    if move.on == "announce_run":
        return (Wait(record.id, (NOTICE, RUN), most=3),)
    if move.on == "run_succeeds":
        return (Wait(record.id, (RUN,)),)
    if move.on == "run_fails":
        return (Wait(record.id, (RUN,), starved=True),)
    if move.on == "finish":
        return None if _never_ends(record) else (Wait(record.id, (RUN,), most=_LAST_RUN),)
    return None


def _never_ends(record: Any) -> bool:
    return record.schedule is None or record.schedule.end == "never"
