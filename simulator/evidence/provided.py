"""The data that a provider supplies for probes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from simulator.engine.text.json import JsonObject, Shown
from simulator.kernel.dataclass import dataclass


@dataclass(frozen=True)
class Probing:
    """Data for the probes that distinguish the assumptions about a service from their alternatives."""

    steps: Path
    """The steps of the probes, in YAML."""
    flows: Path
    """Flows that the search tries first, in YAML."""
    probes: Path
    """The computed probes, in JSON."""
    spends: tuple[str, ...]
    """The effects of a step on a real account, in increasing order."""
    free: tuple[str, ...]
    """The effects that need no permission."""
    formulas: Mapping[str, Callable[[Mapping[str, Any]], str | None]]
    """Functions that compute a feature from the bodies by step, by name. None means that the bodies decide nothing."""
    surroundings: Callable[[Callable[[str], Any]], dict[str, str]]
    """Returns the values that depend on the account.

    The argument returns the parsed body of a GET response, or None.
    """
    other_data: tuple[Callable[[Callable[[str], Any], Callable[[str, str, Shown], bool]], None], ...]
    """Functions that change the reference data of a world. The arguments read a path, and run an action on a target."""
    read_facts: Callable[[Callable[[str], Any], Callable[[str, object], Any]], Iterator[tuple[str, object]]]
    """Read the reference data of the account: yield its parts by name, each as soon as it is complete.

    The arguments return the body of a GET, and of a POST.
    """
    fit_facts: Callable[[Shown], tuple[JsonObject, list[str]]]
    """Returns the facts that differ from the shipped data, in the form that worlds accept, and the facts that do not
    fit.
    """
    clock: tuple[str, str]
    """A step that needs no permission, and the field of its response with the current time."""
    histories: tuple[tuple[str, ...], ...] = ()
    """Steps that an account may have made before. Each tuple is a flow."""
