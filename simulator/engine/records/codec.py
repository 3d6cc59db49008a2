"""Lossless conversion of rows to JSON and back. This is the format of world documents (exported worlds).

A value that JSON cannot express becomes an object. The field `$` of this object names the type: a record class,
`decimal`, `tuple`, or (for bytes) `text` or `base64`. Only the classes given to the codec are instantiated, and every
field is checked against its annotation. Reading an untrusted document therefore returns valid rows or raises
`StateError`.

A `Text` is written as its bytes. A `JsonText` or `HeadersText` is written as the object or tuple that it represents.

A renamed class or field keeps its old name in documents, so that old documents stay readable and the format does not
change. The old name is in `saved_as`, which is an attribute of a class and an entry in the metadata of a field. Strings
that used to be saved with a prefix still have this prefix in documents. The metadata `saved_after` contains the prefix.
"""

from __future__ import annotations

import types
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from decimal import Decimal, InvalidOperation
from math import isfinite
from typing import Annotated, Any, Literal, NotRequired, TypeAlias, Union, get_args, get_origin, get_type_hints

from typing_extensions import is_typeddict

from simulator.engine.text.json import headers_of, headers_text, json_text, object_of
from simulator.kernel.dataclass import dataclass
from simulator.kernel.fields import Between, Headers, OneLine, is_one_line
from simulator.kernel.texts import HeadersText, JsonText, Text

TAG = "$"
MAX_DEPTH = 100
_SAVED_AS = "saved_as"
_SAVED_AFTER = "saved_after"

_MAX_DIGITS = 120
_INT64 = range(-(1 << 63), 1 << 63)
_JSON_INTS = range(-(1 << 63), 1 << 64)

Check: TypeAlias = "Callable[[Any], bool]"


class StateError(ValueError):
    """A world document or a saved world cannot be read. The error contains the dotted path and the reason."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"{path or 'the document'}: {why}")
        self.path = path
        self.why = why


@dataclass(frozen=True)
class _Shape:
    """A class and its fields. The mappings are keyed by the name of a field in world documents."""

    make: type[object]
    attributes: Mapping[str, str]
    checks: Mapping[str, Check]
    required: frozenset[str]
    words: Mapping[str, str]
    texts: Mapping[str, Callable[[Any], Text]]


class Codec:
    """Encodes and decodes values made of JSON, Decimal, bytes, tuples and the given dataclasses."""

    def __init__(self, classes: Iterable[type[object]]) -> None:
        self._shapes: dict[str, _Shape] = {}
        self._names: dict[type[object], str] = {}
        for made in classes:
            name = self._names[made] = getattr(made, _SAVED_AS, made.__name__)
            if name in self._shapes:
                raise ValueError(f"two record classes have the name {name}")
            self._shapes[name] = _shape(made)

    @property
    def classes(self) -> tuple[type[object], ...]:
        return tuple(self._names)

    def name_of(self, made: type[object]) -> str:
        """Return the name of a class in world documents. Raise `TypeError` if rows may not contain the class."""
        if made not in self._names:
            raise TypeError(f"rows cannot contain a {made.__name__}")
        return self._names[made]

    def members_of(self, made: type[object]) -> Mapping[str, tuple[str, object, str]]:
        """Return the Python name, annotation and string prefix of each field by its name in world documents."""
        shape, hints = self._shapes[self.name_of(made)], get_type_hints(made, include_extras=True)
        return {name: (own, hints[own], shape.words.get(name, "")) for name, own in shape.attributes.items()}

    def encode(self, value: Any) -> object:
        """Return a value as plain JSON. Raise `TypeError` if rows may not contain the value."""
        kind = type(value)
        if kind is str or value is None or kind is bool:
            return value
        if kind is int:
            return value if value in _INT64 else {TAG: "int", "value": str(value)}
        if kind is dict:
            return self._encode_dict(value)
        if kind is tuple:
            return {TAG: "tuple", "items": [self.encode(item) for item in value]}
        if kind is list:
            return [self.encode(item) for item in value]
        if kind is Decimal:
            return {TAG: "decimal", "value": str(value)}
        if kind is bytes:
            return _encode_bytes(value)
        if kind is Text:
            return _encode_bytes(value.read())
        if kind is JsonText:
            return self._encode_dict(object_of(value))
        if kind is HeadersText:
            return self.encode(headers_of(value))
        if kind is float:
            return value if isfinite(value) else {TAG: "float", "value": repr(value)}
        if kind in self._names:
            name = self._names[kind]
            shape = self._shapes[name]
            made = {TAG: name} | {member: self.encode(getattr(value, own)) for member, own in shape.attributes.items()}
            for member, word in shape.words.items():
                made[member] = self.encode(tuple(word + text for text in getattr(value, shape.attributes[member])))
            return made
        raise TypeError(f"rows cannot contain a {kind.__name__}")

    def _encode_dict(self, value: Mapping[Any, object]) -> object:
        if not all(type(key) is str for key in value):
            raise TypeError("the keys of an object in a row must be strings")
        members = {key: self.encode(item) for key, item in value.items()}
        return members if TAG not in members else {TAG: "object", "members": [list(item) for item in members.items()]}

    def decode(self, value: object, path: str, depth: int = 0) -> Any:
        """Return the decoded value. Raise `StateError` if `encode` cannot have produced the input."""
        if depth > MAX_DEPTH:
            raise StateError(path, f"nested more than {MAX_DEPTH} levels deep")
        if isinstance(value, list):
            return [self.decode(item, f"{path}[{index}]", depth + 1) for index, item in enumerate(value)]
        if not isinstance(value, dict):
            return value
        if TAG not in value:
            return {key: self.decode(item, f"{path}.{key}", depth + 1) for key, item in value.items()}
        name = value[TAG]
        shape = self._shapes.get(name) if isinstance(name, str) else None
        if shape is not None:
            return self._decode_record(shape, value, path, depth)
        if name == "tuple":
            items = _member(value, "items", list, path)
            return tuple(self.decode(item, f"{path}[{index}]", depth + 1) for index, item in enumerate(items))
        if name == "object":
            made = {}
            for member in _member(value, "members", list, path):
                if not (isinstance(member, list) and len(member) == 2 and isinstance(member[0], str)):
                    raise StateError(path, "each item must be a pair of name and value")
                made[member[0]] = self.decode(member[1], f"{path}.{member[0]}", depth + 1)
            return made
        read = _SCALARS.get(name) if isinstance(name, str) else None
        if read is None:
            raise StateError(path, f"unknown class {name!r}")
        text = _member(value, "value", str, path)
        try:
            return read(text)
        except (ValueError, ArithmeticError):
            raise StateError(path, f"not a {name}: {text[:50]!r}") from None

    def _decode_record(self, shape: _Shape, value: dict[str, object], path: str, depth: int) -> object:
        given = {name: self.decode(item, f"{path}.{name}", depth + 1) for name, item in value.items() if name != TAG}
        made = value[TAG]
        for name in sorted(shape.required - given.keys()):
            raise StateError(f"{path}.{name}", f"missing, although a {made} requires it")
        for name, item in given.items():
            check = shape.checks.get(name)
            if check is None:
                raise StateError(f"{path}.{name}", f"a {made} has no such field")
            if not check(item):
                raise StateError(f"{path}.{name}", f"not a valid value of this field of a {made}")
        for name, word in shape.words.items():
            if name in given:
                given[name] = _without(word, given[name], f"{path}.{name}")
        for name, keep in shape.texts.items():
            if name in given:
                given[name] = keep(given[name])
        return shape.make(**{shape.attributes[name]: item for name, item in given.items()})


def _without(word: str, texts: tuple[str, ...], path: str) -> tuple[str, ...]:
    if not all(text.startswith(word) for text in texts):
        raise StateError(path, f"each string must begin with `{word}`")
    return tuple(text.removeprefix(word) for text in texts)


def _member(value: dict[str, object], name: str, kind: type[object], path: str) -> Any:
    member = value.get(name)
    if not isinstance(member, kind) or len(value) != 2:
        raise StateError(path, f"a {value[TAG]} has exactly one field, `{name}`")
    return member


def _encode_bytes(value: bytes) -> object:
    try:
        return {TAG: "text", "value": value.decode()}
    except UnicodeDecodeError:
        return {TAG: "base64", "value": b64encode(value).decode()}


def _read_decimal(text: str) -> Decimal:
    """Parse a decimal string. Raise an error if the number is not finite or has too many digits."""
    if len(text) > 2 * _MAX_DIGITS:
        raise ValueError("too long")
    value = Decimal(text)
    exponent = value.as_tuple().exponent
    if not isinstance(exponent, int) or not -_MAX_DIGITS <= exponent <= _MAX_DIGITS:
        raise InvalidOperation("not a finite number within the supported range")
    return value


def _read_int(text: str) -> int:
    if len(text) > 2 * _MAX_DIGITS:
        raise ValueError("too long")
    return int(text)


_SCALARS: dict[str, Callable[[str], object]] = {
    "decimal": _read_decimal,
    "text": str.encode,
    "base64": lambda text: b64decode(text, validate=True),
    "int": _read_int,
    "float": float,
}


_TEXTS: Mapping[object, Callable[[Any], Text]] = {Text: Text, JsonText: json_text, HeadersText: headers_text}
"""The classes of strings that the kernel can pack (compress together), with functions that create them."""


def texts_of(row: object) -> Iterator[Text]:
    """Yield the `Text` objects that a row contains, or the row itself if it is a `Text`."""
    if isinstance(row, Text):
        yield row
    elif is_dataclass(row):
        yield from (value for one in fields(row) if isinstance(value := getattr(row, one.name), Text))


def classes_in(rows: Iterable[object]) -> tuple[type[object], ...]:
    """Return every record class that rows of these types can contain, at any depth."""
    found: dict[type[object], None] = {}

    def look(hint: object) -> None:
        if is_dataclass(hint) and isinstance(hint, type):
            if hint in found:
                return
            found[hint] = None
        inner = get_type_hints(hint).values() if is_dataclass(hint) or is_typeddict(hint) else get_args(hint)
        for one in inner:
            look(one)

    for row in rows:
        look(row)
    return tuple(found)


def _shape(made: type[object]) -> _Shape:
    if not is_dataclass(made):
        raise TypeError(f"{made.__name__} is not a dataclass")
    words: dict[str, str] = {}
    hints, attributes, checks, required, texts = get_type_hints(made, include_extras=True), {}, {}, set(), {}
    for one in fields(made):
        name = one.metadata.get(_SAVED_AS, one.name)
        attributes[name] = one.name
        checks[name] = checker(hints[one.name])
        if _SAVED_AFTER in one.metadata:
            words[name] = one.metadata[_SAVED_AFTER]
        if hints[one.name] in _TEXTS:
            texts[name] = _TEXTS[hints[one.name]]
        if one.default is MISSING and one.default_factory is MISSING:
            required.add(name)
    return _Shape(made, attributes, checks, frozenset(required), words, texts)


def _texts(value: Any) -> Iterator[str]:
    """Yield the strings in nested tuples."""
    if isinstance(value, tuple):
        for item in value:
            yield from _texts(item)
    else:
        yield value


def is_plain(value: Any) -> bool:
    """Return True if a value is JSON with numbers that fit in 64 bits and strings without lone surrogates."""
    kind = type(value)
    if kind is str:
        return value.isascii() or not any("\ud800" <= character <= "\udfff" for character in value)
    if kind is dict:
        return all(type(key) is str and is_plain(key) and is_plain(item) for key, item in value.items())
    if kind is list:
        return all(map(is_plain, value))
    return value is None or kind is bool or (kind is int and value in _JSON_INTS) or (kind is float and isfinite(value))


def checker(hint: object) -> Check:
    """Return a function that checks values against an annotation. Raise `TypeError` if no record class may have it."""
    origin, arguments = get_origin(hint), get_args(hint)
    if hint is object:
        return lambda value: True
    if hint is Any:
        return is_plain
    if hint is int:
        return lambda value: type(value) is int and value in _JSON_INTS
    if origin is Annotated:
        return _narrowed(checker(arguments[0]), arguments[1:])
    if origin in (types.UnionType, Union):
        checks = [checker(argument) for argument in arguments]
        return lambda value: any(check(value) for check in checks)
    if origin is tuple:
        return _tuple_checker(arguments)
    if origin is list:
        item = checker(arguments[0])
        return lambda value: type(value) is list and all(map(item, value))
    if origin in (dict, Mapping):
        member = checker(arguments[1])
        return lambda value: type(value) is dict and all(map(is_plain, value)) and all(map(member, value.values()))
    if hint is float:
        return lambda value: type(value) in (int, float)
    if hint is Text:
        return lambda value: type(value) is bytes
    if hint is JsonText:
        return lambda value: type(value) is dict and is_plain(value)
    if hint is HeadersText:
        return checker(Headers)
    if hint in (str, bool, bytes, Decimal, types.NoneType):
        return lambda value: type(value) is hint
    if origin is Literal:
        return lambda value: value in arguments
    if is_dataclass(hint):
        return lambda value: isinstance(value, hint)  # type: ignore[arg-type]  # is_dataclass is True of objects, too; a hint is none
    if is_typeddict(hint):
        return _members_checker(hint)
    raise TypeError(f"rows cannot contain {hint!r}")


def _members_checker(shape: Any) -> Check:
    """Return a function that checks a JSON object against a TypedDict and rejects additional fields."""
    checks = {name: checker(hint) for name, hint in get_type_hints(shape).items()}
    # With postponed annotations, `__required_keys__` ignores NotRequired.
    written = get_type_hints(shape, include_extras=True)
    required = {name for name in shape.__required_keys__ if get_origin(written[name]) is not NotRequired}
    return lambda value: (
        type(value) is dict
        and required <= value.keys() <= checks.keys()
        and all(checks[name](member) for name, member in value.items())
    )


def _narrowed(check: Check, narrowings: Sequence[object]) -> Check:
    """Return a check that also tests the constraints of an `Annotated` type."""
    spans = [one for one in narrowings if isinstance(one, Between)]
    one_line = any(isinstance(one, OneLine) for one in narrowings)
    return lambda value: (
        check(value)
        and all(one.first <= value <= one.last for one in spans)
        and (not one_line or all(map(is_one_line, _texts(value))))
    )


def _tuple_checker(arguments: tuple[object, ...]) -> Check:
    if arguments[-1] is ...:
        item = checker(arguments[0])
        return lambda value: type(value) is tuple and all(map(item, value))
    items = [checker(argument) for argument in arguments]
    return lambda value: (
        type(value) is tuple
        and len(value) == len(items)
        and all(check(item) for check, item in zip(items, value, strict=True))
    )
