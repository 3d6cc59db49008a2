"""Running the behaviour rules against a service that refuses, lacks data, sends garbage or does not respond."""

from __future__ import annotations

import asyncio
import importlib
import json
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from simulator.conformance.bench import WITHOUT, Bench, MissingData, Need, finding
from simulator.conformance.laws import Always, Law, play
from simulator.conformance.report import Report
from simulator.conformance.rules import Rule, Tally
from simulator.conformance.running import own_simulator, play_laws
from simulator.conformance.service import Answer, NoAnswer, Sent, Service, parsed
from simulator.conformance.settings import ConformanceSettings
from simulator.conformance.shapes import ShapeJudge
from simulator.contract.files import strict_document
from simulator.engine.lazy import names_in
from simulator.providers.ramp import laws
from simulator.providers.ramp.laws import RULEBOOK
from simulator.service import TOKEN_EXCHANGE

RULE = Rule("thing.made", "A thing is made.", "Things", promise=True)
SECRET = "sk_test_1"


def answer(status: int = 200, raw: bytes = b'{"id": "x"}', operation: str = "GET /things/{id}") -> Answer:
    sent = Sent(operation, "http://127.0.0.1:9/v1/things/x", {"Authorization": "Bearer tok_1"}, None)
    return Answer(sent, status, {}, raw, parsed(raw))


def bench(tally: Tally, *, writes: bool = True) -> Bench:
    return Bench(Service("http://127.0.0.1:9/v1", "pk_test_1", SECRET, TOKEN_EXCHANGE), tally, None, writes=writes)


def played(work: Callable[[Bench], object], *needs: Need, writes: bool = True) -> Tally:
    tally = Tally(secret=SECRET)

    def law(bench: Bench) -> None:
        work(bench)

    play(bench(tally, writes=writes), [Law(RULE, law, needs)], lambda world: None)
    return tally


def test_a_law_that_holds_is_counted() -> None:
    tally = played(lambda bench: bench.equal(answer(), "id", "x"))
    assert (tally.judged, tally.findings, tally.unjudged) == ({"thing.made": 1}, {}, {})
    assert tally.holding(promises=True) == 1


def test_findings_at_one_place_are_counted_together() -> None:
    def work(bench: Bench) -> None:
        for _ in range(5):
            bench.equal(answer(), "id", "y")
        bench.equal(answer(), "name", "y")

    found = played(work).found(promises=True)
    assert [(one.place, one.count, one.message) for one in found] == [
        ("id", 5, "id is 'x', not 'y'"),
        ("name", 1, "name is (absent), not 'y'"),
    ]


@pytest.mark.parametrize(
    ("need", "why"),
    [("writes", "is read-only"), ("control", "cannot control"), ("hook", "--webhook-url")],
)
def test_a_rule_without_its_preconditions_is_not_checked(need: Need, why: str) -> None:
    tally = played(lambda bench: pytest.fail("played"), need, writes=False)
    assert why in tally.unjudged["thing.made"]
    assert tally.findings == {}


def test_a_missing_field_breaks_the_law() -> None:
    tally = played(lambda bench: bench.holds(answer().text("fee.total") == "1", answer(), ""))
    assert [(one.rule, one.place) for one in tally.findings.values()] == [("thing.made", "fee.total")]


def test_no_response_breaks_the_law() -> None:
    def work(bench: Bench) -> None:
        raise NoAnswer("GET /things: connection refused")

    assert [(one.operation, one.status) for one in played(work).findings.values()] == [("GET /things", None)]


def test_missing_data_is_not_a_fault() -> None:
    def work(bench: Bench) -> None:
        raise MissingData("the account has no things")

    assert played(work).unjudged == {"thing.made": "the account has no things"}


def test_commands_mask_secrets_and_tokens() -> None:
    body = f'{{"secret_key": "{SECRET}"}}'.encode()
    sent = Sent("POST /auth/token", "http://h/v1/auth/token", {"Content-Type": "application/json"}, body)
    tally = Tally(secret=SECRET)
    tally.breaks(RULE, finding(RULE, Answer(sent, 200, {}, b'{"access_token": "tok_9"}'), "", "wrong"))
    (found,) = tally.findings.values()
    assert SECRET not in found.curl
    words = shlex.split(found.curl.replace('"$RAMPSIM_SECRET_KEY"', "given"))
    assert json.loads(words[-1]) == {"secret_key": "given"}
    assert "tok_9" not in found.answer
    key = {"Authorization": "Bearer tok_1", "Idempotency-Key": "k"}
    line = Sent("POST /quotes", "http://h/v1/quotes", key, b"{}").curl()
    assert line == (
        'curl -sS -i -X POST http://h/v1/quotes -H "Authorization: Bearer $TOKEN" '
        "-H \"Idempotency-Key: $(date +%s)-$RANDOM\" -d '{}'"
    )


def test_a_wrong_shape_is_not_found_twice() -> None:
    def work(bench: Bench) -> None:
        bench.tally.breaks(shape, finding(shape, answer(), "name", "it is not there"))
        answer().text("name")

    shape = Rule("shape.required", "What has to be there is there.", "Things", promise=True)
    tally = played(work)
    assert [found.rule for found in tally.findings.values()] == ["shape.required"]
    assert tally.unjudged == {"thing.made": "the response has no name (GET /things/{id})"}


def test_commands_share_keys_and_pass_on_ids() -> None:
    headers = {"Authorization": "Bearer tok_1", "Idempotency-Key": "k-1"}
    raw = b'{"id": "thing_123456"}'
    first = Answer(Sent("POST /things", "http://h/things", headers, b"{}"), 201, {}, raw, parsed(raw))
    body = b'{"thing": "thing_123456"}'
    second = Answer(Sent("POST /uses", "http://h/uses/thing_123456", headers, body), 201, {}, b"{}")
    lines = finding(RULE, second, "", "wrong", (first,)).curl
    # The arguments of the last curl, with the id of this run.
    curl = (
        """curl() { if [ "$4" = http://h/things ]; then echo '{"id": "thing_new"}'; else printf '%s\\n' "$@"; fi; }\n"""
    )
    shell = subprocess.run(["bash", "-c", f"{curl}{lines}"], capture_output=True, text=True, check=True)
    assert "http://h/uses/thing_new" in shell.stdout
    assert '{"thing": "thing_new"}' in shell.stdout
    assert lines.count("$KEY1") == 2
    assert "k-1" not in lines


def test_every_rule_has_a_name_a_title_and_a_basis() -> None:
    rules = RULEBOOK.rules
    assert len({rule.name for rule in rules}) == len(rules) >= 200
    for rule in rules:
        area, _, what = rule.name.partition(".")
        assert area.islower()
        assert what.islower()
        assert rule.title.endswith("."), rule
        assert rule.basis, rule


def test_every_rule_in_a_module_is_in_the_rulebook() -> None:
    folders = ("account", "conventions", "money")
    modules = [
        importlib.import_module(f"{laws.__name__}.{folder}.{path.stem}")
        for folder in folders
        for path in sorted((Path(laws.__file__ or "").parent / folder).glob("*.py"))
    ]
    written = {row.rule.name for one in modules for row in names_in(one).values() if isinstance(row, Law | Always)}
    assert written == {rule.name for rule in RULEBOOK.rules}


@pytest.mark.farm
def test_balance_of_a_fresh_account_lasts_for_all_laws() -> None:
    """Without control nothing refills the account, and a law that lacks funds goes unjudged."""

    async def playing() -> Report:
        async with own_simulator() as base:
            settings = ConformanceSettings(base, "pk_test_simulator", "sk_test_simulator", mode="full")
            report = Report(settings, Tally())
            await asyncio.to_thread(play_laws, report, ShapeJudge(strict_document()), RULEBOOK)
        return report

    tally = asyncio.run(playing()).tally
    assert {*tally.unjudged.values()} - {*WITHOUT.values(), "no response in this run has this field"} == set()
    assert tally.findings == {}
