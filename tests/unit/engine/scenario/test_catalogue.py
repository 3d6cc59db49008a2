"""Predefined scenarios: the request field and the strings that a rule requires."""

from __future__ import annotations

import pytest

from simulator.engine.scenario.play.catalogue import PreparedRule
from simulator.engine.scenario.play.script import Rule


@pytest.mark.parametrize(
    ("where", "carried"),
    [
        ({"request.reference": "a"}, b'"reference"'),
        ({"type": "buy", "request.payer.phone_number": {"ends_with": "1"}}, b'"payer"'),
        ({"request.reference": None}, b""),
        ({"request.reference": {"exists": False}}, b""),
        ({"type": "buy"}, b""),
    ],
)
def test_request_field_is_the_field_a_rule_requires(where: dict[str, object], carried: bytes) -> None:
    rule = Rule(("created",), where, None, None, (), None)
    assert PreparedRule(0, "rules[0]", "a.yaml:1", rule, frozenset()).request_field == carried


@pytest.mark.parametrize(
    ("wanted", "texts"),
    [
        ("a", (b"a",)),
        ('a"b', (b'a\\"b',)),
        ("Zürich", ()),
        (["a", "b"], ()),
        ({"matches": "^shop:(?P<name>.+)$"}, (b"shop",)),
        ({"matches": "shop"}, ()),
        (5, ()),
        ({"gt": 5}, ()),
        ({"starts_with": "a", "ends_with": "b"}, (b"a", b"b")),
        (None, ()),
        ({"exists": False}, ()),
    ],
)
def test_request_texts_are_parts_of_every_value_that_passes(wanted: object, texts: tuple[bytes, ...]) -> None:
    rule = Rule(("created",), {"type": "buy", "request.reference": wanted}, None, None, (), None)
    assert PreparedRule(0, "rules[0]", "a.yaml:1", rule, frozenset()).request_texts == texts
