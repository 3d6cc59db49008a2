"""The data that probes need from a provider."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from simulator.engine.text.json import JsonObject, Shown
from simulator.kernel.dataclass import dataclass


@dataclass(frozen=True)
class Probing:
    """Data for the probes that tell the assumptions of a service from their alternatives."""

    steps: Path
    """The steps that probes consist of, in YAML."""
    flows: Path
    """Flows that the search tries before others, in YAML."""
    probes: Path
    """The computed probes, in JSON."""
    spends: tuple[str, ...]
    """The effects of a step on a real account, least first."""
    free: tuple[str, ...]
    """The effects that need no permission."""
    formulas: Mapping[str, Callable[[Mapping[str, Any]], str | None]]
    """Features that are computed from the bodies by step, by name. None means that the bodies decide nothing."""
    surroundings: Callable[[Callable[[str], Any]], dict[str, str]]
    """Return the values that depend on the account. The argument returns the parsed body of a GET, or None."""
    other_data: tuple[Callable[[Callable[[str], Any], Callable[[str, str, Shown], bool]], None], ...]
    """Each changes the reference data of a world. The arguments read a path, and run an action on a target."""
    read_facts: Callable[[Callable[[str], Any], Callable[[str, object], Any]], Iterator[tuple[str, object]]]
    """Read the reference data of the account: yield its parts by name, each as soon as it is complete.

    The arguments return the body of a GET, and of a POST.
    """
    fit_facts: Callable[[Shown], tuple[JsonObject, list[str]]]
    """Return the facts that differ from the shipped data, in the form that worlds accept, and what does not fit it."""
    clock: tuple[str, str]
    """A step that is allowed without permission, and the field of its response with the present time."""
    histories: tuple[tuple[str, ...], ...] = ()
    """Steps that an account may have made before; each tuple is a flow."""
