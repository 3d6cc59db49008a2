"""How far an advance of the clock has come, for whoever waits at a terminal: read from the stream beside the call."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from simulator.cli.output import say_passing
from simulator.engine.clients import control as clients


@contextmanager
def shown(client: clients.ControlClient) -> Iterator[None]:
    """Tell on standard error, at a terminal, how far the clock is while the body runs; a quick one tells nothing."""
    if not sys.stderr.isatty():
        yield
        return
    over = threading.Event()
    threading.Thread(target=_follow, args=(client, over), daemon=True).start()
    try:
        yield
    finally:
        over.set()
        say_passing()


def _follow(client: clients.ControlClient, over: threading.Event) -> None:
    try:
        for sort, data in client.stream():
            if over.is_set():
                return
            if sort == "progress":
                say_passing(told(json.loads(data)))
    except (clients.Unreachable, clients.CallRefused, OSError, ValueError):
        return  # the advance itself says what is wrong


def told(progress: Mapping[str, Any]) -> str:
    """Where the clock is, where it goes, and what has happened on the way."""
    goal = f" of {progress['to'][:16]}" if progress["to"] else ""
    return (
        f"{progress['now'][:16]}{goal}: {progress['fired']} timers, {progress['events']} events, "
        f"{progress['deliveries']} deliveries"
    )
