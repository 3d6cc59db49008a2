"""`rampsim record` and `rampsim trigger`: from manual steps to a scenario file that repeats them."""

from __future__ import annotations

from pathlib import Path

from tests.tools.cli.conftest import Command


def test_an_event_is_triggered_for_an_own_object(rampsim: Command, offramp: str) -> None:
    answer = rampsim.json("trigger", "transaction.refunded", "--target", offramp)
    assert answer["target"] == offramp
    assert rampsim("trigger", "transaction.refunded", "--target", offramp).exit_code == 1


def test_record_writes_a_valid_runnable_scenario(rampsim: Command, offramp: str, tmp_path: Path) -> None:
    rampsim.json("action", "deposit_arrives", offramp)
    out = tmp_path / "payout-bounces.yaml"
    assert f"Wrote {out}" in rampsim("record", "--out", str(out)).output
    assert "name: payout-bounces\n" in out.read_text("utf-8")
    assert rampsim("scenario", "validate", str(out)).exit_code == 0
    assert rampsim("scenario", "run", str(out)).exit_code == 0


def test_without_a_file_it_is_printed(rampsim: Command, offramp: str) -> None:
    printed = rampsim("record", "--name", "by-hand", "--since", "2026-01-05T08:00:00Z")
    assert printed.output.startswith("# yaml-language-server: $schema=")
    assert "name: by-hand\n" in printed.output


def test_a_file_that_cannot_be_written_ends_with_words(rampsim: Command, tmp_path: Path) -> None:
    result = rampsim("record", "--out", str(tmp_path / "no" / "where.yaml"))
    assert (result.exit_code, "cannot write" in result.output) == (2, True)
