"""Progress of a run that takes long."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

Result = TypeVar("Result", contravariant=True)


class ProgressListener(Generic[Result]):
    """Receives the progress of a run. Every hook defaults to a no-op. Hooks may be called from a thread."""

    def began(self, count: int) -> None:
        """Handle the start: so many tests or rules were found."""

    def planned(self, runs: int, seconds: float, left_out: int) -> None:
        """Handle the plan: how many runs follow, how long they take, how many do not fit into the budget."""

    def noted(self, note: str) -> None:
        """Handle a note that the user should read."""

    def running(self, name: str) -> None:
        """Handle the start of a step."""

    def ended(self, result: Result) -> None:
        """Handle the result of a step."""


SILENT: ProgressListener[Any] = ProgressListener()
