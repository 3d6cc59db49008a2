"""Every cited clause or decision has an anchor."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from contracts.generator.provenance import bases_in
from contracts.generator.reference import rules
from simulator.contract.files import strict_document
from simulator.docs.library import pages_by_path
from simulator.docs.markdown import render
from simulator.engine.text.citations import links_of, places_of, slug
from simulator.host import PROVIDER


def _clauses() -> set[str]:
    """The clauses cited by the contract, advice, certify, conform and explore."""
    from_rules = {clause for _, _, clause in rules.cited()}
    return {*bases_in(strict_document()), *from_rules, *PROVIDER.clauses.values()}


def _names(clause: rules.Clause) -> Iterator[str]:
    yield clause.name
    for rule in clause.rules:
        yield from (rule.id, *rule.cites)


def test_every_clause_and_decision_that_is_cited_has_its_anchor() -> None:
    anchors = {path: render(page).anchors for path, page in pages_by_path().items()}
    lost = [
        f"{clause}: {page}#{anchor}"
        for clause in sorted(_clauses())
        for page, anchor in places_of(clause)
        if anchor not in anchors.get(page, frozenset())
    ]
    assert lost == []


def test_rule_anchors_are_unique_and_all_cited() -> None:
    clauses = [clause for _, clauses in rules.chapters().values() for clause in clauses]
    places = [{slug(clause.name)} for clause in clauses]
    places += [{rule.id, *map(slug, rule.cites)} for clause in clauses for rule in clause.rules]
    named = [one for place in places for one in place]
    assert sorted({one for one in named if named.count(one) > 1}) == []
    cited = {anchor for clause in _clauses() for page, anchor in places_of(clause) if page == "reference/rules"}
    words = {slug(one) for clause in clauses for rule in clause.rules for one in rule.cites}
    assert words - cited == set()


def test_every_decision_that_a_rule_names_is_there() -> None:
    anchors = render(pages_by_path()["reference/assumptions"]).anchors
    see = [
        one
        for _, clauses in rules.chapters().values()
        for clause in clauses
        for rule in clause.rules
        for one in rule.see
    ]
    assert see
    assert [one for one in see if one not in anchors] == []


def test_contract_links_each_basis() -> None:
    document = strict_document()
    assert document["x-basis-links"].keys() == set(bases_in(document))
    assert document["x-basis-links"]["Ramp quote"] == "/_simulator/docs/reference/rules#ramp-quote"
    assert document["x-basis-links"]["H14"] == "/_simulator/docs/reference/assumptions#H14"


@pytest.mark.parametrize(
    ("clause", "links"),
    [
        ("Ramp quote", ["reference/rules#ramp-quote"]),
        (
            "Errors, retry guidance; decision H14",
            ["reference/rules#errors-retry-guidance", "reference/assumptions#H14"],
        ),
        ("Events: Registration; W4", ["reference/rules#events-registration", "reference/assumptions#W4"]),
        ("deposit-asset", ["reference/assumptions#deposit-asset"]),
        ("control interface, faults", ["reference/control#faults"]),
        ("", []),
    ],
)
def test_a_citation_becomes_links(clause: str, links: list[str]) -> None:
    assert links_of(clause) == [f"/_simulator/docs/{link}" for link in links]
