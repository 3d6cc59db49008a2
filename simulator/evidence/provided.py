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
    formulas: Mapping[str, Callable[[Shown], str | None]]
    """Functions by feature name. Each one computes the feature from the response bodies of the steps, by step name.
    None means that the bodies do not determine the feature.
    """
    landmarks: tuple[tuple[str, str], ...]
    """Paths that every account may read, each with a field of the response or of the rows in it. A target without one
    of them is not the service.
    """
    unknown_values: Callable[[Shown, Callable[[str, object], Any]], dict[str, str]]
    """Returns the values of the account that the service does not know, by name, each with the reason. The arguments
    are the values that the user supplied, and a function that returns the body of a POST.
    """
    surroundings: Callable[[Callable[[str], Any]], dict[str, str]]
    """Returns the values that depend on the account. The argument returns the parsed body of a GET response, or None.
    """
    other_data: tuple[Callable[[Callable[[str], Any], Callable[[str, str, Shown], bool]], None], ...]
    """Functions that change the reference data of a world. The first argument returns the body of a GET. The second one
    runs an action on a target.
    """
    read_facts: Callable[[Callable[[str], Any], Callable[[str, object], Any], Shown], Iterator[tuple[str, object]]]
    """Reads the reference data of the account. Yields each part with its name. A part that grows is yielded repeatedly.

    The first argument returns the body of a GET, the second one the body of a POST. Both return None if the response
    says nothing about the account. The third argument contains the parts that are not read again.
    """
    recorded_facts: Callable[
        [Iterator[tuple[str, str, Shown, Any]], Callable[[str], None]], Iterator[tuple[str, object]]
    ]
    """Reads the parts of the reference data that recorded calls show completely, by name.

    The first argument yields the method, path template, query and response of each successful call, in order. The
    second one is called with a line for each part that the calls show incompletely.
    """
    fit_facts: Callable[[Shown], tuple[JsonObject, list[str]]]
    """Returns the facts that differ from the shipped data, in the form that worlds accept, and one line for each fact
    that a world cannot adopt.
    """
    malformed_fact: Callable[[Shown], tuple[str, str] | None]
    """Returns the path of the first fact that is not in the form of an observed file, and the reason."""
    clock: tuple[str, str]
    """A step that needs no permission, and the field of its response with the current time."""
    histories: tuple[tuple[str, ...], ...] = ()
    """Flows that an account may have completed earlier. Each tuple contains the names of the steps."""
