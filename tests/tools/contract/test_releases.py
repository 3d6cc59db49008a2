"""Comparison of the current contract with the released one: the changelog mentions every broken promise."""

from __future__ import annotations

import copy
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from contracts.generator import releases
from contracts.generator.releases import CONTRACTS, Contract, Published, newest, problems
from simulator.contract.files import contracts_directory
from tests.shipped import committed

TEXT = "# Changes\n\n## {version}\n\n{line}\n\n## 0.9.0\n\n- `*` in an older section names nothing\n"

RELEASED = {
    "openapi/1.0.0.yaml": "aa2b36ee3b3da9d00f77f7ae399b6dfd5d33225be0b2e5da7c2fd6370ccfc88b",
    "openapi/1.4.0.yaml": "24e0c2804ed573e49c6f4505b8f055eb449b90a5cade78cab2349e49b0df7ded",
    "control/1.4.0.yaml": "f784eb2370fffbf51f070131d7ff55f86542093552c49f1153911895c61dd6bf",
}
"""Digest of each file that was released. A release adds a line; no line ever changes."""


@pytest.fixture(scope="module")
def strict() -> dict[str, Any]:
    return committed("openapi.strict.yaml")


@pytest.mark.parametrize("contract", CONTRACTS.values(), ids=str)
def test_changelog_lists_every_change_since_the_release(contract: Contract) -> None:
    directory = contracts_directory()
    newest_release = releases.releases(directory, contract)[-1].relative_to(directory)
    old, new = committed(newest_release.as_posix()), committed(contract.file)
    _, wrong = problems(old, new, releases.changelog(contract))
    assert wrong == []


def test_contract_has_the_version_of_the_changelog(strict: dict[str, Any]) -> None:
    for name in ("openapi.yaml", "openapi.specified.yaml"):
        assert committed(name)["info"]["version"] == releases.version()
    assert strict["info"]["version"] == releases.version()
    control = committed("control.yaml")
    assert control["info"]["version"] == releases.version(releases.CONTROL)


def test_released_files_never_change() -> None:
    folder = contracts_directory() / releases.FOLDER
    assert (folder / releases.SUMS).read_text() == releases.digests(contracts_directory())
    assert {path for path in RELEASED if (folder / path).exists()} == RELEASED.keys()
    for path, digest in RELEASED.items():
        assert sha256((folder / path).read_bytes()).hexdigest() == digest, f"{path} was changed after its release"


def test_release_of_a_version_that_was_released_is_refused(tmp_path: Path) -> None:
    document = {"info": {"version": "1.0.0"}, "paths": {}}
    path = releases.release(tmp_path, releases.CONTROL, document)
    assert (tmp_path / "released" / "SHA256SUMS").read_text().endswith("  control/1.0.0.yaml\n")
    before = path.read_bytes()
    with pytest.raises(Published, match=r"control 1\.0\.0 was released"):
        releases.release(tmp_path, releases.CONTROL, {**document, "paths": {"/more": {}}})
    assert path.read_bytes() == before


def test_releases_are_sorted_by_number(tmp_path: Path) -> None:
    for version in ("1.10.0", "1.9.0", "1.9.1"):
        releases.release(tmp_path, releases.CONTROL, {"info": {"version": version}, "paths": {}})
    assert [path.stem for path in releases.releases(tmp_path, releases.CONTROL)] == ["1.9.0", "1.9.1", "1.10.0"]
    assert releases.released(tmp_path, releases.CONTROL)["info"]["version"] == "1.10.0"


def test_version_without_a_change_is_refused() -> None:
    document = {"info": {"version": "1.0.0"}, "paths": {}}
    _, wrong = problems(document, document, TEXT.format(version="1.1.0", line="- nothing"))
    assert wrong == ["the contract says the same as the released 1.0.0, so the version must not rise to 1.1.0"]


@pytest.fixture
def quotes(strict: dict[str, Any]) -> dict[str, Any]:
    """The part of the contract that makes quotes, as it might have been released at first."""
    cut = {**strict, "webhooks": {}, "paths": {"/quotes": strict["paths"]["/quotes"]}}
    return {**copy.deepcopy(cut), "info": {**strict["info"], "version": "1.0.0"}}


def test_release_contains_every_binding_fact(strict: dict[str, Any]) -> None:
    assert problems(dict(releases.bare(strict)), strict, releases.changelog()) == ([], [])


@pytest.mark.parametrize(
    ("version", "line", "wrong"),
    [
        ("2.0.0", "- `*/destination_amount` is gone", []),
        ("2.0.0", "- nothing", ["the changelog does not name: create_quote 201 /destination_amount: field removed"]),
        ("1.9.0", "- `*/destination_amount` is gone", ["clients of 1.0.0 break: the first number of 1.9.0"]),
        ("1.0.0", "- `*/destination_amount` is gone", ["the contract differs from the released 1.0.0, but"]),
    ],
)
def test_removed_promise_needs_changelog_entry_and_new_version(
    version: str, line: str, wrong: list[str], quotes: dict[str, Any]
) -> None:
    new = copy.deepcopy(quotes)
    quote = new["components"]["schemas"]["RampQuote"]
    del quote["properties"]["destination_amount"]
    quote["required"].remove("destination_amount")
    found, said = problems(quotes, new, TEXT.format(version=version, line=line))
    assert {change.keyword for change in found if change.breaks} == {"field"}
    assert all(any(text.startswith(begin) for text in said) for begin in wrong)
    assert bool(said) == bool(wrong)


def test_release_with_a_new_value_needs_no_major_version(quotes: dict[str, Any]) -> None:
    new = copy.deepcopy(quotes)
    new["components"]["schemas"]["RampQuote"]["properties"]["network"]["enum"].append("lightyear")
    found, said = problems(quotes, new, TEXT.format(version="1.1.0", line="- nothing"))
    assert "widened" in {change.verdict for change in found}
    assert said == []


def test_the_newest_section_is_the_first_with_a_version() -> None:
    assert newest("# Head\n\n## Soon\n\n## 2.1.0 (not released)\n\ntext\n\n## 2.0.0\n\nold") == (
        "2.1.0",
        "\n\ntext\n\n",
    )
    with pytest.raises(ValueError, match="no heading with a version"):
        newest("# Changes\n")
