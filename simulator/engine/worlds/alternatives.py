"""The assumptions that a world can switch: what is assumed, what could be true instead, and how to find out.

The rows are the provider's (`Provider.alternatives`): of each assumption its id (that of `decisions.yaml` or of an
`assumptions.yaml`), what is assumed of the point that can be switched, the alternatives by name with what each changes,
the question to the real service in words, and the calls that would answer it. Where the rule is, the code asks
`settings.assumes`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from typing_extensions import TypedDict

from simulator.engine.text.strict import did_you_mean
from simulator.kernel.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Switch:
    """An assumption that can be switched; `alternatives` are what each changes, by name, likeliest first.

    `is_example`: it shows how a choice is written.
    """

    id: str
    assumed: str
    alternatives: Mapping[str, str]
    question: str
    call: str
    is_example: bool = False

    def why_not(self, name: str) -> str:
        """What is wrong with a name as an alternative of this assumption; "" when it is one."""
        if name in self.alternatives:
            return ""
        return (
            f"there is no alternative `{name}` of {self.id}{did_you_mean(name, self.alternatives)} "
            f"(there {'are' if len(self.alternatives) > 1 else 'is'} {', '.join(self.alternatives)})"
        )


Switches: TypeAlias = Mapping[str, Switch]
"""By id, in the order of the decisions."""
Alternatives: TypeAlias = Callable[[], Switches]
"""How they are handed on: they are read at the first use."""


class Alternative(TypedDict):
    name: str
    """The name by which a world chooses it."""
    changes: str
    """What is otherwise then."""


class ShownSwitch(TypedDict):
    id: str
    """The id of the assumption, as contracts/assumptions.md has it."""
    assumed: str
    """What is assumed of the point that can be switched."""
    alternatives: list[Alternative]
    """What may be true instead, likeliest first."""
    question: str
    """The question to the real service, in words."""
    call: str
    """The calls to the real sandbox that answer it."""


def shown(switch: Switch) -> ShownSwitch:
    """A row as the list of all shows it."""
    return {
        "id": switch.id,
        "assumed": switch.assumed,
        "alternatives": [{"name": name, "changes": changes} for name, changes in switch.alternatives.items()],
        "question": switch.question,
        "call": switch.call,
    }


def chosen(switches: Switches, given: Iterable[str]) -> tuple[dict[str, str], list[str]]:
    """What `ID=ALTERNATIVE` texts choose, and what is wrong with them, in words for people."""
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
