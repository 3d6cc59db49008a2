"""Whether a glob can match any path of a template, and suggestions if it cannot."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.engine.text.globs import can_match, meant_path

TEMPLATES = ("/offers", "/offers/{id}", "/offers/{id}/confirm", "/auth/token")


@pytest.mark.parametrize(
    "glob",
    ["*", "/*", "/offers", "/o*", "*/confirm", "/offers/*/confirm", "/offers/o_1/confirm", "/[no]ffers", "/offers/???",
     "/offers/[!a]*", "/*/token", "/offers/*/*"],
)  # fmt: skip
def test_a_glob_that_fits_some_path(glob: str) -> None:
    assert any(can_match(glob, template) for template in TEMPLATES)


@pytest.mark.parametrize(
    "glob",
    ["", "offers", "/v1/offers", "/v1/*", "/offers/", "/offer", "/[ab]ffers", "/offers/*/refirm", "/auth/token/*",
     "/offers?", "/[offers", "/offers/[/]"],
)  # fmt: skip
def test_a_glob_that_fits_none(glob: str) -> None:
    assert not any(can_match(glob, template) for template in TEMPLATES)


@given(glob=st.text("/aq*?[]!", max_size=8), middle=st.text("aq!*", min_size=1, max_size=4))
def test_what_fits_a_path_can_match_its_template(glob: str, middle: str) -> None:
    from fnmatch import fnmatchcase

    if fnmatchcase(f"/q/{middle}/a", glob):
        assert can_match(glob, "/q/{id}/a")


@pytest.mark.parametrize(
    ("glob", "meant"),
    [
        ("/v1/offers", "/offers"),
        ("/open/v1/offers/*/confirm", "/offers/*/confirm"),
        ("http://127.0.0.1:8642/v1/auth/token", "/auth/token"),
        ("/v1/*", "/*"),
        ("offers", "/offers"),
        ("/ofers", "/offers"),
        ("/offers/*/confrm", "/offers/*/confirm"),
        ("/zzz", ""),
    ],
)
def test_the_path_that_was_probably_meant(glob: str, meant: str) -> None:
    assert meant_path(glob, TEMPLATES) == meant
