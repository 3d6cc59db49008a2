"""The contents of the reference page.

Every named schema appears once: where it is first used, or at the end. The script of the page also shows it in other
places, and translates the curl samples to other languages. Without scripts, links lead to it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, TypeAlias, TypeVar

from contracts.generator.reference_page.fields import Field, Part, Reader
from contracts.generator.reference_page.samples import JSON, Sample, first_example, one_line, samples
from simulator.contract.files import operations_of
from simulator.engine.text.json import Shown
from simulator.kernel.clock import parse_timestamp
from simulator.kernel.dataclass import dataclass

_EVERYWHERE = 0.9
"""A code of at least this share of all operations is described once."""
_MANY_LISTS = 8
"""A query parameter that at least this many operations share is described once."""
_OF_ENVELOPES = {"type": "What happened: one of the types below.", "created_at": "When it happened."}
"""Descriptions of fields of all events that the contract describes per event."""
_WORTH_IT = 2
"""At least this many equal fields of two schemas, or values of two lists, are described once."""
_COMMON_HEADERS = ("Idempotency-Key",)
_Member = TypeVar("_Member", Field, tuple[str, str])
_Split: TypeAlias = "tuple[tuple[Shared, ...], tuple[_Member, ...]]"


@dataclass(frozen=True)
class Code:
    """An error code of an operation. `scenario` shows it, or is empty."""

    name: str
    cause: str
    is_assumed: bool
    basis: str
    scenario: str = ""


@dataclass(frozen=True)
class Content:
    """The body of a request or response: its schemas, and its fields if they are described here."""

    kind: str = ""
    name: str = ""
    fields: tuple[Field, ...] = ()
    parts: tuple[Part, ...] = ()
    example: str = ""
    page_of: Field | None = None


@dataclass(frozen=True)
class Answer:
    status: str
    text: str
    is_assumed: bool
    basis: str
    content: Content
    leads_to: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Described:
    """An operation as the page tells it."""

    name: str
    method: str
    path: str
    tag: str
    summary: str
    text: str
    is_assumed: bool
    basis: str
    places: tuple[tuple[str, tuple[Field, ...]], ...]
    as_in_lists: Field | None
    body: Content
    body_is_optional: bool
    answers: tuple[Answer, ...]
    codes: tuple[tuple[str, tuple[Code, ...]], ...]
    refusals_shown_by: str
    sample: Sample


@dataclass(frozen=True)
class Event:
    """An event: when it is sent, what its object is, an example of it, or the event whose example is `like` it.

    Alike are two whose objects differ in one member at most; what that means stands among the fields.
    """

    name: str
    summary: str
    text: str
    scenario: str
    object: Field
    envelope: str
    timestamp: int
    like: str


@dataclass(frozen=True)
class Shared:
    """The names of fields or values that are described at `home`."""

    home: str
    names: tuple[str, ...]


@dataclass(frozen=True)
class Place:
    """The location of the meanings of a list of values: here, or at `id` (empty if they have no meanings).

    Some of those described here may be `shared`; `values` are the others.
    """

    stands_here: bool
    id: str
    shared: tuple[Shared, ...] = ()
    values: tuple[tuple[str, str], ...] = ()


@dataclass
class Page:
    """The contents of the page. `evidence` is `contracts/reference.json`: scenarios for each part, and assumptions."""

    document: Shown
    evidence: Shown
    placed: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.reader = Reader(self.document)
        self._samples = samples(self.document, self.reader)
        self._codes = self._all_codes()
        self._values: dict[tuple[tuple[str, str], ...], str] = {}
        self._told: dict[tuple[str, bool], frozenset[Field]] = {}
        self._exampled: dict[str, frozenset[str]] = {}
        self.everywhere = self._codes_everywhere()
        self.of_lists = self._parameters_of_lists()

    def operations(self) -> list[Described]:
        return [self._operation(*row) for row in operations_of(self.document)]

    def events(self) -> list[Event]:
        """Return all events, without the last sentence that their descriptions share."""
        found = [self._event(name, item["post"]) for name, item in self.document["webhooks"].items()]
        if len({one.text.rpartition(". ")[2] for one in found}) == 1:
            return [replace(one, text=one.text.rpartition(". ")[0] + ".") for one in found]
        return found

    def envelope(self) -> tuple[Field, ...]:
        """Return the fields that all events share, without the object."""
        schema = _event_schema(next(iter(self.document["webhooks"].values()))["post"])
        members = (member for member in self.reader.members(schema) if member.name != "data")
        return tuple(replace(one, text=one.text or _OF_ENVELOPES[one.name], values=()) for one in members)

    def shared(self, name: str, fields: tuple[Field, ...], sent: bool) -> _Split[Field]:
        """Split the fields of a schema into fields that another schema describes already, and the others."""
        told = {schema: known for (schema, way), known in self._told.items() if way == sent and schema != name}
        if name:
            self._told[name, sent] = frozenset(fields)
        return _told_before({one: one.name for one in fields}, told if name else {})

    def values(self, values: tuple[tuple[str, str], ...]) -> Place:
        """Return the location of the meanings of values: their first use."""
        if not any(meaning for _, meaning in values):
            return Place(stands_here=False, id="")
        if values in self._values:
            return Place(stands_here=False, id=self._values[values])
        told = {place: frozenset(known) for known, place in self._values.items()}
        self._values[values] = own = f"v-{len(self._values) + 1}"
        return Place(True, own, *_told_before({one: one[0] for one in values}, told))

    def page_fields(self) -> tuple[Field, ...]:
        """The fields of every list."""
        contents = (
            self.reader.field("", answer["content"][JSON]["schema"], is_required=True)
            for _, _, operation in operations_of(self.document)
            for answer in operation["responses"].values()
            if "content" in answer
        )
        for content in contents:
            if content.parts:
                content = replace(
                    content, fields=self.reader.members({"$ref": f"#/components/schemas/{content.parts[0].name}"})
                )
            if _is_page(content):
                return tuple(
                    replace(one, text="The records.", parts=(), fields=()) if one.name == "data" else one
                    for one in content.fields
                )
        return ()

    def codes(self) -> list[tuple[Code, str, tuple[str, ...]]]:
        """Every code with its status and the scenarios that show it."""
        shown: Mapping[str, Sequence[str]] = self.evidence["codes"]
        return [(code, status, tuple(shown.get(name, ()))) for name, (code, status, _) in sorted(self._codes.items())]

    def schemas(self) -> Iterator[tuple[str, Field]]:
        """The schemas that are objects or choices and stand nowhere above, one after another."""
        for name, schema in self.document["components"]["schemas"].items():
            whole = self.reader.field(name, schema)
            if self.reader.is_shared(name) and name not in self.placed:
                yield name, whole

    def _operation(self, method: str, path: str, operation: Shown) -> Described:
        name = operation["operationId"]
        parameters = [self.reader.follow(parameter) for parameter in operation.get("parameters", ())]
        places = {
            place: tuple(self._parameter(one) for one in parameters if one["in"] == place)
            for place in ("path", "query", "header")
        }
        places["header"] = tuple(one for one in places["header"] if one.name not in _COMMON_HEADERS)
        as_in_lists = [one for one in places["query"] if _in_words(one) in self.of_lists]
        places["query"] = tuple(one for one in places["query"] if one not in as_in_lists)
        body = operation.get("requestBody", {})
        refusals = tuple(self._refusals(name, operation))
        return Described(
            name,
            method,
            path,
            operation["tags"][0],
            operation["summary"],
            operation.get("description", ""),
            operation["x-provenance"] == "assumed",
            operation.get("x-basis", ""),
            tuple((place, fields) for place, fields in places.items() if fields),
            as_in_lists[0] if as_in_lists else None,
            self._content(body.get("content", {})),
            not body.get("required", True),
            tuple(self._answers(operation)),
            refusals,
            _most_frequent(code.scenario for _, codes in refusals for code in codes if code.scenario),
            self._samples[name],
        )

    def _parameter(self, parameter: Shown) -> Field:
        schema = {
            **parameter["schema"],
            **{
                word: parameter[word]
                for word in ("description", "x-provenance", "x-basis", "x-assumed", "x-assumed-basis")
                if word in parameter
            },
        }
        return self.reader.field(parameter["name"], schema, is_required=parameter.get("required", False))

    def _answers(self, operation: Shown) -> Iterator[Answer]:
        for status, response in sorted(operation["responses"].items()):
            if status >= "4":
                continue
            response = self.reader.follow(response)
            yield Answer(
                status,
                response["description"],
                response.get("x-provenance") == "assumed",
                response.get("x-basis", ""),
                self._content(response.get("content", {})),
                tuple((name, link["operationId"]) for name, link in response.get("links", {}).items()),
            )

    def _refusals(self, name: str, operation: Shown) -> Iterator[tuple[str, tuple[Code, ...]]]:
        """By status what this operation may be refused with, but what any may be."""
        shown: Mapping[str, str] = self.evidence["refusals"].get(name, {})
        for status, response in sorted(operation["responses"].items()):
            codes = tuple(
                _code(code, about, shown.get(code, ""))
                for code, about in self._codes_of(response).items()
                if code not in self.everywhere
            )
            if codes:
                yield status, codes

    def _codes_of(self, response: Shown) -> Shown:
        found: Shown = self.reader.follow(response).get("x-codes", {})
        return found

    def _all_codes(self) -> dict[str, tuple[Code, str, list[str]]]:
        found: dict[str, tuple[Code, str, list[str]]] = {}
        for _, _, operation in operations_of(self.document):
            for status, response in operation["responses"].items():
                for name, about in self._codes_of(response).items():
                    entry = found.setdefault(name, (_code(name, about), status, []))
                    if about["cause"] not in entry[0].cause:
                        found[name] = entry = (
                            replace(entry[0], cause=f"{entry[0].cause}; {about['cause']}"),
                            *entry[1:],
                        )
                    if operation["operationId"] not in entry[2]:
                        entry[2].append(operation["operationId"])
        return found

    def _parameters_of_lists(self) -> dict[Field, None]:
        """The query parameters that many operations have in the same words, in their order."""
        counts = Counter(
            _in_words(self._parameter(parameter))
            for _, _, operation in operations_of(self.document)
            for parameter in map(self.reader.follow, operation.get("parameters", ()))
            if parameter["in"] == "query"
        )
        return {one: None for one, count in counts.items() if count >= _MANY_LISTS}

    def _codes_everywhere(self) -> tuple[str, ...]:
        count = len(list(operations_of(self.document)))
        return tuple(code for code, (_, _, by) in self._codes.items() if len(by) >= _EVERYWHERE * count)

    def _content(self, content: Shown) -> Content:
        """Return the body of a request or response, with fields and an example at their first use."""
        schema = content.get(JSON, {}).get("schema")
        if schema is None:
            return Content()
        whole = self.reader.field("", schema)
        name = schema.get("$ref", "").rpartition("/")[2]
        if name in self.placed:
            return Content(whole.kind, "", (), whole.parts)
        example = _shortened(first_example(content))
        if name:
            self.placed.add(name)
            whole = self.reader.field("", self.document["components"]["schemas"][name])
        page_of = next((one for one in whole.fields if one.name == "data"), None) if _is_page(whole) else None
        if page_of is not None and {part.name for part in page_of.parts} & self.placed:
            example = None
        return Content(
            whole.kind, name, whole.fields, whole.parts, "" if example is None else one_line(example), page_of
        )

    def _event(self, name: str, operation: Shown) -> Event:
        members = {member.name: member for member in self.reader.members(_event_schema(operation))}
        data = {member.name: member for member in members["data"].fields}
        if not data:
            part = self.document["components"]["schemas"][members["data"].parts[0].name]
            data = {member.name: member for member in self.reader.members(part)}
        envelope = first_example(operation["requestBody"]["content"])
        shown = frozenset(envelope["data"]["object"])
        like = next((one for one, known in self._exampled.items() if len(known ^ shown) <= 1), name)
        self._exampled.setdefault(like, shown)
        return Event(
            name,
            operation["summary"],
            operation.get("description", ""),
            self.evidence["events"].get(name, ""),
            data["object"],
            one_line(envelope) if like == name else "",
            parse_timestamp(envelope["created_at"]),
            like,
        )


def _in_words(parameter: Field) -> Field:
    """A parameter whatever it rests on: that of a list whose parameters are assumed reads like all others."""
    return replace(parameter, is_assumed=False, basis="")


def _shortened(example: Any) -> Any:
    """An example in which every list has its first member alone."""
    if isinstance(example, dict):
        return {name: _shortened(member) for name, member in example.items()}
    return [_shortened(member) for member in example[:1]] if isinstance(example, list) else example


def _told_before(members: Mapping[_Member, str], told: Mapping[str, frozenset[_Member]]) -> _Split[_Member]:
    """Return where these members are described already, the largest group first, and the remaining members."""
    found, left = [], dict(members)
    while told:
        home = max(told, key=lambda place: len(told[place] & left.keys()))
        same = [member for member in left if member in told[home]]
        if len(same) < _WORTH_IT:
            break
        found.append(Shared(home, tuple(left.pop(member) for member in same)))
    return tuple(found), tuple(left)


def _most_frequent(names: Iterable[str]) -> str:
    return max((count, name) for name, count in (("", 0), *Counter(names).items()))[1]


def _is_page(content: Field) -> bool:
    """Whether an answer is a page of records."""
    return [one.name for one in content.fields] == ["data", "pagination"]


def _code(name: str, about: Shown, scenario: str = "") -> Code:
    return Code(name, about["cause"], about.get("x-provenance") == "assumed", about.get("x-basis", ""), scenario)


def _event_schema(operation: Shown) -> Shown:
    schema: Shown = operation["requestBody"]["content"][JSON]["schema"]
    return schema
