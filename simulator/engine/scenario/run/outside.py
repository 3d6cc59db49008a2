"""Performs the third-party actions that move a resource to a given status. Used to replay recordings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from simulator.engine.records.records import find
from simulator.engine.rows.action import ActionTable
from simulator.engine.rows.error import ControlError
from simulator.engine.scenario.run.drive import DriveAction
from simulator.engine.scenario.run.paths import paths_where
from simulator.kernel.journal import Cause
from simulator.kernel.world import World


def move_to_status(
    world: World,
    actions: ActionTable,
    identifier: str,
    status: object,
    environment: str,
    cause: Cause,
    fields: Mapping[str, object] = {},
) -> bool:
    """Perform the actions that move a resource to a status. Return True if the resource's status changed.

    A parameter of an action that `fields` contains, such as `failure_code`, gets this value, unless the action refuses
    it. Paths that also need an API call or a timer, and resources of other users, are not used.
    """
    record = find(world, identifier)
    if record is None or record.owner or record.status == status:
        return False
    paths = paths_where(world, actions, record, lambda move: move.target == status)
    # Paths with fewer short payments come first, even if they are longer.
    for path in sorted(paths, key=lambda path: path.cost[::-1]):
        steps = [step for step in path.steps if isinstance(step, DriveAction)]
        if len(steps) == len(path.steps) and any(
            _perform(world, actions, steps, environment, cause, given) for given in ([fields, {}] if fields else [{}])
        ):
            return True
    return False


def _perform(
    world: World,
    actions: ActionTable,
    steps: Sequence[DriveAction],
    environment: str,
    cause: Cause,
    fields: Mapping[str, object],
) -> bool:
    """Perform all actions in one transaction. If an action is refused, change nothing and return False."""
    try:
        with world.change(cause):
            for step in steps:
                own = {name: fields[name] for name in actions.parameters(step.action) if name in fields}
                actions.perform(world, step.action, step.target, {**own, **step.parameters}, environment, cause)
    except ControlError:
        return False
    return True
