"""A late pattern behaves like a compiled one, and nothing is compiled before its first use."""

from __future__ import annotations

import re
from copy import deepcopy

import pytest

from simulator.kernel.patterns import compile_late


def test_a_late_pattern_matches_like_a_compiled_one() -> None:
    late = compile_late(r"(?P<name>[a-z]+)=([0-9]+)", re.IGNORECASE)
    found = late.fullmatch("Lamps=12")
    assert found is not None
    assert (found["name"], found[2], late.pattern, late.groups) == ("Lamps", "12", r"(?P<name>[a-z]+)=([0-9]+)", 2)
    assert late.sub("-", "a=1 b=2") == "- -"
    assert compile_late(rb"[0-9]+").findall(b"1 22") == [b"1", b"22"]


def test_an_invalid_late_pattern_is_refused_at_its_first_use() -> None:
    late = compile_late("(")
    with pytest.raises(re.error):
        late.match("")


def test_a_late_pattern_is_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    late = compile_late("once")
    assert late.match("once")
    monkeypatch.setattr(re, "compile", None)
    assert late.match("once")


def test_a_late_pattern_is_copied() -> None:
    assert deepcopy(compile_late("[a-z]")).match("a")
