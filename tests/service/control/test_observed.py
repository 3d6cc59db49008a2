"""Worlds that are based on observed files."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import yaml

from simulator.contract.serving import with_observed
from tests.remote import Remote

FILE: dict[str, Any] = {
    "version": 1,
    "target": {"name": "acme-sandbox", "environment": "sandbox"},
    "observed_at": "2026-11-23",
    "rampsim": "0.2.0",
    "assumptions": {
        "H1": {"verdict": "differs", "alternative": "creating_answers_200", "exchanges": [0]},
        "S18": {"verdict": "holds"},
        "M7": {"verdict": "neither", "seen": "status: 418"},
    },
    "facts": {},
    "exchanges": [{"status": 201}],
}
SOURCE = [{"name": "acme-sandbox", "environment": "sandbox", "observed_at": "2026-11-23"}]


def entries(world: Remote) -> dict[str, list[str | None]]:
    shown = ("in_force", "standing", "observed_at", "verdict", "seen")
    return {row["id"]: [row.get(name) for name in shown] for row in world.control("GET", "/assumptions").body["data"]}


def test_assumptions_have_standing_verdict_and_date(server: Remote) -> None:
    rows = entries(server.another(observed=FILE))
    assert rows["H1"] == ["creating_answers_200", "observed", "2026-11-23", "differs", None]
    assert rows["S18"] == [None, "observed", "2026-11-23", "holds", None]
    assert rows["M7"] == [None, "assumed", None, "neither", "status: 418"]
    assert rows["H14"] == [None, "assumed", None, None, None]


def test_observed_alternative_is_in_force(server: Remote) -> None:
    world = server.another(observed=FILE)
    assert world.world["observed"] == SOURCE
    assert world.api("POST", "/wallets", {"network": "celo", "reference": "w-1"}).status == 200


def test_settings_take_precedence(server: Remote) -> None:
    file = copy.deepcopy(FILE)
    file["assumptions"]["H14"] = {"verdict": "differs", "alternative": "lapses_after_1h"}
    world = server.another(observed=file, settings={"assumptions": {"H14": "lapses_after_7d"}})
    assert world.world["settings"]["assumptions"] == {"H1": "creating_answers_200", "H14": "lapses_after_7d"}
    assert entries(world)["H14"] == ["lapses_after_7d", "assumed", None, "differs", None]


def test_reset_and_saved_document_keep_the_file(server: Remote) -> None:
    world = server.another(observed=FILE)
    world.control("PATCH", "/settings", {"assumptions": {}})
    assert entries(world)["H1"][:2] == [None, "assumed"]
    reset = world.control("POST", "/reset").body
    assert (reset["observed"], reset["settings"]["assumptions"]) == (SOURCE, {"H1": "creating_answers_200"})
    document = world.control("GET", "/state").body
    assert "exchanges" not in document["blueprint"]["observed"][0]
    assert world.control("PUT", "/state", document).body["observed"] == SOURCE
    assert world.control("GET", "/state").body["blueprint"] == document["blueprint"]


def test_saved_document_without_a_file_is_as_before(world: Remote) -> None:
    document = world.control("GET", "/state").body
    assert "observed" not in document["blueprint"]
    assert world.control("PUT", "/state", document).body.get("observed") is None


def test_saved_document_with_an_unknown_assumption_is_refused(server: Remote) -> None:
    world = server.another(observed=FILE)
    document = world.control("GET", "/state").body
    document["blueprint"]["observed"][0]["assumptions"]["H99"] = {"verdict": "holds"}
    refused = world.control("PUT", "/state", document)
    assert refused.refusal == (400, "invalid_parameter", "blueprint.observed[0].assumptions.H99")


def test_fork_has_the_file_of_its_snapshot(server: Remote) -> None:
    world = server.another(observed=FILE)
    snapshot = world.control("POST", "/snapshots", {}).body["id"]
    assert server.control("POST", "/worlds", {"from_snapshot": snapshot}).body["observed"] == SOURCE
    refused = server.control("POST", "/worlds", {"from_snapshot": snapshot, "observed": FILE})
    assert refused.refusal == (400, "invalid_parameter", "observed")


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"version": 2}, "observed.version"),
        ({"observed_at": "soon"}, "observed.observed_at"),
        ({"assumptions": {"H99": {"verdict": "holds"}}}, "observed.assumptions.H99"),
        ({"assumptions": {"H1": {"verdict": "sure"}}}, "observed.assumptions.H1.verdict"),
        ({"assumptions": {"H1": {"verdict": "differs", "alternative": "no"}}}, "observed.assumptions.H1.alternative"),
        ({"assumptions": [1]}, "observed.assumptions"),
        ({"assumptions": {"H1": {"verdict": "differs"}}}, "observed.assumptions.H1.alternative"),
        ({"assumptions": {"H1": {"verdict": "holds", "sen": "x"}}}, "observed.assumptions.H1.sen"),
        ({"asumptions": {}}, "observed.asumptions"),
        ({"facts": {"rates": "nonsense"}}, "observed.facts.rates"),
    ],
)
def test_invalid_file_is_refused_with_the_place(server: Remote, change: dict[str, Any], place: str) -> None:
    assert server.control("POST", "/worlds", {"observed": {**FILE, **change}}).refusal[1:] == (
        "invalid_parameter",
        place,
    )


def test_place_in_a_list_has_the_index(server: Remote) -> None:
    for files in ([{**FILE, "version": 2}], [FILE, {**FILE, "version": 2}]):
        refused = server.control("POST", "/worlds", {"observed": files})
        assert refused.refusal[2] == f"observed[{len(files) - 1}].version"


def test_two_files_that_disagree_are_refused(server: Remote) -> None:
    other = {**FILE, "assumptions": {"H1": {"verdict": "holds"}}}
    assert server.control("POST", "/worlds", {"observed": [FILE, FILE]}).status == 201
    refused = server.control("POST", "/worlds", {"observed": [FILE, other]})
    assert refused.status == 400
    assert "observed[0] and observed[1] disagree on H1" in refused.body["error"]["message"]


def provenances(world: Remote) -> dict[str, set[tuple[str, str | None]]]:
    """Return by basis the provenance and note of all parts of the served contract."""
    found: dict[str, set[tuple[str, str | None]]] = {}

    def read(part: Any) -> None:
        if isinstance(part, dict):
            if "x-provenance" in part:
                found.setdefault(str(part.get("x-basis")), set()).add((part["x-provenance"], part.get("x-observed")))
            part = list(part.values())
        for one in part if isinstance(part, list) else ():
            read(one)

    raw = world.control("GET", "/openapi.yaml").raw
    read(yaml.load(raw, Loader=yaml.CSafeLoader))
    assert yaml.load(world.control("GET", "/openapi.json").raw, Loader=yaml.CSafeLoader)["openapi"]
    return found


def test_served_contract_marks_observed_parts(server: Remote, world: Remote) -> None:
    found = provenances(server.another(observed=FILE))
    ((provenance, note),) = found["H1"]
    assert provenance == "observed"
    assert note == (
        "The service differs from the contract: It returns 200, like every other success with a body. "
        "(creating_answers_200, 2026-11-23)"
    )
    assert found["S18"] == {("observed", "as assumed, 2026-11-23")}
    assert {said for said, _ in found["R7"]} == {"assumed"}
    assert {said for said, _ in provenances(world)["H1"]} == {"assumed"}


@pytest.mark.parametrize(
    "document", [b"- x-provenance: assumed\n  x-basis: H1", b'{\n"x-provenance": "assumed",\n"x-basis": "H1"\n}']
)
def test_note_in_a_contract_is_quoted(document: bytes) -> None:
    note = 'a "quoted" word: \\'
    parsed = yaml.safe_load(with_observed(document, {"H1": note}))
    part = parsed[0] if isinstance(parsed, list) else parsed
    assert (part["x-provenance"], part["x-observed"]) == ("observed", note)


def test_advice_names_what_was_observed(server: Remote) -> None:
    file = {**FILE, "assumptions": {"H6": {"verdict": "holds"}}}
    world = server.another(observed=file)
    world.api("POST", "/wallets", {"network": "celo", "reference": "w-1", "surprise": 1})
    found = world.control("GET", "/advice").body["data"]
    row = {"id": "H6", "standing": "observed", "observed_at": "2026-11-23"}
    assert [one["rests_on"] for one in found if one["clause"] == "decision H6"] == [[row]]


def test_world_has_the_facts_of_the_file(server: Remote) -> None:
    limits = {"daily": "7000", "currency": "KES"}
    world = server.another(observed={**FILE, "facts": {"limits": limits}})
    assert world.api("GET", "/profile/limits").body["limits"]["daily"]["max"].startswith("7000")
    assert world.control("GET", "/state").body["blueprint"]["observed"][0]["facts"] == {"limits": limits}
    world.control("POST", "/reset")
    world.tokens.clear()
    assert world.api("GET", "/profile/limits").body["limits"]["daily"]["max"].startswith("7000")


def assumptions_page(world: Remote, suffix: str = "") -> str:
    return world.control("GET", f"/docs/reference/assumptions{suffix}").raw.decode()


def test_assumptions_page_has_the_standing_of_each_assumption(server: Remote) -> None:
    world = server.another(observed=FILE, settings={"assumptions": {"H14": "lapses_after_7d"}})
    notes = {one.partition('"')[0]: one for one in assumptions_page(world, ".md").split('<a id="')}
    assert "- *In this world*: `creating_answers_200`, observed on 2026-11-23.\n" in notes["H1"]
    assert "- *In this world*: as assumed, observed on 2026-11-23.\n" in notes["S18"]
    assert "- *In this world*: `lapses_after_7d`, not observed.\n" in notes["H14"]
    assert "- *In this world*: as assumed, not observed.\n" in notes["H2"]
    assert "as assumed, not observed. On 2026-11-23, the service did something else.\n" in notes["M7"]
    html = assumptions_page(world)
    assert "<em>In this world</em>: <code>creating_answers_200</code>, observed on 2026-11-23." in html
    assert html.count("In this world") == len(entries(world))


def test_assumptions_page_of_other_worlds_has_no_standing(server: Remote) -> None:
    server.another(observed=FILE)
    for suffix in ("", ".md"):
        assert "In this world" not in assumptions_page(server.another(), suffix)
