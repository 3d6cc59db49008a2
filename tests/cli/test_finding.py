"""`rampsim find`: by an id, and by nothing that there is."""

from __future__ import annotations

from tests.cli.conftest import Command


def test_what_there_is_is_found_and_what_is_not_is_code_1(rampsim: Command, offramp: str) -> None:
    lines = rampsim("find", offramp).stdout.splitlines()
    assert lines[0].split()[:2] == ["resource", offramp]
    (first,) = rampsim.json("find", offramp, "--json", "--limit", "1")["data"]
    assert (first["id"], first["sort"]) == (offramp, "resource")
    nothing = rampsim("find", "no", "such", "thing")
    assert (nothing.exit_code, nothing.stdout, nothing.stderr) == (
        1, "", "rampsim: nothing in this world has 'no such thing'\n",
    )  # fmt: skip
