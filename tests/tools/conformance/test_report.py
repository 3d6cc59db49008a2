"""The report of conform as text, JSON and JUnit."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from collections import Counter
from dataclasses import replace

import pytest

from simulator.conformance.report import Report
from simulator.conformance.rules import Finding, Rule, Tally
from simulator.conformance.settings import ConformanceSettings

SETTINGS = ConformanceSettings("http://127.0.0.1:9/v1", "pk_test_1", "sk_test_1", "full")
PROMISE = Rule("quote.arithmetic", "What is received is right.", "Ramp quote", promise=True)
GUESS = Rule("quote.rounding", "It is rounded down.", "M3", promise=False)


def report(*rules: Rule, strict: bool = False) -> Report:
    """Return a report in which these rules are broken."""
    tally = Tally()
    for rule in (PROMISE, GUESS):
        tally.kept(rule)
    for rule in rules:
        tally.breaks(rule, Finding(
            rule.name, "POST /quotes", "destination_amount", rule.basis, "it is 9", "curl -sS -i x", 201, "{}", 3
        ))  # fmt: skip
    made = Report(replace(SETTINGS, strict=strict), tally, calls=5)
    made.answers = {"POST /quotes": Counter({"201": 4, "422 amount_too_low": 1})}
    return made


def test_a_run_without_faults_passes() -> None:
    made = report()
    assert made.passed
    assert made.readable().endswith("Conforms.\n")
    document = json.loads(made.json())
    assert (document["promises"], document["guesses"]) == ({"kept": 1, "broken": []}, {"kept": 1, "differ": []})


def test_a_broken_promise_fails_the_run() -> None:
    made = report(PROMISE)
    assert not made.passed
    (found,) = json.loads(made.json())["promises"]["broken"]
    assert (found["rule"], found["operation"], found["place"]) == (
        "quote.arithmetic", "POST /quotes", "destination_amount",
    )  # fmt: skip
    assert (found["count"], found["basis"], found["status"]) == (3, "Ramp quote", 201)
    text = made.readable()
    assert "### quote.arithmetic: POST /quotes, destination_amount\n\nit is 9 (3 times)\nby: Ramp quote\n" in text
    assert "\nread: rampsim docs ramp-quote\n" in text
    assert "TOKEN=$(curl -sS http://127.0.0.1:9/v1/auth/token" in text
    assert text.endswith("Does not conform: 1 promise broken.\n")


@pytest.mark.parametrize("strict", [False, True])
def test_a_differing_guess_fails_only_a_strict_run(strict: bool) -> None:
    made = report(GUESS, strict=strict)
    assert made.passed is not strict
    assert len(json.loads(made.json())["guesses"]["differ"]) == 1
    suite = ElementTree.fromstring(made.junit())
    assert suite.get("failures") == str(int(strict))


def test_an_unreached_operation_fails_the_run() -> None:
    made = report()
    made.unreached = {"POST /wallets": "it returned 503 network_unavailable (7 times)"}
    assert not made.passed
    assert "- POST /wallets: it returned 503 network_unavailable (7 times)" in made.readable()
    assert json.loads(made.json())["floor"]["unreached"][0]["operation"] == "POST /wallets"
    names = [case.get("name") for case in ElementTree.fromstring(made.junit()) if case.find("failure") is not None]
    assert names == ["POST /wallets"]


def test_unjudged_rules_are_listed_by_reason() -> None:
    made = report()
    made.tally.unjudged = {f"rule.number_{number:02}": "the run is read-only" for number in range(20)}
    assert made.passed
    assert "20, because the run is read-only: rule.number_00, " in made.readable()
    assert " and 8 more" in made.readable()
    assert len(json.loads(made.json())["unjudged"]) == 20


def test_an_incomplete_run_fails() -> None:
    made = report()
    made.troubles.append("schemathesis did not come to the end")
    assert not made.passed
    assert "the run is incomplete" in made.verdict


def test_a_fault_of_many_operations_is_shown_once() -> None:
    made = report()
    words = "the header X-Page is missing"
    for number in range(20):
        found = Finding(PROMISE.name, f"GET /things/{number}", "X-Page", "Lists", words, "curl -sS", 200, "")
        made.tally.breaks(PROMISE, found)
    text = made.readable()
    assert text.count(words) == 1
    assert "The same at GET /things/1, GET /things/2, " in text
    assert " and 7 more." in text
    assert "20 promises broken" in text
    assert len(json.loads(made.json())["promises"]["broken"]) == 20
