"""The tests that `make changed` and `make t` choose."""

from __future__ import annotations

import subprocess
from collections.abc import Collection
from pathlib import Path

import pytest

from tests import changed, one
from tests.places import ROOT


class Imports:
    """Who imports whom, as the graph of a checkout would say it."""

    def __init__(self, importers: dict[str, set[str]]) -> None:
        self._importers = importers

    @property
    def modules(self) -> Collection[str]:
        return self._importers.keys() | {module for found in self._importers.values() for module in found}

    def find_modules_that_directly_import(self, module: str) -> Collection[str]:
        return self._importers.get(module, set())


GRAPH = Imports(
    {
        "simulator.kernel.money": {"simulator.providers.ramp.balance.movements.swap", "tests.unit.kernel.test_money"},
        "simulator.providers.ramp.balance.movements.swap": {
            "simulator.engine.worlds.simulator",
            "tests.unit.ramp.balance.test_swap",
        },
        "simulator.engine.worlds.simulator": {"tests.unit.test_assembly", "tests.support"},
        "tests.support": {"tests.unit.engine.text.test_fields", "tests.campaigns.hostile.test_campaigns"},
    }
)


def test_what_imports_a_changed_module_is_chosen_and_what_only_the_wiring_joins_is_not() -> None:
    assert changed.chosen(GRAPH, ["simulator/kernel/money.py"]) == [
        "tests/unit/kernel",
        "tests/unit/ramp/balance/test_swap.py",
    ]


def test_a_changed_helper_chooses_its_users_except_campaigns() -> None:
    assert changed.chosen(GRAPH, ["tests/support.py"]) == ["tests/unit/engine/text/test_fields.py"]


def test_a_campaign_is_chosen_if_it_is_changed_itself() -> None:
    path = "tests/campaigns/hostile/test_campaigns.py"
    assert changed.chosen(GRAPH, [path]) == [path]


def test_a_changed_package_chooses_the_folders_that_bear_its_name() -> None:
    assert changed.chosen(GRAPH, ["simulator/engine/control/history/search.py"]) == [
        "tests/service/control",
        "tests/unit/engine/control",
    ]
    assert changed.chosen(GRAPH, ["simulator/engine/webhooks/courier/hold.py"]) == [
        "tests/service/courier",
        "tests/unit/engine/webhooks/courier",
    ]
    assert changed.chosen(GRAPH, ["simulator/providers/ramp/fees/routes.py"]) == ["tests/unit/ramp/fees"]
    assert changed.chosen(GRAPH, ["simulator/providers/ramp/signing.py", "simulator/engine/lazy.py"]) == []


def test_files_that_nothing_imports_choose_what_reads_them() -> None:
    assert changed.chosen(GRAPH, ["scenarios/autopilot.yaml", "README.md"]) == [
        "tests/service/scenario", "tests/tools/contract", "tests/tools/test_readme.py", "tests/unit/engine/scenario",
    ]  # fmt: skip
    assert changed.chosen(GRAPH, ["CHANGELOG.md"]) == []


def test_every_name_of_the_tables_is_there() -> None:
    for module in changed.WIRING:
        path = ROOT / module.replace(".", "/")
        assert path.is_dir() or path.with_suffix(".py").exists(), module
    for place, tests in changed.FOLDERS.items():
        assert all((ROOT / path).exists() for path in (place, *tests)), place


def test_new_changed_and_staged_files_are_found_and_deleted_ones_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changed, "ROOT", tmp_path)
    for name in ("kept", "edited", "deleted"):
        (tmp_path / name).write_text("before")
    who = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    for words in (("init",), ("add", "."), (*who, "commit", "-m", "all")):
        subprocess.run(["git", "-C", tmp_path, *words], check=True, capture_output=True)
    (tmp_path / "edited").write_text("after")
    (tmp_path / "deleted").unlink()
    (tmp_path / "new file").write_text("")
    (tmp_path / "staged").write_text("")
    subprocess.run(["git", "-C", tmp_path, "add", "staged"], check=True)
    assert changed.changed_files("HEAD") == ["edited", "new file", "staged"]


def test_words_choose_files_by_path_and_text() -> None:
    found = [str(path.relative_to(ROOT)) for path in one.files_with("RateLimit and not whatever_else_is_here")]
    assert "tests/unit/engine/server/test_ratelimit.py" in found
    assert "tests/tools/test_loop.py" in found
    assert "tests/unit/kernel/test_clock.py" not in found


def test_a_path_is_taken_as_it_is() -> None:
    assert one.arguments("tests/unit/kernel")[-1] == "tests/unit/kernel"
    assert one.arguments("tests/unit/test_laws.py::test_one")[-1] == "tests/unit/test_laws.py::test_one"


def test_words_that_stand_nowhere_are_refused() -> None:
    with pytest.raises(LookupError, match="no file of tests has"):
        one.arguments("zz" + "qq" * 9)
