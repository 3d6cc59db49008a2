"""Predefined scenarios: the request field that a rule requires."""

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
