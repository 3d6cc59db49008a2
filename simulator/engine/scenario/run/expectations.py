"""Checks the `expect` section of a scenario after the run, and explains each unmet expectation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from pydantic import TypeAdapter

from simulator.engine.scenario.language.parts import Tests
from simulator.engine.scenario.play.filling import fill, value_at
from simulator.engine.scenario.play.matching import ABSENT, dig, passes
from simulator.engine.scenario.run.drive import ExpectAnswer, Expectation, ExpectDelivery, ExpectEvent, ExpectWebhooks
from simulator.engine.scenario.run.results import Get, Trace, describe_history
from simulator.engine.text.json import JsonObject, dumps

NO_ADDRESS = "this simulator has no address for webhooks; run the scenario against a server"

_EXPECTATIONS: TypeAdapter[Any] = TypeAdapter(Expectation)


class ExpectationChecker:
    """Checks expectations against the world in which the scenario ran."""

    def __init__(self, get: Get, trace: Trace, variables: JsonObject) -> None:
        self._get = get
        self._trace = trace
        self._variables = variables

    async def problem(self, raw: Mapping[str, object]) -> str:
        """Return the reason why an expectation is not met, or "" if it is met."""
        expected = _EXPECTATIONS.validate_python(fill(raw, self._variables))
        if isinstance(expected, ExpectEvent):
            return self._event(expected)
        if isinstance(expected, ExpectAnswer):
            return _difference(expected.where, value_at(expected.answer, self._variables))
        if isinstance(expected, ExpectDelivery | ExpectWebhooks):
            if not self._trace.has_address:
                return NO_ADDRESS
            attempts = (await self._get("/deliveries"))["data"]
            return self._delivery(expected, attempts) if isinstance(expected, ExpectDelivery) else self._lost(attempts)
        found = await self._get(f"/resources/{quote(expected.resource)}")
        problem = _difference(expected.where, found["resource"])
        return "\n".join([problem, *describe_history(found)]) if problem else ""

    def _event(self, expected: ExpectEvent) -> str:
        objects = [event["data"]["object"] for event in self._trace.events if event["type"] == expected.event]
        problem = _count_problem(f"{expected.event} was emitted", expected.where, objects, expected.times)
        if problem and objects:
            about = dict.fromkeys(str(one["id"]) for one in objects if "id" in one)
            return f"{problem}; it was about {', '.join(about)}" if about else problem
        if problem or objects or expected.times is not None:
            return problem
        emitted = ", ".join(dict.fromkeys(event["type"] for event in self._trace.events)) or "nothing"
        return f"{expected.event} was never emitted; emitted: {emitted}"

    def _delivery(self, expected: ExpectDelivery, attempts: Sequence[JsonObject]) -> str:
        of_type = [row for row in attempts if row["event_type"] == expected.delivery]
        problem = _count_problem(f"{expected.delivery} was sent", expected.where, of_type, expected.times)
        if not problem and not of_type and expected.times != 0:
            problem = f"{expected.delivery} was never sent"
            sent = ", ".join(dict.fromkeys(row["event_type"] for row in attempts))
            return f"{problem}; sent: {sent}" if sent else problem
        return problem + self._trace.describe_attempts(of_type) if problem else ""

    def _lost(self, attempts: Sequence[JsonObject]) -> str:
        """Return one line for each event that was not sent, and for each event that an endpoint did not acknowledge."""
        wanted = {(row["event_id"], row["endpoint_id"]): row for row in attempts}
        done = {(row["event_id"], row["endpoint_id"]) for row in attempts if row["status"] == "succeeded"}
        lost = [row for key, row in wanted.items() if key not in done]
        attempted = {event_id for event_id, _ in wanted}
        unsent = [event for event in self._trace.events if not event["livemode"] and event["id"] not in attempted]
        lines = [
            f"{one['event_type']} ({one['event_id']}) got {one['response_status'] or one['error']}" for one in lost
        ]
        return "\n".join([*lines, *(f"{event['type']} ({event['id']}) was not sent" for event in unsent)])


def _count_problem(
    what: str, where: Mapping[str, object], shown: Sequence[Mapping[str, object]], times: int | None
) -> str:
    """Return a message if the wrong number of objects matches `where`, otherwise "". `times` None means any number."""
    count = sum(not _difference(where, one) for one in shown)
    if times is not None:
        return "" if count == times else f"{what} {'once' if count == 1 else f'{count} times'}, not {times}"
    return f"{what}, but with {_difference(where, shown[-1])}" if shown and not count else ""


def _difference(where: Mapping[str, object], shown: Mapping[str, object]) -> str:
    """Return a description of the tests in a `where` that an object does not pass, or "" if it passes all."""
    wrong = []
    for path, wanted in where.items():
        value = dig(shown, path)
        if not passes(wanted.given if isinstance(wanted, Tests) else wanted, value):
            tests = wanted.model_dump(mode="json", exclude_none=True) if isinstance(wanted, Tests) else wanted
            actual = "absent" if value is ABSENT else dumps(value).decode()
            wrong.append(f"{path} {actual} (wanted {dumps(tests).decode()})")
    return ", ".join(wrong)
