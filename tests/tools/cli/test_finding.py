"""`rampsim find`: with an id, and without a match."""

from __future__ import annotations

import pytest

from tests.tools.cli.conftest import Command, make_offramp


def test_find_exits_with_1_without_results(rampsim: Command, offramp: str) -> None:
    lines = rampsim("find", offramp).stdout.splitlines()
    assert lines[0].split()[:2] == ["resource", offramp]
    (first,) = rampsim.json("find", offramp, "--json", "--limit", "1")["data"]
    assert (first["id"], first["sort"]) == (offramp, "resource")
    nothing = rampsim("find", "no", "such", "thing")
    assert (nothing.exit_code, nothing.stdout, nothing.stderr) == (
        1, "", "rampsim: nothing in this world matches 'no such thing'\n",
    )  # fmt: skip


@pytest.mark.parametrize(
    "words",
    [
        ("resources", "{}"),
        ("clock", "advance", "--until", "{}", "refunded"),
        ("action", "payment_arrives", "{}"),
        ("trigger", "transaction.completed", "--target", "{}"),
    ],
)
def test_a_reference_in_place_of_an_id_is_refused_with_the_id(rampsim: Command, words: tuple[str, ...]) -> None:
    offramp = make_offramp(rampsim, reference="order-5000")
    refused = rampsim(*(word.format("order-5000") for word in words))
    assert refused.exit_code == 1
    assert f"but {offramp} (offramp, awaiting_deposit) has this reference. Use an id." in refused.stderr
    assert "reference" not in rampsim(*(word.format("order-6000") for word in words)).stderr
