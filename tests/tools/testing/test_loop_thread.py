"""Calls that run in a thread of their own."""

from __future__ import annotations

import asyncio

import pytest

from simulator.testing.links.loop_thread import in_thread


class EmptyError(Exception):
    """An error that is falsy, like one that holds a list of problems and has none."""

    def __len__(self) -> int:
        return 0


def _refuse() -> None:
    raise EmptyError


def test_a_thread_hands_over_what_the_call_returns_or_raises() -> None:
    assert asyncio.run(in_thread(lambda: 7)) == 7
    with pytest.raises(EmptyError):
        asyncio.run(in_thread(_refuse))
