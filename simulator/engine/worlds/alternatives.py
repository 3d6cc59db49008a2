"""The assumptions that a world can switch: what is assumed, what could be true instead, and how to find out.

The data is `alternatives.json`: of each assumption its id (that of `decisions.yaml` or of an `assumptions.yaml`), what
is assumed of the point that can be switched, the alternatives by name with what each changes, the question to the real
service in words, and the calls that would answer it. Where the rule is, the code asks `settings.assumes`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.resources import files

from simulator.engine.text.json import loads
from simulator.engine.text.strict import did_you_mean
from simulator.kernel.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Switch:
    """An assumption that can be switched; `alternatives` are what each changes, by name, likeliest first."""

    id: str
    assumed: str
    alternatives: Mapping[str, str]
    question: str
    call: str

    def why_not(self, name: str) -> str:
        """What is wrong with a name as an alternative of this assumption; "" when it is one."""
        if name in self.alternatives:
            return ""
        return (
            f"there is no alternative `{name}` of {self.id}{did_you_mean(name, self.alternatives)} "
            f"(there {'are' if len(self.alternatives) > 1 else 'is'} {', '.join(self.alternatives)})"
        )


def _read() -> Mapping[str, Switch]:
    rows = loads(files("simulator.providers.ramp").joinpath("alternatives.json").read_bytes())
    return {row["id"]: Switch(**row) for row in rows}


SWITCHES: Mapping[str, Switch] = _read()
"""By id, in the order of the decisions."""


def shown(switch: Switch) -> Mapping[str, object]:
    """A row as the list of all shows it."""
    return {
        "id": switch.id,
        "assumed": switch.assumed,
        "alternatives": [{"name": name, "changes": changes} for name, changes in switch.alternatives.items()],
        "question": switch.question,
        "call": switch.call,
    }


def chosen(given: Iterable[str]) -> tuple[dict[str, str], list[str]]:
    """What `ID=ALTERNATIVE` texts choose, and what is wrong with them, in words for people."""
    found: dict[str, str] = {}
    problems: list[str] = []
    for text in given:
        identifier, separator, name = text.partition("=")
        switch = SWITCHES.get(identifier)
        if not separator:
            problems.append(f"{text!r} is not written ID=ALTERNATIVE, for example H14=lapses_after_1h")
        elif switch is None:
            hint = did_you_mean(identifier, SWITCHES) or "."
            problems.append(
                f"{text!r}: no assumption {identifier!r} can be switched{hint} `rampsim assumptions` lists them"
            )
        elif why := switch.why_not(name):
            problems.append(f"{text!r}: {why}")
        else:
            found[identifier] = name
    return found, problems
