"""The work of an application in the tests' process during one run."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager, nullcontext
from types import CodeType
from typing import Any

from simulator.engine.text.json import JsonObject
from simulator.exploration.runs.tasks import Document
from simulator.exploration.runs.tracing import scenes
from simulator.exploration.runs.tracing.crashing import Tracer
from simulator.exploration.runs.tracing.holding import Holding, may_call
from simulator.exploration.runs.tracing.scenes import Scene
from simulator.exploration.runs.tracing.steps import Steps
from simulator.testing.receiving.loopback import Answer


class Work:
    """The pieces of work of one run, which are traced if one crashes or is held, or if places are recorded. `plan`: an
    `Arming` as JSON. `own`: the code of the test. `drain` and `hook`: see `Holding`.
    """

    def __init__(
        self,
        plan: Document,
        *,
        records: bool = False,
        own: CodeType | None = None,
        drain: Callable[[float], bool] = lambda seconds: True,
        hook: Callable[[], object] | None = None,
    ) -> None:
        crash, hold = plan.get("crash"), plan.get("hold")
        self._holding = Holding(hold, drain, hook) if hold or records else None
        self._tracer = Tracer(crash, own, self._holding) if crash or self._holding else None

    def following(self) -> AbstractContextManager[None]:
        """Trace the threads that start in a block, and the current thread."""
        return nullcontext() if self._tracer is None else self._tracer.following()

    def begin(self, kind: str, event: str = "") -> Scene:
        """Begin the handling of an event, or the call phase of the test."""
        scene = scenes.begin(kind, event)
        if self._holding is not None:
            self._holding.begun(scene)
        return scene

    def end(self, scene: Scene) -> None:
        """End the handling of an event, or the call phase of the test."""
        if self._holding is not None:
            self._holding.ended(scene)

    async def handle(self, event: str, answer: Coroutine[Any, Any, Answer]) -> Answer:
        """Run a coroutine that handles an event."""
        scene = self.begin(scenes.HANDLER, event)
        try:
            if self._holding is None or self._tracer is None:
                return await answer
            return await Steps(self._holding, self._tracer.databases).handle(scene, answer)
        finally:
            self.end(scene)

    def may_call(self, path: str) -> bool:
        """Return False if a control call would wait for a delivery that waits for the current work."""
        return self._holding is None or may_call(self._holding, path)

    def bury(self) -> bool:
        """Roll back the open transactions of an application that has crashed. Return False if it is not traced."""
        if self._tracer is not None:
            self._tracer.databases.roll_back()
        return self._tracer is not None

    def add_to(self, found: JsonObject) -> None:
        """Add the crashes and holds to the evidence, and the places at which they can happen."""
        if self._tracer is not None:
            found |= {"hits": found["hits"] + self._tracer.deaths, "lines": self._tracer.places}
        if self._holding is not None:
            found |= {"hits": found["hits"] + self._holding.times, "holds": self._holding.places}
