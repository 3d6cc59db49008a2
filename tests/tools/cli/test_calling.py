"""`rampsim call` and `rampsim env`."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from tests.tools.cli.conftest import Command

QUOTE = {
    "type": "onramp", "network": "celo", "asset": "USDC", "fiat_currency": "KES", "amount": "5000",
    "amount_currency": "KES", "method": "mobile_money",
}  # fmt: skip


def test_a_call_is_signed_in_as_the_world_and_shown_line_by_line(rampsim: Command) -> None:
    lines = rampsim("call", "GET", "/profile").stdout.splitlines()
    assert 'account_type = "individual"' in lines
    assert "business_name = null" in lines


def test_a_nested_value_has_a_path_and_an_empty_list_is_shown(rampsim: Command) -> None:
    lines = rampsim("call", "GET", "/transactions").stdout.splitlines()
    assert lines[:2] == ["data = []", "pagination.page = 1"]


def test_one_field_is_printed_bare(rampsim: Command) -> None:
    quote = rampsim("call", "POST", "/quotes", json.dumps(QUOTE), "--field", "id").stdout.strip()
    assert quote.startswith("qt_")
    assert rampsim("call", "get", f"/quotes/{quote}", "-f", "fee.currency").stdout == "KES\n"
    assert rampsim("call", "GET", "/wallet/assets", "-f", "data.0.symbol").exit_code == 0


@pytest.mark.parametrize("field", ["nothing", "fee.nothing", "fee.total.0"])
def test_a_field_that_is_missing_is_refused_with_the_names_that_exist(rampsim: Command, field: str) -> None:
    result = rampsim("call", "POST", "/quotes", json.dumps(QUOTE), "--field", field)
    assert (result.exit_code, result.stdout) == (1, "")
    assert f"the response has no field {field!r}; at" in result.stderr


def test_a_body_comes_from_a_file_or_from_standard_input(rampsim: Command, tmp_path: Path) -> None:
    (tmp_path / "quote.json").write_text(json.dumps(QUOTE))
    shown = rampsim.json("call", "POST", "/quotes", f"@{tmp_path / 'quote.json'}", "--json")
    assert (shown["type"], shown["fiat_currency"]) == ("onramp", "KES")
    missing = rampsim("call", "POST", "/quotes", f"@{tmp_path / 'none.json'}")
    assert (missing.exit_code, "cannot read" in missing.stderr) == (2, True)


def test_a_refusal_has_status_code_and_field(rampsim: Command) -> None:
    result = rampsim("call", "POST", "/quotes", json.dumps({**QUOTE, "amount": "1"}))
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("rampsim: 422 amount_too_low")
    assert "at `network`" in rampsim("call", "POST", "/quotes", '{"type": "onramp"}').stderr
    shown = rampsim("call", "POST", "/quotes", "{}", "--json")
    assert (shown.exit_code, json.loads(shown.stdout)["error"]["code"]) == (1, "missing_parameter")


def test_each_post_has_its_own_idempotency_key_unless_one_is_named(rampsim: Command) -> None:
    ids = [rampsim("call", "POST", "/quotes", json.dumps(QUOTE), "-f", "id").stdout for _ in range(2)]
    again = [rampsim("call", "POST", "/quotes", json.dumps(QUOTE), "-f", "id", "--key", "one").stdout for _ in range(2)]
    assert ids[0] != ids[1]
    assert again[0] == again[1]
    assert rampsim.json("advice", "--json") == []


def test_the_environment_is_chosen_and_headers_are_sent(rampsim: Command) -> None:
    profile = rampsim.json("call", "GET", "/profile", "--json", "--environment", "production", "-H", "X-Trace: 7")
    assert profile["environment"] == "production"
    sent = [row["headers"].get("x-trace") for row in rampsim.client.get("/requests")["data"] if row["path"] != "/auth"]
    assert sorted(filter(None, sent)) == ["7"]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["POST", "/quotes", "{"], "BODY is not JSON"),
        (["GET", "quotes"], "PATH must start with a slash: /quotes"),
        (["GET", "/quotes", "-H", "trace"], "'trace' must be NAME:VALUE"),
        (["FETCH", "/quotes"], "'FETCH' is not one of"),
    ],
)
def test_wrong_usage_is_named(rampsim: Command, words: list[str], reason: str) -> None:
    result = rampsim("call", *words)
    assert (result.exit_code, reason in result.stderr) == (2, True)
    assert rampsim.client.get("/requests")["data"] == []


def test_a_world_that_does_not_exist_is_refused(rampsim: Command) -> None:
    result = rampsim("call", "GET", "/profile", "--world", "nowhere")
    assert (result.exit_code, "nowhere" in result.stderr) == (1, True)


def test_env_prints_what_a_shell_a_dotenv_file_and_a_program_can_read(rampsim: Command) -> None:
    values = rampsim.json("env", "--format", "json")
    keys = rampsim.client.get(f"/worlds/{rampsim.world}")["credentials"]["sandbox"]
    assert values["SIMULATOR_WORLD"] == rampsim.world
    assert (values["SIMULATOR_SECRET_KEY"], values["SIMULATOR_BASE_URL"]) == (keys["secret_key"], keys["base_url"])
    shell = rampsim("env").stdout.splitlines()
    assert dict(shlex.split(line)[1].split("=", 1) for line in shell) == values
    assert dict(line.split("=", 1) for line in rampsim("env", "--format", "dotenv").stdout.splitlines()) == values
