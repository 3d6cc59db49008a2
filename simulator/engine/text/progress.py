"""Progress reports for a long run."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

Result = TypeVar("Result", contravariant=True)


class ProgressListener(Generic[Result]):
    """Receives the progress of a run. By default, every hook does nothing. Hooks may be called from another thread."""

    def began(self, count: int) -> None:
        """Handle the start of the run. `count` is the number of tests or rules that were found."""

    def planned(self, runs: int, seconds: float, left_out: int) -> None:
        """Handle the plan: the number of runs, their duration in seconds, and how many exceed the budget."""

    def noted(self, note: str) -> None:
        """Receive a note for the user."""

    def running(self, name: str) -> None:
        """Called when the step `name` starts."""

    def ended(self, result: Result) -> None:
        """Handle the result of one test run or rule."""


SILENT: ProgressListener[Any] = ProgressListener()
