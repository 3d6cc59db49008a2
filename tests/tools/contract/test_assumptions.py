"""Assumptions: the kind and text of each one, and the places where the contract cites it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from contracts.generator import named
from contracts.generator.assumptions import all_assumptions, docs_page, page
from contracts.generator.named import MARK, at_events, at_operations
from contracts.generator.openapi import operations
from contracts.generator.provenance import bases_in
from tests.shipped import committed

ENTRIES = all_assumptions()
OF_THE_INTERFACE = [entry for entry in ENTRIES if not entry.own]
MOST_ALIKE = 3
"""Entries that may share one reason, or one way to find out."""


@pytest.fixture(scope="module")
def strict() -> dict[str, Any]:
    return committed("openapi.strict.yaml")


def test_assumptions_of_the_interface_are_named_in_the_contract(strict: dict[str, Any]) -> None:
    cited = set(bases_in(strict))
    assert [entry.id for entry in OF_THE_INTERFACE if entry.id not in cited] == []


def test_own_assumptions_are_not_named_in_the_contract(strict: dict[str, Any]) -> None:
    """The opening of the page promises it: what a worlds's actions and settings do is nothing of the service."""
    cited = set(bases_in(strict))
    assert [entry.id for entry in ENTRIES if entry.own and entry.id in cited] == []


@pytest.mark.parametrize(
    ("name", "ids"),
    [
        ("create_quote", {"H2", "H9", "M1", "M3", "M4"}),
        ("quote_buy", {"H2", "H9", "M1", "M5"}),
        ("send", {"M7", "S16", "custodial-memo", "lightning-in-flight"}),
        ("confirm_quote", {"S1", "S6", "S16", "fee-executing"}),
        ("disable_lightning_entry", {"lightning-delete"}),
    ],
)
def test_operation_lists_assumptions_without_a_field(name: str, ids: set[str], strict: dict[str, Any]) -> None:
    found = next(row for item in strict["paths"].values() for row in item.values() if row["operationId"] == name)
    assert ids <= set(found[MARK])
    assert found[MARK] == [entry.id for entry in ENTRIES if entry.id in found[MARK]]  # in the order of the page


def test_events_name_the_retry_schedule(strict: dict[str, Any]) -> None:
    assert all("W5" in item["post"][MARK] for item in strict["webhooks"].values())


def test_specified_contract_names_no_assumption() -> None:
    """The contract without assumptions cites no assumption."""
    ids = {entry.id for entry in ENTRIES}
    assert ids & set(bases_in(committed("openapi.specified.yaml"))) == set()


def test_assumptions_have_a_reason_and_a_remedy() -> None:
    assert [entry.id for entry in OF_THE_INTERFACE if not entry.why] == []


@pytest.mark.parametrize("field", ["why", "find_out"])
def test_assumption_texts_are_rarely_repeated(field: str) -> None:
    counted = Counter(getattr(entry, field) for entry in ENTRIES if getattr(entry, field))
    assert {text: count for text, count in counted.items() if count > MOST_ALIKE} == {}


def test_pattern_without_a_match_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for pattern in ("create_nothing", "POST /nowhere", "nothing.happened"):
        wrong = replace(ENTRIES[0], named_at=(pattern,))
        monkeypatch.setattr(named, "all_assumptions", lambda wrong=wrong: (wrong,))
        with pytest.raises(ValueError, match="which nothing matches"):
            at_events() if "." in pattern else at_operations(operations())


def test_pages_distinguish_the_two_kinds() -> None:
    for text in (page(), docs_page()):
        assert "- **About the API.**" in text
        assert "- **About the simulator itself.**" in text
    chapter = page().partition("## Control interface")[2]
    about, own = (chapter.index(f'<a id="{name}"></a>') for name in ("trace-webhooks", "token-scope"))
    assert about < chapter.index("About the simulator itself:") < own
