"""The toy service `tests/toy` without a socket: a simulator of it, and an application built from the engine alone."""

from __future__ import annotations

from dataclasses import replace

from simulator.engine.control import rows
from simulator.engine.control.app import ControlInterface
from simulator.engine.control.operation import ControlOperation
from simulator.engine.rows.provider import Provider
from simulator.engine.rows.room import Room
from simulator.engine.scenario.files.library import Library as Scenarios
from simulator.engine.server.app import Application
from simulator.engine.server.runtime import Runtime
from simulator.engine.vocabulary.vocabulary import Vocabulary, collected
from simulator.engine.worlds.simulator import Inherited
from simulator.engine.worlds.simulator import Simulator as AnySimulator
from tests.toy import PROVIDER


def library_with(*rooms: Room) -> Provider:
    """The library, with further rooms."""
    return replace(PROVIDER, rooms=(*PROVIDER.rooms, *rooms))


def vocabulary() -> Vocabulary:
    return collected(PROVIDER)


class Simulator(AnySimulator):
    """All worlds of a process, of the library unless another provider is given."""

    def __init__(
        self, provider: Provider = PROVIDER, library: Scenarios | None = None, inherited: Inherited | None = None
    ) -> None:
        super().__init__(provider, library or Scenarios(), inherited or Inherited(scenarios=()))


def control_rows(extra: tuple[ControlOperation, ...] = ()) -> tuple[ControlOperation, ...]:
    """All operations of the library's control API; it has none of its own."""
    return rows.control_rows(PROVIDER.alternatives, (), extra)


def application_of(runtime: Runtime, extra: tuple[ControlOperation, ...] = ()) -> Application:
    """The two APIs for existing worlds, without the pages of tools."""
    return Application(runtime, control=ControlInterface(runtime, control_rows(extra)))
