"""Copies of frozen rows are equal to copies made with `dataclasses.replace`."""

from __future__ import annotations

import dataclasses
from dataclasses import FrozenInstanceError, dataclass, field
from typing import Any

import pytest

from simulator.kernel.dataclass import _copier, replace


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    id: str
    status: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wide(Base):
    amount: int
    notes: list[str] = field(default_factory=list)

    @property
    def kind(self) -> str:
        return f"wide {self.status}"


@dataclass(frozen=True)
class Open:
    """One without slots."""

    id: str


@dataclass(frozen=True, slots=True)
class Derived:
    """One that makes a field of the others."""

    low: int
    double: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "double", self.low * 2)


ROW = Wide(id="a", status="new", amount=5, notes=["x"])


def test_replace_changes_only_the_named_fields() -> None:
    copied = replace(ROW, status="done", amount=6)
    assert copied == Wide(id="a", status="done", amount=6, notes=["x"]) == dataclasses.replace(copied)
    assert type(copied) is Wide
    assert copied.kind == "wide done"
    assert copied.notes is ROW.notes
    assert Wide(id="a", status="new", amount=5, notes=["x"]) == ROW


def test_a_copy_is_frozen_as_its_original() -> None:
    copied: Any = replace(ROW, status="done")
    with pytest.raises(FrozenInstanceError):
        copied.status = "other"
    with pytest.raises(FrozenInstanceError):
        del copied.status


def test_a_copy_can_be_copied() -> None:
    assert replace(replace(ROW, amount=7), status="done") == Wide(id="a", status="done", amount=7, notes=["x"])


@pytest.mark.parametrize("row", [ROW, Open("a"), Derived(1)])
def test_a_field_that_there_is_not_is_refused(row: Any) -> None:
    with pytest.raises((AttributeError, TypeError)):
        replace(row, other=1)


def test_replace_works_without_slots_and_with_post_init() -> None:
    assert replace(Open("a"), id="b") == Open("b")
    assert replace(Derived(1), low=4).double == 8


@pytest.mark.parametrize(("kind", "name"), [(Base, "copied"), (Wide, "copied"), (Open, "<lambda>")])
def test_rows_with_slots_are_copied_slot_by_slot(kind: Any, name: str) -> None:
    assert _copier(kind).__name__ == name
