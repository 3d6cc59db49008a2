"""Whether a `where` can hold: fields that there are, values that they can have, tests that do not exclude each other.

Where a field may exist all the same (a request can carry what nobody reads) the finding is a warning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import TypeAlias

from simulator.engine.rows.vocabulary import Vocabulary
from simulator.engine.scenario.language import field_sets
from simulator.engine.scenario.language.document import Document, Path, shortened
from simulator.engine.scenario.language.field_sets import Sight
from simulator.engine.scenario.language.pattern import compiled
from simulator.engine.scenario.play.matching import CARRIED, texts_of
from simulator.engine.scenario.play.script import CREATED, REQUEST
from simulator.engine.text.globs import can_match

Hint: TypeAlias = "Callable[[str, Iterable[str]], str]"
"""The sentence that names what was probably meant, or ""."""

_FEW = 8
"""So many names or words are listed where none is like the one given."""
_CALL = ("method", "path")
"""What a rule `on: request` looks at besides what the request carries."""


class WhereJudge:
    """Judges one `where` after the other of a document."""

    def __init__(self, document: Document, vocabulary: Vocabulary, hint: Hint) -> None:
        self._vocabulary = vocabulary
        self._document = document
        self._hint = hint
        self._derived_heads = (*CARRIED, *vocabulary.roots)
        """Paths that begin so lead out of the object itself, to what has to be looked for."""

    def of_rule(self, path: Path, where: object, events: list[object]) -> None:
        """The `where` of a rule on these events."""
        if not isinstance(where, dict):
            return
        self._tests(path, where)
        if events and all(event == REQUEST for event in events):
            self._of_request(path, where)
        elif all(isinstance(event, str) and event in (CREATED, *self._vocabulary.events) for event in events):
            self._of_objects(path, where, [str(event) for event in events])

    def of_event(self, path: Path, where: object, event: object) -> None:
        """What is expected of the object of an event."""
        if isinstance(where, dict) and isinstance(event, str) and event in self._vocabulary.events:
            self._tests(path, where)
            self._of_objects(path, where, [event])

    def of_sight(self, path: Path, where: object, sight: Sight, what: str) -> None:
        """What is expected of a resource, an answer or a delivery; nothing of it refuses a file."""
        if not isinstance(where, dict):
            return
        self._tests(path, where)
        for name, wanted in where.items():
            self._look((*path, name), name, wanted, sight, what)

    # --- of what ------------------------------------------------------------------------------------------------

    def _of_objects(self, path: Path, where: Mapping[str, object], events: list[str]) -> None:
        types = texts_of(where.get("type")) if "type" in where else None
        seen = [
            (kind, *one)
            for event in events
            if event != CREATED
            for kind, one in field_sets.of_event(self._vocabulary, event).items()
        ]
        if CREATED in events:
            made = (kind for kind in field_sets.made_silently(self._vocabulary))
            seen += [
                (kind, field_sets.of_kind(self._vocabulary, kind), frozenset[str]())
                for kind in made
                if field_sets.of_kind(self._vocabulary, kind).forms
            ]
        meant = [one for one in seen if types is not None and one[0] in types] or seen
        whole, sight, statuses = Sight(), Sight(), frozenset[str]()
        for _, one, _ in seen:
            whole |= one
        for _, one, words in meant:
            sight |= one if types is None else one.of_types(types)
            statuses |= words
        if not all(words for _, _, words in meant):
            statuses = frozenset()
        named = events[0] if len(events) == 1 else "these events"
        of = f" of {named}" if named != CREATED else " of what is made without an event"
        for name, wanted in where.items():
            place, head = (*path, name), name.partition(".")[0]
            if head in self._derived_heads:
                self._derived(place, name, wanted)
            elif head not in whole.names:
                message = (
                    f"unknown field `{shortened(head)}`{of}{self._hint(head, [*whole.names, *self._derived_heads])}"
                )
                if CREATED in events:
                    self._document.warn(place, message, key=True)
                else:
                    self._document.report(place, message, key=True)
            else:
                about = sight if head in sight.names else whole
                only = statuses if name == "status" and statuses else None
                if name == "type" and (others := self._other_kinds(wanted, [one[0] for one in seen])):
                    message = f"{named} never tells of the type {others}, only of {', '.join(one[0] for one in seen)}"
                    self._document.warn(place, message)
                else:
                    self._look(place, name, wanted, whole if name == "type" else about, named, only)
                if about is whole and types is not None and head not in sight.names:
                    shown = " or ".join(sorted(types))
                    self._document.warn(place, f"no {shown} has a field `{shortened(head)}`", key=True)

    def _of_request(self, path: Path, where: Mapping[str, object]) -> None:
        globs = texts_of(where.get("path")) if "path" in where else None
        method = where.get("method")
        named = method if isinstance(method, str) else None
        for name, wanted in where.items():
            place, (head, _, rest) = (*path, name), name.partition(".")
            if name == "method":
                self._methods(place, wanted, globs)
            elif head in CARRIED and rest:
                carried = field_sets.of_requests(self._vocabulary, named, globs)
                self._look(place, rest, wanted, carried, "what such a request carries")
            elif head in self._derived_heads:
                self._derived(place, name, wanted)
            elif name not in _CALL:
                known = [*_CALL, *(f"{root}.…" for root in ("body", *sorted(self._vocabulary.roots, reverse=True)))]
                hint = self._hint(name, [*_CALL, *self._derived_heads])
                message = f"a request has no `{shortened(name)}`{hint or ': write ' + ', '.join(known)}"
                self._document.warn(place, message, key=True)

    def _methods(self, place: Path, wanted: object, globs: frozenset[str] | None) -> None:
        possible = sorted(
            {
                row.method
                for row in self._vocabulary.operations
                if globs is None or any(can_match(glob, row.path) for glob in globs)
            }
        )
        for one in wanted if isinstance(wanted, list) else [wanted]:
            if possible and isinstance(one, str) and one not in possible:
                hint = self._hint(one.upper(), possible) if one != one.upper() else ""
                message = f"no call that fits has the method `{shortened(one)}` (there is {', '.join(possible)}){hint}"
                self._document.warn(place, message)

    def _derived(self, place: Path, name: str, wanted: object) -> None:
        head, _, rest = name.partition(".")
        if not rest:
            member = next(iter(field_sets.of_root(self._vocabulary, head).names))
            message = f"`{head}` is a whole object; name a member of it, as in `{head}.{member}`"
            self._document.warn(place, message, key=True)
            return
        what = "what the requests carry that make something" if head in CARRIED else f"a {head}"
        self._look(place, rest, wanted, field_sets.of_root(self._vocabulary, head), what)

    def _other_kinds(self, wanted: object, told_of: Iterable[str]) -> str:
        """The kinds that are asked for and that there are, none of which is told of; "" where one is."""
        asked = texts_of(wanted) or frozenset()
        named = self._vocabulary.kinds.keys() & asked
        return "" if named & set(told_of) else " or ".join(sorted(named))

    # --- fields and values --------------------------------------------------------------------------------------

    def _look(
        self, place: Path, name: str, wanted: object, sight: Sight, what: str, only: frozenset[str] | None = None
    ) -> None:
        """Whether there is such a field, and whether it can have such a value."""
        here, above = sight, ""
        if not sight.forms:
            return  # nobody knows what there is
        for part in name.split("."):
            if here.is_open:
                return
            below = here.items if part.isdecimal() else here.names.get(part, Sight())
            if not below.forms:
                where = f"`{above}`" if above else what
                members = here.names or here.items.names
                hint = self._hint(part, members)
                if not hint and above and here.types == {"array"}:
                    hint = f"; it is a list: write `{above}.0`"
                elif not hint and above and not here.names:
                    hint = "; it is a single value"
                elif not hint and len(members) <= _FEW:
                    hint = f" (there is {', '.join(members)})"
                self._document.warn(place, f"there is no `{shortened(part)}` in {where}{hint}", key=True)
                return
            here, above = below, f"{above}.{part}" if above else part
        self._value(place, name, wanted, here, only)

    def _value(self, place: Path, name: str, wanted: object, sight: Sight, only: frozenset[str] | None) -> None:
        words = sight.words if only is None else only & (sight.words or only)
        if isinstance(wanted, Mapping):
            self._tested(place, name, wanted, words)
            return
        for value in wanted if isinstance(wanted, list) else [wanted]:
            if isinstance(value, str) and "${" in value:
                continue
            if isinstance(value, str) and words and value not in words:
                self._document.warn(place, f"`{name}` is never `{shortened(value)}`{self._meant(value, words)}")
            elif isinstance(value, str) and sight.types and sight.types <= {"integer", "number"}:
                self._document.warn(place, f"`{name}` is a number, never a text; write it without quotes")
            elif isinstance(value, str) and sight.types == {"boolean"}:
                self._document.warn(place, f"`{name}` is true or false, never a text")
            elif isinstance(value, bool) and sight.types and "boolean" not in sight.types:
                kind = " or ".join(sorted(sight.types))
                self._document.warn(place, f"`{name}` is never true or false; it is of the type {kind}")
            elif sight.types and sight.types <= {"object", "array"} and value is not None:
                self._document.warn(place, f"`{name}` has members of its own; name one, as in `{name}.…`")

    def _meant(self, value: str, words: frozenset[str]) -> str:
        hint = self._hint(value, sorted(words))
        return hint or (f" (it is {' or '.join(sorted(words))})" if len(words) <= _FEW else "")

    def _tested(self, place: Path, name: str, tests: Mapping[str, object], words: frozenset[str] | None) -> None:
        begins, ends, pattern = tests.get("starts_with"), tests.get("ends_with"), tests.get("matches")
        if not words or not all(one is None or isinstance(one, str) for one in (begins, ends, pattern)):
            return
        fitting = [word for word in words if word.startswith(str(begins or "")) and word.endswith(str(ends or ""))]
        if pattern is not None:
            try:
                search = compiled(str(pattern)).search
            except ValueError:
                return
            fitting = [word for word in fitting if search(word) is not None]
        if not fitting:
            known = ", ".join(sorted(words)) if len(words) <= _FEW else f"{len(words)} words"
            self._document.warn(place, f"`{name}` never passes these tests; it is one of {known}")

    def _tests(self, path: Path, where: Mapping[str, object]) -> None:
        """Tests that nothing passes, whatever the field is."""
        for name, wanted in where.items():
            if wanted == []:
                self._document.warn((*path, name), f"`{name}` is never one of no values: the list is empty")
            if not isinstance(wanted, Mapping):
                continue
            low = max((n for n in map(_number, (wanted.get("gt"), wanted.get("gte"))) if n is not None), default=None)
            high = min((n for n in map(_number, (wanted.get("lt"), wanted.get("lte"))) if n is not None), default=None)
            if low is not None and high is not None:
                open_ended = "gt" in wanted or "lt" in wanted
                if low > high or (low == high and open_ended):
                    self._document.warn((*path, name), f"no number is above {low} and below {high}")
            if wanted.get("exists") is False and set(wanted) - {"exists"}:
                self._document.warn((*path, name), "what does not exist passes no other test")


def _number(value: object) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return Decimal(str(value))
    except ArithmeticError:
        return None
