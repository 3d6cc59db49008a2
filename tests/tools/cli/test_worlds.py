"""Commands for worlds, snapshots, scenarios on a running server, inboxes and the dashboard."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.tools.cli.conftest import Command, make_offramp


def test_create_uses_its_options_and_end_deletes(rampsim: Command, tmp_path: Path) -> None:
    (tmp_path / "rain.yaml").write_text("name: rain\n")
    made = rampsim.json(
        *("worlds", "create", "made-by-hand", "--seed", "7", "--scenario", "autopilot", "--replace"),
        *("--scenario", str(tmp_path / "rain.yaml"), "--now", "2026-04-01T00:00:00Z", "--strict"),
        *("--rate-limit", "5/10", "--journal-limit", "50", "--assume", "H14=lapses_after_1h"),
    )
    assert (made["id"], made["seed"], made["scenarios"]) == ("made-by-hand", 7, ["autopilot", "rain"])
    assert (made["clock"]["mode"], made["clock"]["now"]) == ("manual", "2026-04-01T00:00:00.000Z")
    settings = made["settings"]
    assert (settings["strict"], settings["rate_limit"], settings["journal_limit"]) == (True, "5/10", 50)
    assert settings["assumptions"] == {"H14": "lapses_after_1h"}
    assert rampsim.json("worlds", "show", "made-by-hand") == rampsim.json("worlds", "made-by-hand")
    assert rampsim("worlds", "end", "made-by-hand").exit_code == 0
    assert rampsim("worlds", "made-by-hand").exit_code == 1


def test_a_world_for_a_shell(rampsim: Command) -> None:
    lines = rampsim("worlds", "create", "for-a-shell", "--replace", "--env").stdout
    script = f"{lines}\nprintf %s $SIMULATOR_URL/$SIMULATOR_PUBLIC_KEY"
    said = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True).stdout
    world = rampsim.json("worlds", "for-a-shell")
    assert said == f"{rampsim.origin}/_worlds/for-a-shell/{world['credentials']['sandbox']['public_key']}"
    rampsim("worlds", "end", "for-a-shell")


def test_a_settings_file_does_not_affect_created_worlds(
    rampsim: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rampsim.toml").write_text('clock = "real"\nstrict = true\n')
    made = rampsim.json("worlds", "create")
    assert (made["clock"]["mode"], made["settings"]["strict"]) == ("manual", False)
    rampsim("worlds", "end", made["id"])


def test_create_refuses_a_scenario_that_is_not_yaml(rampsim: Command, tmp_path: Path) -> None:
    (tmp_path / "rain.yaml").write_text("a: b: c\n")
    result = rampsim("worlds", "create", "--scenario", str(tmp_path / "rain.yaml"))
    assert (result.exit_code, f"{tmp_path / 'rain.yaml'}:1:" in result.stderr) == (2, True)


def test_snapshots_are_taken_gone_back_to_forked_and_written(rampsim: Command, tmp_path: Path) -> None:
    taken = rampsim.json("snapshots", "take", "before")
    offramp = make_offramp(rampsim)
    assert [row["name"] for row in rampsim.json("snapshots")] == ["before"]
    assert rampsim("resources", offramp).exit_code == 0
    assert rampsim.json("snapshots", "restore", "before")["id"] == rampsim.world
    assert rampsim("resources", offramp).exit_code == 1
    fork = rampsim.json("snapshots", "fork", taken["id"], "forked-by-hand", "--replace")
    assert (fork["id"], fork["clock"]["now"]) == ("forked-by-hand", taken["at"])
    rampsim("worlds", "end", "forked-by-hand")
    path = tmp_path / "world.json"
    wrote = rampsim("snapshots", "export", "before", "--out", str(path))
    assert f"rampsim serve --state {path}" in wrote.stdout
    assert json.loads(path.read_text()) == json.loads(rampsim("snapshots", "export", taken["id"]).stdout)
    assert json.loads(rampsim("snapshots", "export").stdout)["format"] == "rampsim.state"
    assert rampsim.json("snapshots", "import", str(path))["id"] == rampsim.world
    assert rampsim("snapshots", "forget", "before").exit_code == 0
    gone = rampsim("snapshots", "restore", "before")
    assert (gone.exit_code, gone.stderr) == (
        1, "rampsim: this world has no snapshot 'before'; its snapshots are: none\n",
    )  # fmt: skip


def test_scenarios_are_uploaded_and_made_active(rampsim: Command, tmp_path: Path) -> None:
    good, bad = tmp_path / "rain.yaml", tmp_path / "hail.yaml"
    good.write_text("name: rain\n")
    bad.write_text("name: hail\nrules:\n  - on: transaction.complete\n    do: []\n")
    assert "Uploaded rain. Activate it" in rampsim("scenario", "upload", str(good)).stdout
    refused = rampsim("scenario", "upload", str(good), str(bad))
    assert (refused.exit_code, f"{bad}:3:" in refused.stdout) == (1, True)
    rampsim("scenario", "activate", "autopilot")
    assert rampsim("scenario", "upload", str(good), "--activate").stdout.endswith("Active: autopilot, rain.\n")
    assert rampsim("scenario", "activate", "--none").stdout == "Active: none.\n"
    assert "did you mean" in rampsim("scenario", "activate", "autopilt").stderr.lower()
    assert rampsim("scenario", "activate").exit_code == 2


def test_an_inbox_is_read_set_up_and_emptied(rampsim: Command) -> None:
    rampsim("inbox", "clear", "by-hand")
    subscribed = rampsim.json("inbox", "subscribe", "by-hand", "--event", "transaction.created")
    assert subscribed["url"].startswith(f"{rampsim.origin}/_worlds/")
    assert subscribed["url"].endswith("/_simulator/inbox/by-hand")
    assert subscribed["events"] == ["transaction.created"]
    assert rampsim.json("inbox", "respond", "by-hand", "500", "200") == {"respond": [500, 200]}
    make_offramp(rampsim)
    lines = rampsim("inbox", "wait", "by-hand", "--count", "2", "--timeout", "20").stdout.splitlines()
    assert lines[-1].split()[1:3] == ["500", "transaction.created"]
    assert rampsim.json("inbox", "by-hand", "--json", "--limit", "1")[0]["status"] == 500
    assert any(row["name"] == "by-hand" for row in rampsim.json("inbox"))
    rampsim("inbox", "clear", "by-hand")
    empty = rampsim("inbox", "by-hand")
    assert (empty.exit_code, empty.stdout, empty.stderr) == (
        0, "", "rampsim: the inbox 'by-hand' is empty; `rampsim inbox` lists all inboxes\n",
    )  # fmt: skip


def test_the_dashboard_is_named(rampsim: Command) -> None:
    at = f"{rampsim.origin}/_simulator/dashboard?world={rampsim.world}"
    assert rampsim("open").stdout == f"{at}\n"
    assert rampsim("open", "txn_1", "--print").stdout == f"{at}#/resources/txn_1\n"
    assert rampsim("open", "--docs").stdout == f"{rampsim.origin}/_simulator/docs/\n"
    assert rampsim("open", "--url", "http://127.0.0.1:1").exit_code == 3
