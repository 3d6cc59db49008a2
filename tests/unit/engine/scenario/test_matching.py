"""Comparing a `where` with values."""

from __future__ import annotations

import time
from typing import Any

import pytest

from simulator.engine.scenario.language.schema import Rule
from simulator.engine.scenario.play.matching import ABSENT, all_hold, conditions, dig, passes


def matches(wanted: Any, value: Any) -> bool:
    Rule.model_validate({"on": "created", "where": {"field": wanted}, "do": []})
    return all_hold(conditions({"field": wanted}), lambda _: value, lambda name: name == "known") is not None


@pytest.mark.parametrize(
    ("wanted", "value", "expected"),
    [
        ("a", "a", True),
        ("a", "A", False),
        ("a", ABSENT, False),
        ("50", "50.00", False),
        (50, "50.00", True),
        (50.5, 50.5, True),
        (50, "many", False),
        (50, ABSENT, False),
        (1, True, False),
        (True, True, True),
        (True, 1, False),
        (True, "true", False),
        (None, None, True),
        (None, ABSENT, True),
        (None, "", False),
        (["a", "b"], "b", True),
        (["a", None], ABSENT, True),
        (["a", "b"], "c", False),
        ([], "a", False),
        ({"starts_with": "+254"}, "+254700", True),
        ({"starts_with": "+254"}, "+255700", False),
        ({"ends_with": "0001"}, "+2540001", True),
        ({"ends_with": "0001"}, "+2540002", False),
        ({"ends_with": "0001"}, 10001, False),
        ({"ends_with": "0001"}, ABSENT, False),
        ({"starts_with": "a", "ends_with": "z"}, "abz", True),
        ({"starts_with": "a", "ends_with": "z"}, "ab", False),
        ({"matches": "^a+$"}, "aaa", True),
        ({"matches": "^a+$"}, "aab", False),
        ({"matches": "a"}, None, False),
        ({"matches": "^sim:.+$"}, "sim:x", True),
        ({"matches": "^sim:.+$"}, "a sim:x", False),
        ({"matches": "^ab*c"}, "acd", True),
        ({"matches": "^ab?c"}, "ac", True),
        ({"matches": "^ab{0}c"}, "ac", True),
        ({"matches": "^a|b"}, "xb", True),
        ({"matches": "(?i)^ab"}, "AB", True),
        ({"gt": 5}, "5.01", True),
        ({"gt": 5}, "5.00", False),
        ({"gte": "5"}, 5, True),
        ({"lt": 5}, "4.99", True),
        ({"lt": 5}, "5", False),
        ({"lte": 5}, 5.0, True),
        ({"gt": 1, "lt": 3}, "2", True),
        ({"gt": 1, "lt": 3}, "3", False),
        ({"gt": 1}, "NaN", False),
        ({"gt": 1}, True, False),
        ({"gt": 1}, ABSENT, False),
        ({"exists": True}, 0, True),
        ({"exists": True}, None, False),
        ({"exists": True}, ABSENT, False),
        ({"exists": False}, ABSENT, True),
        ({"exists": False}, "x", False),
        ({"names_scenario": True}, "known", True),
        ({"names_scenario": False}, "known", False),
        ({"matches": "^s:(?P<name>.*)$", "names_scenario": False}, "s:known", False),
        ({"matches": "^s:(?P<name>.*)$", "names_scenario": False}, "s:nobody", True),
        ({"matches": "^s:(?P<name>.*)$", "names_scenario": False}, "s:", True),
        ({"matches": "^s:(?P<name>.*)$", "names_scenario": False}, "other", False),
    ],
)
def test_a_value_is_compared(wanted: Any, value: Any, expected: bool) -> None:
    assert matches(wanted, value) is expected


def test_paths_reach_into_objects_and_arrays() -> None:
    value = {"a": {"b": [{"c": 1}]}}
    assert dig(value, "a.b.0.c") == 1
    assert dig(value, "a.b.1.c") is ABSENT
    assert dig(value, "a.b.x") is ABSENT
    assert dig(value, "a.c") is ABSENT


def captured(where: Any, shown: dict[str, Any], globs: frozenset[str] = frozenset()) -> dict[str, str] | None:
    """Return the named groups if everything holds."""
    Rule.model_validate({"on": "created", "where": where, "do": []})
    return all_hold(conditions(where, globs), lambda path: shown.get(path, ABSENT), lambda name: False)


def test_all_hold_returns_the_named_groups() -> None:
    where = {"a": {"matches": "(?P<x>.)(?P<y>z)?"}, "b": 1}
    assert captured(where, {"a": "q", "b": 1}) == {"x": "q"}
    assert captured(where, {"a": "q", "b": 2}) is None


def test_later_group_of_the_same_name_wins() -> None:
    where = {"request.a": {"matches": "(?P<x>.)"}, "b": 1, "c": {"matches": "(?P<x>.)"}}
    assert captured(where, {"request.a": "q", "b": 1, "c": "r"}) == {"x": "r"}


def test_own_fields_are_compared_first() -> None:
    looked: list[str] = []

    def look(path: str) -> object:
        looked.append(path)
        return "other" if path == "type" else "a"

    where = {"request.reference": "a", "reader.id": "a", "type": "send", "id": "a"}
    assert all_hold(conditions(where), look, lambda name: False) is None
    assert looked == ["type"]


def test_passes_compares_one_entry() -> None:
    assert passes({"gt": 5}, "6.00")
    assert not passes({"gt": 5}, "5.00")
    assert passes(["x", None], ABSENT)
    assert not passes(["x", None], "y")


def test_globs_match_as_globs() -> None:
    where = {"path": ["/offers/*/confirm", "/shelves"]}
    assert captured(where, {"path": "/offers/q/confirm"}, frozenset({"path"})) == {}
    assert captured(where, {"path": "/offers"}, frozenset({"path"})) is None
    assert captured(where, {"path": "/offers/q/confirm"}) is None


@pytest.mark.parametrize("pattern", ["^(a+)+$", "(a|aa)+$", "(a*)*b", "^(?:a?){30}a{30}$", "(?P<x>a.*a.*a.*)b"])
def test_a_pattern_takes_time_in_proportion_to_the_value(pattern: str) -> None:
    began = time.process_time()
    assert not matches({"matches": pattern}, "a" * 34 + "!")
    assert not matches({"matches": pattern}, "a" * 2**20 + "!")
    assert time.process_time() - began < 1


def test_large_pattern_on_long_value_is_not_searched() -> None:
    began = time.process_time()
    assert matches({"matches": "[ab]*a[ab]{900}c"}, "ab" * 1_000 + "ac")
    assert not matches({"matches": "[ab]*a[ab]{900}c"}, "ab" * 2**19 + "c")
    assert time.process_time() - began < 1


def test_huge_index_in_a_path_finds_nothing() -> None:
    assert dig([1], "9" * 5_000) is ABSENT
