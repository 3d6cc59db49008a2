"""`rampsim faults`: options derived from the models, presets by name, and the resulting faults."""

from __future__ import annotations

import pytest

from simulator.cli.worlds.faults import _members
from simulator.engine.faults.models import Deliver, InterfaceFault, WebhookFault, WebhookMatch
from simulator.engine.faults.presets import PRESETS
from simulator.exploration.catalogue import CLASSES
from tests.tools.cli.conftest import Command


def test_a_fault_of_calls_is_made_of_options(rampsim: Command) -> None:
    made = rampsim.json(
        *("faults", "add", "--method", "POST", "--path", "/quotes", "--status", "503", "--code", "later"),
        *("--retry-after", "3", "--after-commit", "--delay", "2s", "--times", "2", "--probability", "0.5"),
    )
    assert made["match"] == {"method": "POST", "path": "/quotes"}
    assert made["respond"] == {"status": 503, "code": "later", "retry_after": 3}
    assert (made["after_commit"], made["delay"], made["times"], made["probability"]) == (True, "2s", 2, 0.5)
    assert [row["id"] for row in rampsim.json("faults")] == [made["id"]]
    assert rampsim("faults", "remove", made["id"]).exit_code == 0
    assert rampsim.json("faults", "list") == []


def test_a_fault_of_webhooks_is_made_of_options(rampsim: Command) -> None:
    made = rampsim.json("faults", "add", "--webhook", "transaction.completed", "--drop", "--times", "1")
    assert (made["webhook"], made["deliver"], made["times"]) == ({"event": "transaction.completed"}, {"drop": True}, 1)
    made = rampsim.json("faults", "add", "--webhook", "*", "--unknown-enum", "--hold", "terminal")
    assert (made["webhook"], made["deliver"]) == ({}, {"unknown_enum": True, "hold": "terminal"})
    assert rampsim("faults", "clear").exit_code == 0
    assert rampsim.json("faults") == []


def test_a_word_may_stand_where_true_may(rampsim: Command) -> None:
    made = rampsim.json("faults", "add", "--path", "/quotes", "--extra-field", "added")
    assert made["extra_field"] == "added"


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_is_a_class_of_explore_and_is_taken(rampsim: Command, name: str) -> None:
    assert name in CLASSES or name == "slow-day", "a slow day has no site that explore could choose"
    made = rampsim.json("faults", "add", name, "--times", "1")
    assert made["times"] == 1
    assert {key: made[key] for key in PRESETS[name].fault} == PRESETS[name].fault
    rampsim("faults", "clear")


def test_a_preset_may_be_narrowed(rampsim: Command) -> None:
    made = rampsim.json("faults", "add", "refused-503", "--path", "/quotes", "--retry-after", "9")
    assert (made["match"], made["respond"]["status"], made["respond"]["retry_after"]) == ({"path": "/quotes"}, 503, 9)
    made = rampsim.json("faults", "add", "webhook-late", "--webhook", "transaction.completed")
    assert (made["webhook"]["event"], made["deliver"]["delay"]) == ("transaction.completed", "6h")


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["--copies", "2"], 2, "--copies needs a webhook fault: add --webhook EVENT"),
        (["--webhook", "*", "--path", "/quotes"], 2, "--path does not apply to webhook faults"),
        (["refused-504"], 2, "unknown preset 'refused-504'"),
        (["--path", "/quots", "--drop"], 1, "did you mean /quotes"),
        (["--path", "/quotes", "--times", "often", "--drop"], 2, "--times: 'often' is not JSON; use integer"),
        (["--path", "/quotes"], 1, "a fault needs at least one of"),
        (
            ["--path", "/quotes", "--status", "503"],
            2,
            "an error response also needs --code, for example --status 503 --code",
        ),
        ([], 2, "choose a fault: a PRESET (`rampsim faults presets` lists them), or an option"),
    ],
)
def test_add_explains_wrong_usage(rampsim: Command, words: list[str], code: int, told: str) -> None:
    result = rampsim("faults", "add", *words)
    assert (result.exit_code, told in " ".join(result.stderr.split())) == (code, True), result.stderr


def test_every_fault_field_is_an_option_with_help(rampsim: Command) -> None:
    text = rampsim("faults", "add", "--help").stdout
    for is_webhook, models in ((False, (InterfaceFault,)), (True, (WebhookFault, Deliver, WebhookMatch))):
        members = _members(is_webhook)
        apart = {"match", "respond", "act", "latency", "webhook", "deliver", "event"}
        assert {name for model in models for name in model.model_fields} - apart <= members.keys()
        for name, member in members.items():
            assert f"--{name.replace('_', '-')}" in text
            assert member.meaning, name


def test_presets_are_listed(rampsim: Command) -> None:
    lines = rampsim("faults", "presets").stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(PRESETS)
