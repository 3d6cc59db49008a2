"""Performs steps in a world: API requests by the account, and actions by third parties."""

from __future__ import annotations

from typing import Any

from simulator.engine.rows.error import ApiError, ControlError
from simulator.engine.rows.operation import Call
from simulator.engine.scenario.play.filling import NoValue, fill
from simulator.engine.scenario.run import drive
from simulator.engine.server.pipeline import perform
from simulator.engine.server.runtime import Runtime
from simulator.engine.text.json import JsonObject, dumps, loads
from simulator.engine.vocabulary.vocabulary import identity_of
from simulator.kernel.journal import Cause
from simulator.kernel.ledger import Overdrawn
from simulator.kernel.machine import IllegalMove
from simulator.kernel.world import World

NO_SCENARIO = "(trigger)"
"""The name of a scenario that cannot exist. A resource assigned to it is changed only by timers and calls."""

REFUSALS = (ControlError, ApiError, IllegalMove, Overdrawn, NoValue)
"""The errors that a step raises if the service or the state of the world does not allow it."""


class Stepper:
    """Performs steps with the same cause, and saves the responses of named steps. Use it inside a transaction."""

    def __init__(self, runtime: Runtime, world: World, environment: str, cause: Cause) -> None:
        self._runtime, self._world, self._environment, self._cause = runtime, world, environment, cause
        self.answers: JsonObject = {}
        """The responses by the names of their steps."""

    def fill(self, template: Any) -> Any:
        """Replace references with values from the responses of earlier steps."""
        return fill(template, self.answers)

    def do(self, name: str, step: drive.DriveCall | drive.DriveAction) -> Any:
        """Perform a step and return its response. Raise one of `REFUSALS` if it is not allowed."""
        answer = self._request(step) if isinstance(step, drive.DriveCall) else self._act(step)
        if name:
            self.answers[name] = answer
        return answer

    def _request(self, step: drive.DriveCall) -> Any:
        rows, variables = self._runtime.router.find(self.fill(step.path)) or ({}, {})
        operation, call = rows[step.method.upper()], Call(self._world, self._environment, variables)
        body, gates = self.fill(step.body or {}), identity_of(self._world).check_gates
        answer = perform(operation, call, body, cause=self._cause, scenario=NO_SCENARIO, gates=gates)
        return None if answer is None else loads(dumps(answer))

    def _act(self, step: drive.DriveAction) -> Any:
        target, parameters = self.fill(step.target), self.fill(step.parameters)
        actions = self._runtime.simulator.actions
        done = actions.perform(self._world, step.action, target, parameters, self._environment, self._cause)
        return loads(dumps(done.resource))
