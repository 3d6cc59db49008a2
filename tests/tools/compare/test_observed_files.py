"""`rampsim compare OLD NEW` with observed files."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from simulator.cli import main

OLD = {
    "version": 1,
    "observed_at": "2026-11-23",
    "assumptions": {"H1": {"verdict": "holds"}, "H4": {"verdict": "holds"}},
    "facts": {
        "fee_products": [
            {"id": "fee_a", "product": "onramp", "network": "celo", "fiat_currency": "KES", "fixed": "1.50"},
            {"id": "fee_b", "product": "send", "network": "celo", "asset": "USDC", "fixed": "0.10"},
        ],
        "limits": {"currency": "KES", "daily": "3000000.00"},
        "rates": [{"type": "onramp", "network": "celo", "asset": "USDC", "fiat_currency": "KES", "rate": "130.5"}],
        "spread": {"USDC/KES": "2.02"},
        "currencies": {"KES": {"methods": ["mobile_money", "bank_transfer"]}},
        "id_prefixes": {"/quotes": "qt_", "/beneficiaries": "ben_"},
        "unfit": ["a line"],
    },
}


def compared(directory: Path, change: Callable[[Any], None], *options: str | Path) -> Result:
    """Compare OLD with a changed copy. `change` gets the content of the newer file."""
    newer = copy.deepcopy(OLD)
    change(newer)
    for name, document in (("old", OLD), ("new", newer)):
        (directory / f"{name}.yaml").write_text(yaml.safe_dump(document, sort_keys=False))
    files = [str(directory / f"{name}.yaml") for name in ("old", "new")]
    return CliRunner().invoke(main, ["compare", *files, *map(str, options)])


def verdict(new: Any) -> None:
    new["assumptions"]["H1"] = {"verdict": "differs", "alternative": "creating_answers_200"}


def fee(new: Any) -> None:
    new["facts"]["fee_products"][0]["fixed"] = "2.50"


def limit(new: Any) -> None:
    new["facts"]["limits"]["daily"] = "2000000"


def method(new: Any) -> None:
    new["facts"]["currencies"]["KES"]["methods"].remove("bank_transfer")


def new_fee(new: Any) -> None:
    new["facts"]["fee_products"].insert(0, {"product": "swap", "fixed": "0.20"})


def prefix(new: Any) -> None:
    new["facts"]["id_prefixes"]["/quotes"] = "quo_"


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (verdict, "H1: as assumed, now creating_answers_200"),
        (fee, "facts.fee_products.onramp/celo/KES.fixed: 1.50, now 2.50"),
        (limit, "facts.limits.daily: 3000000.00, now 2000000"),
        (method, "facts.currencies.KES.methods.bank_transfer: present, now absent"),
        (new_fee, "facts.fee_products.swap: absent, now present"),
        (prefix, "facts.id_prefixes./quotes: qt_, now quo_"),
    ],
)
def test_change_is_reported(tmp_path: Path, change: Callable[[Any], None], line: str) -> None:
    done = compared(tmp_path, change)
    assert done.exit_code == 1
    assert done.output.splitlines()[0] == line
    assert done.output.splitlines()[-1].endswith(" 1 changed")


def same(new: Any) -> None:
    """The same values, written in another way."""
    facts = new["facts"]
    facts["fee_products"].reverse()
    facts["fee_products"][0] |= {"id": "fee_zz", "name": "Sending"}
    facts["limits"]["daily"] = "3000000"
    facts["currencies"]["KES"]["methods"].reverse()
    del facts["unfit"]


def less(new: Any) -> None:
    """A run that made fewer calls."""
    del new["facts"]["id_prefixes"]["/beneficiaries"], new["facts"]["spread"]["USDC/KES"]
    new["facts"]["rates"].clear()


@pytest.mark.parametrize("change", [same, less])
def test_same_facts_are_not_changes(tmp_path: Path, change: Callable[[Any], None]) -> None:
    done = compared(tmp_path, change)
    assert done.exit_code == 0, done.output
    assert done.output.splitlines()[-1].endswith(", 0 changed")


def test_rates_are_not_compared_and_the_report_says_so(tmp_path: Path) -> None:
    done = compared(tmp_path, lambda new: new["facts"]["rates"][0].update(rate="131.2"))
    assert done.exit_code == 0
    assert "not compared: 1 rate or price moved with the market" in done.output


def test_missing_section_is_not_compared(tmp_path: Path) -> None:
    done = compared(tmp_path, lambda new: new["facts"].pop("limits"))
    assert done.exit_code == 0
    assert "not compared: facts.limits is in one file only" in done.output


def test_facts_alone_can_be_compared(tmp_path: Path) -> None:
    done = compared(tmp_path, lambda new: new.update(assumptions={}))
    assert done.exit_code == 0, done.output
    assert "0 verdicts and 19 facts compared" in done.output


def test_nothing_in_common_is_refused(tmp_path: Path) -> None:
    done = compared(tmp_path, lambda new: new.update(assumptions={}, facts={}))
    assert done.exit_code == 1
    assert "nothing was compared" in done.output


def test_accepted_change_is_excused(tmp_path: Path) -> None:
    accept = tmp_path / "accepted.yaml"
    entries = [
        '{pointer: "facts.fee_products.onramp*", now: "2.50", reason: new prices}',
        "{pointer: H1, reason: known}",
    ]
    accept.write_text("".join(f"- {one}\n" for one in entries))

    def both(new: Any) -> None:
        fee(new)
        verdict(new)

    done = compared(tmp_path, both, "--accept", accept)
    assert done.exit_code == 0, done.output
    assert "accepted 1×: new prices" in done.output
    report = json.loads(compared(tmp_path, both, "--accept", accept, "--json").output)
    assert [one["excused"] for one in report["accepted"]] == [1, 1]

    def all_three(new: Any) -> None:
        both(new)
        limit(new)

    more = compared(tmp_path, all_three, "--accept", accept)
    assert more.exit_code == 1
    assert more.output.splitlines()[-1].endswith(" 1 changed")

    stale = compared(tmp_path, fee, "--accept", accept)
    assert stale.exit_code == 1
    assert "[1]: no difference matches this entry (known). Delete it" in stale.output


def test_accept_is_refused_for_contracts(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("openapi: 3.1.0\n")
    options = [str(tmp_path / "a.yaml")] * 2
    done = CliRunner().invoke(main, ["compare", *options, "--accept", options[0]])
    assert done.exit_code == 2
    assert "--accept needs" in done.output
