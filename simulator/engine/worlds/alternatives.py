"""The assumptions for which a world can select an alternative. Code calls `settings.assumes` to find out its choice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, TypeAlias

from typing_extensions import TypedDict

from simulator.engine.text.strict import did_you_mean
from simulator.kernel.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Switch:
    """An assumption for which a world can select an alternative."""

    id: str
    """The assumption's id in `decisions.yaml` or an `assumptions.yaml`."""
    assumed: str
    """The assumed behaviour."""
    alternatives: Mapping[str, str]
    """The effect of each alternative, by alternative name, likeliest first."""
    question: str
    """The question to ask the operator of the real service."""
    call: str
    """The requests to the real service that would answer the question."""
    is_example: bool = False
    """True if error messages use this assumption as an example."""

    def why_not(self, name: str) -> str:
        """Return the reason why a name is not an alternative for this assumption, or "" if it is one."""
        if name in self.alternatives:
            return ""
        return (
            f"there is no alternative `{name}` of {self.id}{did_you_mean(name, self.alternatives)} "
            f"(there {'are' if len(self.alternatives) > 1 else 'is'} {', '.join(self.alternatives)})"
        )


class Observation(NamedTuple):
    """The observed behaviour of the real service for one assumption."""

    alternative: str | None
    """The alternative that the service uses, or None if it behaves as assumed."""
    date: str


Switches: TypeAlias = Mapping[str, Switch]
"""The assumptions that have alternatives, by id, in decision order."""
Alternatives: TypeAlias = Callable[[], Switches]
"""A function that loads the assumptions that have alternatives. They are loaded on first use."""


class Alternative(TypedDict):
    name: str
    """The name with which a world selects it."""
    changes: str
    """The difference from the assumed behaviour."""


class ShownSwitch(TypedDict):
    id: str
    """The id of the assumption, as in contracts/assumptions.md."""
    assumed: str
    """The assumed behaviour."""
    alternatives: list[Alternative]
    """The alternatives, the likeliest first."""
    question: str
    """The question to ask the real service."""
    call: str
    """The calls to the real sandbox that would answer the question."""


def shown(switch: Switch) -> ShownSwitch:
    """Return an assumption and its alternatives as an entry in a list response."""
    return {
        "id": switch.id,
        "assumed": switch.assumed,
        "alternatives": [{"name": name, "changes": changes} for name, changes in switch.alternatives.items()],
        "question": switch.question,
        "call": switch.call,
    }


def chosen(switches: Switches, given: Iterable[str]) -> tuple[dict[str, str], list[str]]:
    """Parse `ID=ALTERNATIVE` strings. Return the alternatives by assumption id, and the problems found."""
    found: dict[str, str] = {}
    problems: list[str] = []
    for text in given:
        identifier, separator, name = text.partition("=")
        switch = switches.get(identifier)
        if not separator:
            problems.append(f"{text!r} is not written ID=ALTERNATIVE{_example(switches)}")
        elif switch is None:
            hint = did_you_mean(identifier, switches) or "."
            problems.append(
                f"{text!r}: no assumption {identifier!r} can be switched{hint} `rampsim assumptions` lists them"
            )
        elif why := switch.why_not(name):
            problems.append(f"{text!r}: {why}")
        else:
            found[identifier] = name
    return found, problems


def _example(switches: Switches) -> str:
    shown = (f", for example {one.id}={next(iter(one.alternatives))}" for one in switches.values() if one.is_example)
    return next(shown, "")
