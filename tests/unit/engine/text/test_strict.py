"""Unknown names: the suggestion, and the refusal."""

from __future__ import annotations

import pytest

from simulator.engine.rows.error import ApiError
from simulator.engine.text.strict import did_you_mean, nearest, refuse_names

NAMES = ("amount", "amount_currency", "network", "Memo")


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("amuont", "amount"),
        ("NETWORK", "network"),
        ("memo", "Memo"),
        ("network_name", "network"),
        ("zzz", ""),
        ("", ""),
        ("the_network_of_this_payment", "network"),
    ],
)
def test_the_nearest_name_is_meant_where_one_is_near(given: str, meant: str) -> None:
    """A name that is one of the words of the given one comes first."""
    assert nearest(given, NAMES) == meant
    assert did_you_mean(given, NAMES) == (f"; did you mean `{meant}`?" if meant else "")


def test_a_string_too_long_for_a_typo_is_not_compared() -> None:
    assert nearest("x" * 99 + "y", ["x" * 100]) == "x" * 100
    assert nearest("x" * 100 + "y", ["x" * 101]) == ""


def test_an_unknown_name_is_refused_with_the_names_there_are() -> None:
    refuse_names(["amount", "Memo"], NAMES)
    with pytest.raises(ApiError) as refused:
        refuse_names(["amount", "netwrok", "other"], NAMES[:3], "field", "match.")
    assert (refused.value.code, refused.value.param) == ("invalid_parameter", "match.netwrok")
    assert refused.value.message == (
        "There is no field `match.netwrok`; did you mean `network`? "
        "Possible fields: match.amount, match.amount_currency, match.network."
    )
    with pytest.raises(ApiError, match="No field is possible"):
        refuse_names(["amount"], ())
