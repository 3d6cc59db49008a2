"""Controlling a running server with commands: clock, actions, worlds."""

from __future__ import annotations

import pytest

from tests.tools.cli.conftest import Command, make_offramp


def test_the_clock_is_shown(rampsim: Command) -> None:
    assert rampsim.json("clock")["now"] == "2026-01-05T08:00:00.000Z"


@pytest.mark.parametrize(
    ("words", "now"),
    [
        (["10m"], "2026-01-05T08:10:00.000Z"),
        (["2h30m"], "2026-01-05T10:30:00.000Z"),
        (["--to", "2026-02-01T00:00:00Z"], "2026-02-01T00:00:00.000Z"),
        (["--next"], "2026-01-05T08:00:00.000Z"),
    ],
)
def test_the_clock_advances_by_to_and_to_the_next_timer(rampsim: Command, words: list[str], now: str) -> None:
    assert rampsim.json("clock", "advance", *words)["now"] == now


def test_the_clock_advances_until_an_event(rampsim: Command, offramp: str) -> None:
    answer = rampsim.json("clock", "advance", "--until-event", "transaction.expired", "--object", offramp)
    assert (answer["reached"], answer["now"]) == (True, "2026-01-05T08:30:00.000Z")


def test_the_clock_advances_until_a_status(rampsim: Command, offramp: str) -> None:
    assert rampsim.json("clock", "advance", "--until", offramp, "expired")["reached"] is True


def test_unreached_goal_exits_with_1(rampsim: Command) -> None:
    result = rampsim("clock", "advance", "--until-event", "transaction.completed")
    assert result.exit_code == 1
    assert "nothing more is scheduled while waiting for the event transaction.completed" in result.stderr


@pytest.mark.parametrize(
    "words", [[], ["10m", "--next"], ["--to", "2026-02-01T00:00:00Z", "--until", "txn_1", "completed"]]
)
def test_an_advance_needs_exactly_one_target(rampsim: Command, words: list[str]) -> None:
    result = rampsim("clock", "advance", *words)
    assert result.exit_code == 2
    assert "use exactly one of" in result.stderr


def test_an_object_is_sent_with_an_event(rampsim: Command) -> None:
    result = rampsim("clock", "advance", "10m", "--object", "txn_1")
    assert (result.exit_code, "--object needs --until-event" in result.stderr) == (2, True)


def test_the_clock_is_set(rampsim: Command) -> None:
    clock = rampsim.json("clock", "set", "--mode", "manual", "--rate", "2.5", "--now", "2026-01-05T09:00:00Z")
    assert (clock["mode"], clock["rate"], clock["now"]) == ("manual", 2.5, "2026-01-05T09:00:00.000Z")


def test_setting_the_clock_to_nothing_is_wrong_usage(rampsim: Command) -> None:
    result = rampsim("clock", "set")
    assert (result.exit_code, "set at least one of" in result.stderr) == (2, True)


def test_an_action_moves_its_target(rampsim: Command, offramp: str) -> None:
    answer = rampsim.json("action", "deposit_arrives", offramp)
    assert answer["resource"]["status"] == "processing"


def test_parameters_are_options_with_dashes_or_underscores(rampsim: Command, offramp: str) -> None:
    rampsim.json("action", "deposit-arrives", offramp, "--tx_hash=0x" + "a" * 64)
    failed = rampsim.json("action", "fail", offramp, "--failure-code", "payout_failed")["resource"]
    assert (failed["tx_hash"], failed["failure_code"]) == ("0x" + "a" * 64, "payout_failed")


def test_a_string_parameter_stays_a_string_though_it_looks_like_a_number(rampsim: Command) -> None:
    words = ["--asset", "USDC", "--fiat-currency", "KES", "--rate", "131.50"]
    assert rampsim.json("action", "set_rate", *words)["resource"]["onramp"] == "131.50"


def test_a_number_may_be_negative(rampsim: Command) -> None:
    assert rampsim.json("action", "move_rates", "--percent", "-2.5")["resource"]["percent"] == -2.5


def test_booleans_arrays_and_objects_are_written_as_json(rampsim: Command) -> None:
    assert (
        rampsim.json("action", "set_production_access", "--granted", "false")["resource"]["production_access"] is False
    )
    assert rampsim.json("action", "set_production_access", "--granted")["resource"]["production_access"] is True
    actions = '[{"code": "document", "message": "Send it again."}]'
    answer = rampsim.json("action", "set_kyc", "--status", "action_required", "--required-actions", actions)
    assert answer["resource"]["required_actions"] == [{"code": "document", "message": "Send it again."}]
    pair = ["--from", '{"symbol": "USDC", "network": "CELO"}', "--to", '{"symbol": "CUSD", "network": "CELO"}']
    assert rampsim.json("action", "set_rate", *pair, "--rate", "0.99")["action"] == "set_rate"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["move_rates", "--percent", "much"], "--percent: 'much' is not JSON; "),
        (["move_rates", "--percent"], "--percent needs a value"),
        (["move_rates", "txn_1", "txn_2"], "'txn_2' is not a parameter"),
        (["move_rates", "--percent", "1", "--percent", "2"], "--percent is given twice"),
    ],
)
def test_action_explains_wrong_parameters(rampsim: Command, words: list[str], message: str) -> None:
    result = rampsim("action", *words)
    assert result.exit_code == 2
    assert message in result.stderr


def test_a_refused_action_says_what_is_possible_instead(rampsim: Command, offramp: str) -> None:
    result = rampsim("action", "complete", offramp)
    assert result.exit_code == 1
    assert "refused (invalid_transition)" in result.stderr
    assert "Possible now: deposit_arrives." in result.stderr


def test_action_on_a_final_object_says_none_is_possible(rampsim: Command, offramp: str) -> None:
    rampsim("clock", "advance", "1h")
    assert "No action is possible." in rampsim("action", "complete", offramp).stderr


def test_an_unknown_action_or_parameter_is_refused_by_the_server(rampsim: Command) -> None:
    assert "There is no action 'payout_fail'" in rampsim("action", "payout_fail").stderr
    result = rampsim("action", "move_rates", "--percent", "1", "--colour", "blue")
    assert (result.exit_code, "colour" in result.stderr) == (1, True)


def test_the_environment_chooses_where_an_action_applies(rampsim: Command) -> None:
    words = ["action", "set_network", "--network", "celo", "--status", "down", "--environment", "production"]
    assert rampsim.json(*words)["events"][0]["livemode"] is True


def test_actions_are_listed_with_targets_and_parameters(rampsim: Command) -> None:
    listing = rampsim("actions").stdout
    assert "move_rates --percent X\n" in listing
    assert "payment_arrives [--amount X]\n    the payer's fiat is received\n    on: onramp, buy\n" in listing


def test_actions_are_listed_as_json_with_their_schemas(rampsim: Command) -> None:
    rows = {row["name"]: row for row in rampsim.json("actions", "--json")}
    assert rows["payment_arrives"]["targets"] == ["onramp", "buy"]


def test_a_trigger_asks_the_server_to_walk_to_an_event(rampsim: Command) -> None:
    result = rampsim("trigger", "no.such_event", "--target", "txn_1")
    assert result.exit_code == 1
    assert "refused (" in result.stderr


def test_worlds_are_shown_all_or_one(rampsim: Command) -> None:
    assert {"default", rampsim.world} <= {world["id"] for world in rampsim.json("worlds")}
    assert rampsim.json("worlds", rampsim.world)["seed"] == 1


def test_a_reset_makes_the_world_again(rampsim: Command) -> None:
    make_offramp(rampsim)
    assert rampsim.json("reset")["id"] == rampsim.world
    assert rampsim.json("resources", "--type", "offramp") == []


def test_worlds_list_shows_size_and_last_use(rampsim: Command) -> None:
    rows = {row["id"]: row for row in rampsim.json("worlds", "list", "--json")}
    assert {"default", rampsim.world} <= rows.keys()
    assert rows[rampsim.world]["objects"] == 2
    line = next(line for line in rampsim("worlds", "list").stdout.splitlines() if line.endswith(f"  {rampsim.world}"))
    assert line.startswith(rows[rampsim.world]["last_used_at"][:10])
    assert "       2 objects" in line


def test_prune_deletes_unused_worlds(rampsim: Command) -> None:
    kept = rampsim("worlds", "prune", "--idle", "1d")
    assert (kept.exit_code, kept.stdout, kept.stderr) == (0, "", "0 worlds deleted.\n")
    wrong = rampsim("worlds", "prune", "--idle", "1M")
    assert (wrong.exit_code, "`idle` is not valid" in wrong.stderr) == (1, True)
    would = rampsim("worlds", "prune", "--idle", "0s", "--dry-run")
    assert rampsim.world in would.stdout.split()
    assert rampsim.json("worlds", rampsim.world)["id"] == rampsim.world


def test_a_missing_world_is_reported(rampsim: Command) -> None:
    missing = rampsim("worlds", "nowhere")
    assert (missing.exit_code, "There is no world 'nowhere'" in missing.stderr) == (1, True)


def test_seed_prints_what_was_created(rampsim: Command) -> None:
    answer = rampsim.json("seed", "--days", "2", "--per-day", "3")
    assert (answer["orders"], answer["now"]) == (6, "2026-01-07T08:00:00.000Z")
    assert rampsim("seed", "--days", "0").exit_code == 2
