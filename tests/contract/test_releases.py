"""The contract of today against the one that was released: no promise is broken unless the changelog says so."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from contracts.generator import releases
from contracts.generator.releases import newest, problems
from simulator.contract.files import contracts_directory, read_document

TEXT = "# Changes\n\n## {version}\n\n{line}\n\n## 0.9.0\n\n- `*` in an older section names nothing\n"


@pytest.fixture(scope="module")
def strict() -> dict[str, Any]:
    return read_document(contracts_directory() / "openapi.strict.yaml")


@pytest.fixture(scope="module")
def released() -> dict[str, Any]:
    return dict(releases.released(contracts_directory()))


@pytest.mark.slow
def test_no_promise_of_the_release_is_broken_unless_the_changelog_names_it(
    released: dict[str, Any], strict: dict[str, Any]
) -> None:
    _, wrong = problems(released, strict, releases.changelog())
    assert wrong == []


@pytest.mark.slow
def test_the_contract_bears_the_version_of_the_changelog(strict: dict[str, Any]) -> None:
    for name in ("openapi.yaml", "openapi.specified.yaml"):
        assert read_document(contracts_directory() / name)["info"]["version"] == releases.version()
    assert strict["info"]["version"] == releases.version()


@pytest.mark.slow
def test_what_is_released_says_all_that_binds(strict: dict[str, Any]) -> None:
    assert problems(dict(releases.bare(strict)), strict, releases.changelog()) == ([], [])  # type: ignore[call-overload]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("version", "line", "wrong"),
    [
        ("2.0.0", "- `*/destination_amount` is gone", []),
        ("2.0.0", "- nothing", ["the changelog does not name: create_quote 201 /destination_amount: field removed"]),
        ("1.9.0", "- `*/destination_amount` is gone", ["promises of 1.0.0 are broken: the first number of 1.9.0"]),
        ("1.0.0", "- `*/destination_amount` is gone", ["the contract differs from the released 1.0.0, but"]),
    ],
)
def test_a_promise_that_goes_has_to_be_named_under_a_greater_version(
    version: str, line: str, wrong: list[str], strict: dict[str, Any]
) -> None:
    old = copy.deepcopy(strict)
    old["info"]["version"] = "1.0.0"
    new = copy.deepcopy(old)
    quote = new["components"]["schemas"]["RampQuote"]
    del quote["properties"]["destination_amount"]
    quote["required"].remove("destination_amount")
    found, said = problems(old, new, TEXT.format(version=version, line=line))
    assert {change.keyword for change in found if change.breaks} == {"field"}
    assert all(any(text.startswith(begin) for text in said) for begin in wrong)
    assert bool(said) == bool(wrong)


def test_the_newest_section_is_the_first_with_a_version() -> None:
    assert newest("# Head\n\n## Soon\n\n## 2.1.0 (not released)\n\ntext\n\n## 2.0.0\n\nold") == (
        "2.1.0",
        "\n\ntext\n\n",
    )
    with pytest.raises(ValueError, match="no heading with a version"):
        newest("# Changes\n")
