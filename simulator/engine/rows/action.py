"""Actions: outside events, such as an incoming payment, in one table for control requests, scenarios and CLI commands.
An action without kinds of targets acts on the world itself. Source: section "Actions" of the control interface.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import Any, Generic

from typing_extensions import TypeVar

from simulator.engine.clients.address import CONTROL_BASE
from simulator.engine.records.records import find, kind_of, no_resource, render
from simulator.engine.rows.error import ApiError, ControlError, sentence
from simulator.engine.rows.kind import Record
from simulator.engine.text import strict
from simulator.engine.text.fields import Body, Nothing, Wrong, parse, refusal_of, wrong
from simulator.engine.text.json import Shown
from simulator.engine.worlds import quotas
from simulator.kernel.dataclass import dataclass
from simulator.kernel.journal import Cause, Event
from simulator.kernel.machine import IllegalMove, Machine
from simulator.kernel.world import World

TargetT = TypeVar("TargetT", default=Any)
ParametersT = TypeVar("ParametersT", bound=Body, default=Any)


@dataclass(frozen=True)
class ActionCall(Generic[TargetT, ParametersT]):
    """The validated arguments of an action, as passed to the function that performs the action. The function declares
    the types of the target and the parameters, such as `ActionCall[Deposit, Failure]`. If an action has no parameters,
    their type is `Nothing`.
    """

    world: World
    environment: str
    target: TargetT
    """The target, or None if it is the world."""
    parameters: ParametersT


@dataclass(frozen=True)
class Initial:
    """A field in the `world` section of a scenario. When the scenario becomes active, the field runs an action."""

    member: str
    means: str
    """The description of the field, for editors."""
    order: int
    """The position of the action. Actions with a lower position run first."""
    is_list: bool = True
    """True if the field is a list of entries, each with the action's parameters."""


@dataclass(frozen=True)
class Action(Generic[TargetT, ParametersT]):
    """One row of the action table. The state table of the target determines whether the action is legal."""

    name: str
    does: str
    act: Callable[[ActionCall[TargetT, ParametersT]], Record | Shown | None]
    """Returns the changed record, or a JSON object to return as `resource`."""
    kinds: tuple[str, ...] = ()
    parameters: Callable[[], type[ParametersT]] = lambda: Nothing  # type: ignore[assignment, return-value]  # where none is named, nobody reads them
    guard: Callable[[World, TargetT], str | None] = lambda world, record: None
    """Called if the state table allows the action. Returns the reason why the action is still refused, or None."""
    check: Callable[[ParametersT], Iterable[Wrong]] = lambda parameters: ()
    """Yields problems in the parameters that the model does not detect, whatever the world and the target."""
    names_event: str = ""
    """The parameter that contains the name of an event."""
    makes: str = ""
    """The kind of resource that the action creates. The target may be in any state, and keeps it."""
    networks: Callable[[TargetT], Iterable[str | None]] = lambda record: ()
    """Returns the networks that the action needs. None means that one end of the transfer uses no network. A scenario
    step waits while one of the networks is down (decision S22). Only transfers on a blockchain depend on a network.
    """
    initially: Initial | None = None
    """Set if scenarios can run the action in their `world`."""

    def wrongs(self, parameters: ParametersT, events: Collection[str]) -> Iterator[Wrong]:
        """Yield problems that the Pydantic model does not detect. `events` are the event types of the service."""
        yield from self.check(parameters)
        name = getattr(parameters, self.names_event) if self.names_event else None
        if name is not None and name not in events:
            hint = strict.did_you_mean(name, events)
            yield wrong(self.names_event, f"unknown event type {name!r}{hint}")

    def states(self, machine: Machine) -> list[str]:
        """Return the target's states in which the transition table allows the action, without calling `guard`."""
        return [state for state in machine.rows if self._acts_in(state, machine)]

    def _acts_in(self, state: str, machine: Machine) -> bool:
        return state in machine.rows and (self.makes != "" or machine.permits(state, self.name))

    def refusal(self, world: World, record: Any) -> str | None:  # its kind is one of `kinds`, so it is a TargetT
        """Return the reason why the action is currently illegal for a record, or None if the action is legal."""
        refused = f"not legal in the state {record.status!r}"
        if not self._acts_in(record.status, kind_of(world, record).machine):
            return refused
        unmet = self.guard(world, record)
        return None if unmet is None else f"{refused}: {unmet}"


class ActionTable:
    """All actions, by name and by target kind."""

    def __init__(self, actions: Iterable[Action], events: Collection[str] = ()) -> None:
        self._events = events
        self.rows: dict[str, list[Action]] = {}
        for row in actions:
            known = self.rows.setdefault(row.name, [])
            if any(set(row.kinds) & set(other.kinds) or row.kinds == other.kinds for other in known):
                raise ValueError(f"two actions for the same kind of target have the name {row.name!r}")
            known.append(row)

    @cached_property
    def initial(self) -> Sequence[tuple[Initial, str]]:
        """Fields in a scenario's `world` and the names of the actions that set them, in the order of execution."""
        found = [(row.initially, row.name) for rows in self.rows.values() for row in rows if row.initially is not None]
        return sorted(found, key=lambda one: one[0].order)

    @property
    def of_world(self) -> list[str]:
        """The names of the actions that need no target."""
        return [name for name, rows in self.rows.items() if any(not row.kinds for row in rows)]

    def allowed(self, world: World, record: Record) -> list[str]:
        """Return the names of the actions that are currently legal for a resource."""
        return [
            name
            for name, rows in self.rows.items()
            if any(record.kind in row.kinds and row.refusal(world, record) is None for row in rows)
        ]

    def kinds(self, name: str) -> list[str]:
        return list(dict.fromkeys(kind for row in self.rows[name] for kind in row.kinds))

    def networks_needed(self, name: str, record: Record) -> frozenset[str]:
        """Return the canonical names of the networks that an action on a resource needs."""
        needed = (row.networks(record) for row in self.rows.get(name, ()) if record.kind in row.kinds)
        return frozenset(network for networks in needed for network in networks if network is not None)

    def parameters(self, name: str) -> list[str]:
        """Return the parameter names of an action for all kinds of targets, with `target` if it can have one."""
        rows = self.rows[name]
        fields = (field.alias or key for row in rows for key, field in row.parameters().model_fields.items())
        return list(dict.fromkeys((*(("target",) if self.kinds(name) else ()), *fields)))

    def choose(self, world: World, name: str, target: str | None) -> tuple[Action, Record | None]:
        """Return the row and the target's record (None for the world), or raise `ControlError` if none match."""
        rows = self.rows.get(name)
        if rows is None:
            hint = strict.did_you_mean(name, self.rows) or f". List them with GET {CONTROL_BASE}/actions"
            raise ControlError(404, "not_found", sentence(f"There is no action {name!r}{hint}"))
        world_row = next((row for row in rows if not row.kinds), None)
        if target is None:
            if world_row is None:
                kinds = ", ".join(self.kinds(name))
                why = f"The action {name} needs a `target`, the id of: {kinds}."
                raise ControlError(400, "missing_parameter", why, "target")
            return world_row, None
        record = find(world, target)
        if record is None:
            raise no_resource(world, target)
        for row in rows:
            if record.kind in row.kinds:
                return row, record
        why = f"The action {name} cannot be performed on a {record.kind}."
        raise self._illegal(world, record, f"{why} The field `allowed` lists the possible actions.")

    def _illegal(self, world: World, record: Record, message: str) -> ControlError:
        return ControlError(409, "invalid_transition", message, allowed=self.allowed(world, record))

    def perform(
        self,
        world: World,
        name: str,
        target: str | None,
        parameters: Mapping[str, object],
        environment: str,
        cause: Cause,
    ) -> Performed:
        """Run an action on a target and return its effects. Raise `ControlError` if the action is refused."""
        before = world.journal.event_count
        after = self.carry_out(world, name, target, parameters, environment, cause)
        resource = render(world, after) if isinstance(after, Record) else after
        shown = after.id if isinstance(after, Record) and target is None else target
        return Performed(name, shown, world.now_ms, resource, events_since(world, before))

    def carry_out(
        self,
        world: World,
        name: str,
        target: str | None,
        parameters: Mapping[str, object],
        environment: str,
        cause: Cause,
    ) -> Record | Shown | None:
        """Check and run an action. Raise `ControlError` if the action is refused. Return the result of the action's
        `act` function. Unlike `perform`, this method does not render the resource. Rendering would take a tenth of the
        time of a scenario step.
        """
        try:
            if target is None and name in self.rows:
                strict.refuse_names(parameters, self.parameters(name), "parameter")
            row, record = self.choose(world, name, target)
            strict.refuse_unknown(row.parameters(), parameters, "parameter")
            values = parse(row.parameters(), parameters)
            found = list(row.wrongs(values, self._events))
            if found:
                raise refusal_of(found)
        except ApiError as error:
            raise ControlError(error.status, error.code, error.message, error.param) from None
        if record is not None and (refusal := row.refusal(world, record)) is not None:
            raise self._illegal(world, record, f"The action {name} is {refusal}.")
        where = record.environment if record is not None else environment
        try:
            with world.change(cause), quotas.attempt(world):
                return row.act(ActionCall(world, where, record, values))
        except quotas.QuotaExceeded as error:
            raise ControlError(error.status, error.code, error.message) from None
        except ApiError as error:
            status = error.status if error.status < 409 else 400
            raise ControlError(status, error.code, error.message, error.param) from None
        except IllegalMove as error:
            # The state table allows the action only under another condition. Refuse it like any illegal transition.
            raise ControlError(409, "invalid_transition", f"The action {name} is refused: {error}.") from None


@dataclass(frozen=True)
class Performed:
    """The result of an action: its target, the time, the changed resource, and the emitted events."""

    action: str
    target: str | None
    at_ms: int
    resource: Shown | None
    events: Sequence[Event]


def events_since(world: World, count: int) -> list[Event]:
    """Return all events of a world except the first `count` events, oldest first."""
    return list(islice(world.journal.events_newest_first(), world.journal.event_count - count))[::-1]
