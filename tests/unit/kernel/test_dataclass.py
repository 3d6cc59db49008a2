"""A class declared with `simulator.kernel.dataclass` behaves like one declared with `dataclasses.dataclass`."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from dataclasses import KW_ONLY, FrozenInstanceError, asdict, field, fields, replace
from typing import Any, ClassVar, Generic, TypeVar

import pytest

from simulator.kernel.dataclass import dataclass

T = TypeVar("T")
OPTIONS = [
    {"frozen": frozen, "slots": slots, "eq": eq, "kw_only": kw_only}
    for frozen in (True, False)
    for slots in (True, False)
    for eq in (True, False)
    for kw_only in (True, False)
]


def _class(declare: Callable[..., Any], **options: bool) -> Any:
    class Base(Generic[T]):
        __slots__ = ()

    class Point(Base[T]):
        x: int
        y: list[int] = field(default_factory=list)
        z: str = "z"
        sum: int = field(init=False, repr=False, compare=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "sum", self.x + len(self.y))

    made: Any = declare(**options)(Point)

    class Named(made[int]):  # type: ignore[misc]  # its base is made while the test runs
        name: str = ""

    return declare(**options)(Named)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_a_class_behaves_as_the_standard_library_makes_it(options: dict[str, bool]) -> None:
    ours, theirs = (_class(declare, **options) for declare in (dataclass, dataclasses.dataclass))
    assert _behaviour(ours) == _behaviour(theirs)
    for _ in range(60):  # from some number of objects on, its `__init__` is a compiled one
        ours(x=1)
    assert _behaviour(ours) == _behaviour(theirs)


def _behaviour(cls: Any) -> list[object]:
    one, same, other = cls(x=1, y=[2]), cls(x=1, y=[2]), cls(x=1, y=[2], name="other")
    seen: list[object] = [one == same, one == other, one == 1, one == object(), one.sum, other.name, cls(x=3).y]
    seen += [asdict(one), asdict(replace(other, x=5)), [f.name for f in fields(cls)]]
    seen += [repr(one).rpartition(".")[2], cls.__match_args__, hasattr(one, "__dict__"), cls(x=1).y is cls(x=1).y]
    copied = copy.copy(other)
    seen += [asdict(copied), copied == other]
    refused = (
        lambda: cls(),
        lambda: cls(x=1, w=2),
        lambda: asdict(cls(1, [2])),
        lambda: asdict(cls(1, [2], "z", "name", "surplus")),
        lambda: isinstance(hash(cls(x=1, y=())), int),
        lambda: setattr(one, "x", 2),
        lambda: delattr(one, "z"),
    )
    for call in refused:
        try:
            seen.append(call())
        except (TypeError, AttributeError) as error:
            seen += [type(error), str(error).rpartition(".")[2] if isinstance(error, TypeError) else ""]
    return [*seen, one.x]


@dataclass(frozen=True, slots=True)
class Row:
    a: int
    b: str = "b"


@dataclass(frozen=True, slots=True)
class Broken:
    a: int
    b: int = field(default_factory=lambda: 1 // 0)


def test_a_row_is_frozen_and_can_be_copied_pickled_and_hashed() -> None:
    row = Row(1)
    changes: tuple[Callable[[], None], ...] = (lambda: setattr(row, "a", 2), lambda: delattr(row, "a"))
    for change in changes:
        with pytest.raises(FrozenInstanceError):
            change()
    assert type(row) is Row
    assert pickle.loads(pickle.dumps(row)) == copy.deepcopy(row) == Row(1, "b")
    assert {row: 1}[Row(1)] == 1


def test_a_failed_constructor_leaves_no_object() -> None:
    with pytest.raises(ZeroDivisionError):
        Broken(1)
    assert Broken(1, 2).b == 2


@pytest.mark.parametrize(
    ("args", "values", "message"),
    [
        ((), {}, "missing 1 required"),
        ((1,), {"a": 2}, "multiple values"),
        ((1, "b", 3), {}, "positional arguments"),
        ((1,), {"c": 3}, "unexpected keyword"),
    ],
)
def test_the_first_object_with_wrong_arguments_is_refused(args: Any, values: Any, message: str) -> None:
    @dataclass(frozen=True, slots=True)
    class Fresh:
        a: int
        b: str = "b"

    with pytest.raises(TypeError, match=message):
        Fresh(*args, **values)


def test_postponed_annotations_are_the_types_of_fields_and_special_ones_are_none() -> None:
    assert [(one.name, one.type) for one in fields(Row)] == [("a", "int"), ("b", "str")]
    assert Row.__annotations__ == {"a": "int", "b": "str"}
    assert [one.name for one in fields(Marked)] == ["a", "b"]
    assert (Marked(1, b=2).b, Marked.shared) == (2, 3)
    with pytest.raises(TypeError):
        Marked(1, 2)  # type: ignore[call-arg]  # b is for keywords only


@dataclass(frozen=True, slots=True)
class Marked:
    a: int
    _: KW_ONLY
    b: int
    shared: ClassVar[int] = 3
