"""Replacing `${…}`: named groups in rules, responses in drives."""

from __future__ import annotations

from typing import Any

import pytest

from simulator.engine.scenario.play.filling import NoValue, fill, fill_groups

ANSWERS = {"offer": {"id": "of_1", "cost": {"total": "5.00"}, "steps": [{"n": 1}], "none": None}}


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("${amount}", "12"),
        ("pay ${amount} of ${amount}", "pay 12 of 12"),
        ({"a": ["${amount}", 5, None]}, {"a": ["12", 5, None]}),
        ("${other}", "${other}"),
        ("$amount {amount}", "$amount {amount}"),
        (None, None),
    ],
)
def test_fill_groups_replaces_only_named_groups(value: Any, shown: Any) -> None:
    assert fill_groups(value, {"amount": "12"}) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("${offer.cost}", {"total": "5.00"}),
        ("${offer.none}", None),
        ("/offers/${offer.id}/confirm?cost=${offer.cost.total}", "/offers/of_1/confirm?cost=5.00"),
        ({"id": ["${offer.id}"], "n": 3}, {"id": ["of_1"], "n": 3}),
    ],
)
def test_fill_replaces_values_and_substrings(value: Any, shown: Any) -> None:
    """A string that is just a placeholder becomes the value itself, of any type."""
    assert fill(value, ANSWERS) == shown


@pytest.mark.parametrize("path", ["offer.nothing", "order.id", "offer.id.more", ""])
def test_fill_without_value_raises(path: str) -> None:
    for text in (f"${{{path}}}", f"/offers/${{{path}}}"):
        with pytest.raises(NoValue) as refused:
            fill({"deep": [text]}, ANSWERS)
        assert str(refused.value) == f"`${{{path}}}` has no value: no earlier response contains it"
