"""What `${…}` stands for: named groups in rules, answers in drives."""

from __future__ import annotations

from typing import Any

import pytest

from simulator.engine.scenario.play.filling import NoValue, fill, filled

ANSWERS = {"quote": {"id": "qt_1", "fee": {"total": "5.00"}, "steps": [{"n": 1}], "none": None}}


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
def test_a_rule_has_its_named_groups_put_in_and_nothing_else(value: Any, shown: Any) -> None:
    assert filled(value, {"amount": "12"}) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("${quote.fee}", {"total": "5.00"}),
        ("${quote.none}", None),
        ("/quotes/${quote.id}/confirm?fee=${quote.fee.total}", "/quotes/qt_1/confirm?fee=5.00"),
        ({"id": ["${quote.id}"], "n": 3}, {"id": ["qt_1"], "n": 3}),
    ],
)
def test_a_drive_has_answers_put_in_whole_or_as_text(value: Any, shown: Any) -> None:
    """A text that is nothing else becomes the value itself, whatever that is."""
    assert fill(value, ANSWERS) == shown


@pytest.mark.parametrize("path", ["quote.nothing", "order.id", "quote.id.more", ""])
def test_what_no_answer_has_is_no_value(path: str) -> None:
    for text in (f"${{{path}}}", f"/quotes/${{{path}}}"):
        with pytest.raises(NoValue) as refused:
            fill({"deep": [text]}, ANSWERS)
        assert str(refused.value) == f"`${{{path}}}` has no value: no response so far has it"
