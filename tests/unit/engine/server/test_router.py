"""Finding rows by path and method: literal segments before variables, and no row for an unknown path."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from simulator.engine.server.http.router import Router


@dataclass(frozen=True)
class Row:
    method: str
    path: str


LIST = Row("GET", "/lamps")
MAKE = Row("POST", "/lamps")
SHOW = Row("GET", "/lamps/{id}")
BROKEN = Row("GET", "/lamps/broken")
MEND = Row("POST", "/lamps/{id}/bulbs/{bulb_id}")
ROUTER = Router((LIST, MAKE, SHOW, BROKEN, MEND))


@pytest.mark.parametrize(
    ("path", "rows", "variables"),
    [
        ("/lamps", {"GET": LIST, "POST": MAKE}, {}),
        ("/lamps/lmp_1", {"GET": SHOW}, {"id": "lmp_1"}),
        ("/lamps/broken", {"GET": BROKEN}, {}),
        ("/lamps/{id}", {"GET": SHOW}, {"id": "{id}"}),
        ("/lamps/lmp_1/bulbs/2", {"POST": MEND}, {"id": "lmp_1", "bulb_id": "2"}),
    ],
)
def test_a_path_has_its_rows_by_method_and_its_variables(
    path: str, rows: dict[str, Row], variables: dict[str, str]
) -> None:
    assert ROUTER.find(path) == (rows, variables)


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/",
        "/lamp",
        "/lamps/",
        "//lamps",
        "/lamps//bulbs/2",
        "/lamps/lmp_1/bulbs",
        "/lamps/lmp_1/bulbs/2/3",
        "lamps",
    ],
)
def test_a_path_that_no_row_has_is_unknown(path: str) -> None:
    """Also one that only leads to the path of a row, and one whose variable would be empty."""
    assert ROUTER.find(path) is None


def test_two_rows_for_one_call_are_refused() -> None:
    """Variables of two names are the same path."""
    with pytest.raises(ValueError, match=r"two rows for GET /lamps/\{name\}"):
        Router((SHOW, Row("GET", "/lamps/{name}")))


def test_a_dead_end_literal_segment_may_match_a_variable() -> None:
    """Only where the router is told to turn back."""
    path = "/lamps/broken/bulbs/2"
    assert ROUTER.find(path) is None
    turning = Router((LIST, MAKE, SHOW, BROKEN, MEND), turns_back=True)
    assert turning.find(path) == ({"POST": MEND}, {"id": "broken", "bulb_id": "2"})
    assert turning.find("/lamps/broken") == ({"GET": BROKEN}, {})
    for unknown in ("", "/lamps/", "/lamps/broken/bulbs", "/lamps/broken/bulbs/", "/lamps//bulbs/2", path + "/3"):
        assert turning.find(unknown) is None
