"""Carries out due scenario steps. If an action is refused, the step is skipped and the reason is recorded.

A scenario is stopped if it has too many steps, or if its steps fail repeatedly.
"""

from __future__ import annotations

from simulator.engine.rows.error import ApiError, ControlError
from simulator.engine.scenario.play import stops
from simulator.engine.scenario.play.activation import stop
from simulator.engine.scenario.play.catalogue import Context
from simulator.engine.scenario.play.pending import PlannedStep, note_step
from simulator.engine.scenario.play.rules import hand_over, latest
from simulator.kernel.agenda import Timer
from simulator.kernel.journal import shared_cause
from simulator.kernel.ledger import Overdrawn
from simulator.kernel.machine import IllegalMove
from simulator.kernel.world import World

_REFUSALS = (ControlError, ApiError, IllegalMove, Overdrawn)


def carry_out(context: Context, world: World, timer: Timer) -> None:
    """Carry out a due step. If it is refused, record the reason. Call this function inside the transaction in which the
    step's timer fires.
    """
    step = PlannedStep.of(timer)
    too_many = stops.count_step(world, step.scenario) if step.at_once else None
    if too_many is not None:
        stop(world, step.scenario, step.part, step.place, too_many)
    elif step.hand_to is not None:
        _hand_over(context, world, step, step.hand_to)
    elif step.action is not None:
        _act(context, world, step, step.action)


def _act(context: Context, world: World, step: PlannedStep, action: str) -> None:
    # Actions on the world have no target. The `target` of a timeline step is only the scenario's name unless the file
    # specifies a target, which is then in `acts_on`.
    acts_on_world = any(not row.kinds for row in context.actions.rows.get(action, ()))
    target = step.acts_on or (None if acts_on_world or step.of_timeline else step.target)
    cause = shared_cause("rule", step.scenario, step.place)
    try:
        # The inner attempt undoes the writes of a refused action. The outer transaction continues and notes the
        # refusal.
        with world.store.attempt():
            context.actions.carry_out(world, action, target, step.parameters, step.environment, cause)
    except _REFUSALS as refusal:
        note_step(world, "skipped", step, reason=str(getattr(refusal, "message", refusal)))
        return
    stops.record_success(world, step.scenario)
    note_step(world, "done", step)


def _hand_over(context: Context, world: World, step: PlannedStep, successor: str) -> None:
    happening = latest(world, step.acts_on or step.target)
    if happening is None:
        note_step(world, "skipped", step, reason="there is no object to hand over")
        return
    hand_over(context, world, step.scenario, successor, happening, step.part, step.place)


def failed(world: World, timer: Timer, error: Exception) -> None:
    """Record a step that raised an exception. A second similar failure stops the step's scenario.

    Call this inside a transaction.
    """
    step = PlannedStep.of(timer)
    reason = stops.record_failure(world, step, error)
    if reason is not None:
        stop(world, step.scenario, step.part, step.place, reason)
