"""Checks the `where` conditions in a scenario: the fields must exist, the values must be possible, and all tests must
be able to pass together. An unknown field that could exist, as in a request, is only a warning.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress

from simulator.engine.scenario.language import field_sets
from simulator.engine.scenario.language.document import Document, Path, shortened
from simulator.engine.scenario.language.field_sets import FieldSet
from simulator.engine.scenario.language.parts import Tests
from simulator.engine.scenario.language.pattern import compiled
from simulator.engine.scenario.play.matching import CARRIED, number_of, passes, strings_of
from simulator.engine.scenario.play.script import CREATED, REQUEST
from simulator.engine.vocabulary.vocabulary import Vocabulary

_FEW = 8
"""The maximum number of names or values to list if none resembles the given one."""
_CALL = ("method", "path")
"""The fields of a request other than its body."""


class WhereChecker:
    """Checks every `where` in one document."""

    def __init__(self, document: Document, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._document = document
        self._related_heads = (*CARRIED, *vocabulary.roots)
        """The first segments of paths that start outside the object: in its request or in a related resource."""

    def check_tests(self, path: Path, where: object) -> frozenset[str]:
        """Report the entries of a `where` that have no test. Return the names of the groups in its patterns."""
        groups: set[str] = set()
        for name, wanted in (where if isinstance(where, dict) else {}).items():
            if not isinstance(wanted, dict):
                continue
            if not wanted:
                names = ", ".join(Tests.model_fields)
                self._document.report((*path, name), f"`{name}` has no test; write a value or one of {names}")
            pattern = wanted.get("matches")
            if isinstance(pattern, str):
                with suppress(ValueError):
                    groups |= compiled(pattern).groups
        return frozenset(groups)

    def check_rule(self, path: Path, where: object, events: list[object]) -> None:
        """Check the `where` of a rule that listens to `events`."""
        if not isinstance(where, dict):
            return
        self._contradictions(path, where)
        if events and all(event == REQUEST for event in events):
            self._of_request(path, where)
        elif all(isinstance(event, str) and event in (CREATED, *self._vocabulary.events) for event in events):
            self._of_objects(path, where, [str(event) for event in events])

    def check_event(self, path: Path, where: object, event: object) -> None:
        """Check the `where` of an expectation about an event's object."""
        if isinstance(where, dict) and isinstance(event, str) and event in self._vocabulary.events:
            self._contradictions(path, where)
            self._of_objects(path, where, [event])

    def check_fields(self, path: Path, where: object, fields: FieldSet, what: str) -> None:
        """Warn of problems in the `where` of an expectation about a resource, response or delivery."""
        if not isinstance(where, dict):
            return
        self._contradictions(path, where)
        for name, wanted in where.items():
            self._field((*path, name), name, wanted, fields, what)

    # --- objects and requests -----------------------------------------------------------------------------------

    def _of_objects(self, path: Path, where: Mapping[str, object], events: list[str]) -> None:
        types = strings_of(where.get("type")) if "type" in where else None
        seen = list(self._kinds_of(events))
        meant = [one for one in seen if types is not None and one[0] in types] or seen
        every, narrowed, statuses = FieldSet(), FieldSet(), frozenset[str]()
        for _, fields, _ in seen:
            every |= fields
        for _, fields, words in meant:
            narrowed |= fields if types is None else fields.of_types(types)
            statuses |= words
        if not all(words for _, _, words in meant):
            statuses = frozenset()
        named = events[0] if len(events) == 1 else "these events"
        of = f" of {named}" if named != CREATED else " of objects created without an event"
        for name, wanted in where.items():
            place, head = (*path, name), name.partition(".")[0]
            if head in self._related_heads:
                self._related(place, name, wanted)
            elif head not in every.names:
                hint = self._document.hint(head, [*every.names, *self._related_heads])
                message = f"unknown field `{shortened(head)}`{of}{hint}"
                (self._document.warn if CREATED in events else self._document.report)(place, message, key=True)
            elif name == "type":
                self._type(place, wanted, every, named, [kind for kind, _, _ in seen])
            else:
                only = statuses if name == "status" and statuses else None
                self._field(place, name, wanted, narrowed if head in narrowed.names else every, named, only)
                if types is not None and head not in narrowed.names:
                    message = f"the field `{shortened(head)}` does not exist in {' or '.join(sorted(types))}"
                    self._document.warn(place, message, key=True)

    def _kinds_of(self, events: list[str]) -> Iterable[tuple[str, FieldSet, frozenset[str]]]:
        """Yield the possible kinds of the objects of some events, with the fields and possible statuses of each."""
        for event in events:
            if event != CREATED:
                for kind, (fields, statuses) in field_sets.of_event(self._vocabulary, event).items():
                    yield kind, fields, statuses
        if CREATED in events:
            for kind in field_sets.kinds_created_silently(self._vocabulary):
                fields = field_sets.of_kind(self._vocabulary, kind)
                if fields.variants:
                    yield kind, fields, frozenset()

    def _type(self, place: Path, wanted: object, fields: FieldSet, named: str, kinds: list[str]) -> None:
        """Check that the object of an event can have the type that a `where` requires."""
        known = self._vocabulary.kinds.keys() & (strings_of(wanted) or frozenset())
        if known and not known & set(kinds):
            others = f"{' or '.join(sorted(known))}; it applies only to {', '.join(kinds)}"
            self._document.warn(place, f"{named} never applies to the type {others}")
        else:
            self._field(place, "type", wanted, fields, named)

    def _of_request(self, path: Path, where: Mapping[str, object]) -> None:
        globs = strings_of(where.get("path")) if "path" in where else None
        method = where.get("method")
        named = method if isinstance(method, str) else None
        for name, wanted in where.items():
            place, (head, _, rest) = (*path, name), name.partition(".")
            if name == "method":
                self._methods(place, wanted, globs)
            elif head in CARRIED and rest:
                carried = field_sets.of_requests(self._vocabulary, named, globs)
                self._field(place, rest, wanted, carried, "the body of such a request")
            elif head in self._related_heads:
                self._related(place, name, wanted)
            elif name not in _CALL:
                known = [*_CALL, *(f"{root}.…" for root in ("body", *sorted(self._vocabulary.roots, reverse=True)))]
                hint = self._document.hint(name, [*_CALL, *self._related_heads])
                message = f"a request has no field `{shortened(name)}`{hint or ': write ' + ', '.join(known)}"
                self._document.warn(place, message, key=True)

    def _methods(self, place: Path, wanted: object, globs: frozenset[str] | None) -> None:
        possible = sorted({row.method for row in field_sets.operations_for(self._vocabulary, None, globs)})
        for one in wanted if isinstance(wanted, list) else [wanted]:
            if possible and isinstance(one, str) and one not in possible:
                hint = self._document.hint(one.upper(), possible) if one != one.upper() else ""
                message = f"no matching call has the method `{shortened(one)}` (possible: {', '.join(possible)}){hint}"
                self._document.warn(place, message)

    def _related(self, place: Path, name: str, wanted: object) -> None:
        head, _, rest = name.partition(".")
        if not rest:
            field = next(iter(field_sets.of_root(self._vocabulary, head).names))
            message = f"`{head}` is an object; name a field of it, as in `{head}.{field}`"
            self._document.warn(place, message, key=True)
            return
        what = "the body of any creating request" if head in CARRIED else f"a {head}"
        self._field(place, rest, wanted, field_sets.of_root(self._vocabulary, head), what)

    # --- fields and values --------------------------------------------------------------------------------------

    def _field(
        self, place: Path, name: str, wanted: object, fields: FieldSet, what: str, only: frozenset[str] | None = None
    ) -> None:
        """Check that a field exists and can have the value `wanted`, which must be in `only` if this is given."""
        here, above = fields, ""
        if not fields.variants:
            return  # The fields are unknown.
        for part in name.split("."):
            if here.is_open:
                return
            below = here.items if part.isdecimal() else here.names.get(part, FieldSet())
            if not below.variants:
                where = f"`{above}`" if above else what
                names = here.names or here.items.names
                hint = self._document.hint(part, names)
                if not hint and above and here.types == {"array"}:
                    hint = f"; it is a list: write `{above}.0`"
                elif not hint and above and not here.names:
                    hint = "; it is a single value"
                elif not hint and len(names) <= _FEW:
                    hint = f" (it has {', '.join(names)})"
                self._document.warn(place, f"there is no field `{shortened(part)}` in {where}{hint}", key=True)
                return
            here, above = below, f"{above}.{part}" if above else part
        self._value(place, name, wanted, here, only)

    def _value(self, place: Path, name: str, wanted: object, fields: FieldSet, only: frozenset[str] | None) -> None:
        words = fields.enum if only is None else only & (fields.enum or only)
        if isinstance(wanted, Mapping):
            self._passing(place, name, wanted, words)
            return
        for value in wanted if isinstance(wanted, list) else [wanted]:
            if isinstance(value, str) and "${" in value:
                continue
            if isinstance(value, str) and words and value not in words:
                self._document.warn(place, f"`{name}` is never `{shortened(value)}`{self._meant(value, words)}")
            elif isinstance(value, str) and fields.types and fields.types <= {"integer", "number"}:
                self._document.warn(place, f"`{name}` is a number, not a string; write it without quotes")
            elif isinstance(value, str) and fields.types == {"boolean"}:
                self._document.warn(place, f"`{name}` is true or false, not a string")
            elif isinstance(value, bool) and fields.types and "boolean" not in fields.types:
                kind = " or ".join(sorted(fields.types))
                self._document.warn(place, f"`{name}` is not a boolean; its type is {kind}")
            elif fields.types and fields.types <= {"object", "array"} and value is not None:
                self._document.warn(place, f"`{name}` has fields of its own; compare one of them, as in `{name}.…`")

    def _meant(self, value: str, words: frozenset[str]) -> str:
        hint = self._document.hint(value, sorted(words))
        return hint or (f" (possible: {', '.join(sorted(words))})" if len(words) <= _FEW else "")

    def _passing(self, place: Path, name: str, tests: Mapping[str, object], words: frozenset[str] | None) -> None:
        """Warn if no possible value (in `words`) passes the tests `starts_with`, `ends_with` and `matches`."""
        given = {test: tests[test] for test in ("starts_with", "ends_with", "matches") if test in tests}
        try:
            if not words or any(passes(given, word) for word in words):
                return
        except (TypeError, ValueError):
            return  # The models report an invalid test.
        known = ", ".join(sorted(words)) if len(words) <= _FEW else f"{len(words)} values"
        self._document.warn(place, f"no value of `{name}` passes these tests; possible values: {known}")

    def _contradictions(self, path: Path, where: Mapping[str, object]) -> None:
        """Warn of tests that contradict each other, so that no value can pass them."""
        for name, wanted in where.items():
            if wanted == []:
                self._document.warn((*path, name), f"no value can match, because the list of `{name}` is empty")
            if not isinstance(wanted, Mapping):
                continue
            lows, highs = (
                [number for test in tests if (number := number_of(wanted.get(test))) is not None]
                for tests in (("gt", "gte"), ("lt", "lte"))
            )
            if lows and highs:
                low, high = max(lows), min(highs)
                if low > high or (low == high and ("gt" in wanted or "lt" in wanted)):
                    self._document.warn((*path, name), f"no number is greater than {low} and less than {high}")
            if wanted.get("exists") is False and set(wanted) - {"exists"}:
                message = f"requires that `{name}` is missing or null, so the other conditions never match"
                self._document.warn((*path, name), f"`exists: false` {message}")
