"""Running a scenario with no integrator: its `drive` through the real interface, then its `expect`.

Every run has a world of its own under a manual clock, so it repeats exactly. The runner is a client like any other:
it knows the interface, the control interface and nothing of the inside.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlsplit

from pydantic import TypeAdapter

from simulator.engine.clients.address import CONTROL_BASE, inbox_path
from simulator.engine.clients.asynchronous import Client, Reply
from simulator.engine.scenario.files.library import ScenarioFile
from simulator.engine.scenario.language.parts import Tests
from simulator.engine.scenario.play.filling import NoValue, fill, value_at
from simulator.engine.scenario.play.matching import ABSENT, dig, passes
from simulator.engine.scenario.run.drive import (
    Advance,
    DriveAction,
    DriveCall,
    ExpectAnswer,
    Expectation,
    ExpectDelivery,
    ExpectEvent,
    ExpectResource,
    ExpectWebhooks,
    Receiver,
    has_receiver,
)
from simulator.engine.scenario.run.results import Check, RunResult, TimelineEntry
from simulator.engine.scenario.run.tracing import Trace, standing
from simulator.engine.text.json import JsonObject, dumps
from simulator.engine.worlds.settings import DEFAULTS, MANUAL_START
from simulator.kernel.clock import SECOND_MS, format_duration

MAX_ATTEMPTS = 5
FIRST_BACKOFF_SECONDS = 1
RETRIED = (429, 503)
_NO_ADDRESS = "this simulator has no address to send webhooks to; run it against a server"

_EXPECTATIONS: TypeAdapter[Any] = TypeAdapter(Expectation)


class RunFailed(Exception):
    """The run cannot go on."""


_FAILURES = (RunFailed, NoValue, ConnectionError)


async def run(file: ScenarioFile, client: Client, *, seed: int | None = None, keep: bool = False) -> RunResult:
    """Run a scenario in a fresh world; `keep` leaves that world for whoever wants to look at it."""
    runner = _Run(file, client, seed)
    try:
        await runner.go()
    finally:
        if runner.result.world and not keep:
            await client.request("DELETE", f"{CONTROL_BASE}/worlds/{quote(runner.result.world)}")
    return runner.result


class _Run:
    """One run: its world, tokens, the answers so far."""

    def __init__(self, file: ScenarioFile, client: Client, seed: int | None) -> None:
        self._file = file
        self._client = client
        self._seed = seed
        self._control_headers: dict[str, str] = {}
        self._credentials: JsonObject = {}
        self._tokens: dict[str, str] = {}
        self._variables: JsonObject = {}
        self._trace = Trace(file, self._look, has_address=bool(client.origin))
        self._now = ""
        self.result = RunResult(file.name)

    async def go(self) -> None:
        try:
            await self._prepare()
            for number, step in enumerate(self._file.scenario.drive):
                await self._step(number, step)
                await self._collect(delivered=isinstance(step, Advance))
            self.result.checks.append(Check("drive"))
        except _FAILURES as error:
            self.result.checks.append(Check("drive", str(error) or "the connection was cut"))
        if not self._credentials:
            return
        try:
            await self._control("POST", "/settle?wait=true")
            await self._collect(delivered=True)
            await self._note_skipped()
        except _FAILURES as error:
            self.result.checks.append(Check("settle", str(error) or "the connection was cut"))
        for raw in self._file.document.get("expect") or []:
            self.result.checks.append(await self._check(raw))

    # Preparing

    async def _prepare(self) -> None:
        """A world under a manual clock, the scenario in it, and a receiver where it asks about webhooks.

        It inherits nothing from its server, so that a run comes out alike everywhere.
        """
        wanted = {
            "clock": {"mode": "manual", "now": MANUAL_START},
            "scenarios": [],
            "settings": {**DEFAULTS},
            **({} if self._seed is None else {"seed": self._seed}),
        }
        world = await self._control("POST", "/worlds", wanted)
        self.result.world = world["id"]
        self._control_headers = {"X-Simulator-World": world["id"]}
        self._now = world["clock"]["now"]
        self._credentials = world["credentials"]
        self._variables["world"] = world
        await self._control("POST", "/scenarios", self._file.document)
        if has_receiver(self._file.document):
            await self._register_inbox()
        names = [*self._file.scenario.below, self._file.name]
        await self._control("PUT", "/scenarios/active", {"names": names})
        await self._collect()

    @property
    def _inbox(self) -> str:
        return f"/inbox/scenario-{quote(self.result.world)}"

    async def _register_inbox(self) -> None:
        if not self._client.origin:
            return
        url = f"{self._client.origin}{inbox_path(self.result.world, f'scenario-{self.result.world}')}"
        call = DriveCall(post="/webhooks", body={"url": url, "events": ["*"]}, retry=False)
        made = (await self._call("webhooks", call)).body
        self._variables["receiver"] = made
        self._trace.know_inbox(made.get("id", "") if isinstance(made, dict) else "")

    async def _control(
        self, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None
    ) -> Any:
        reply = await self._client.request(
            method, CONTROL_BASE + path, body, {**self._control_headers, **(headers or {})}
        )
        if reply.status >= 400:
            raise RunFailed(f"{method} {CONTROL_BASE}{path} answered {reply.status}: {_text(reply.body)}")
        return reply.body

    def _note(self, kind: str, text: str) -> None:
        self.result.timeline.append(TimelineEntry(self._now, kind, text))

    # Driving

    async def _step(self, number: int, step: Any) -> None:
        if isinstance(step, Advance):
            await self._advance(step.advance / SECOND_MS, f"advance {format_duration(step.advance)}")
        elif isinstance(step, DriveAction):
            await self._act(step)
        elif isinstance(step, Receiver):
            await self._answer_webhooks(step)
        elif isinstance(step, DriveCall):
            await self._call(f"{self._file.name}-{number}", step)
        else:
            for name, named in step.items():
                if isinstance(named, DriveAction):
                    self._variables[name] = await self._act(named)
                else:
                    self._variables[name] = (await self._call(f"{self._file.name}-{number}", named)).body

    async def _advance(self, seconds: float, why: str) -> None:
        self._note("clock", why)
        receipt = await self._control("POST", "/clock/advance?wait=true", {"by": seconds})
        self._now = receipt["now"]

    async def _answer_webhooks(self, step: Receiver) -> None:
        if "receiver" not in self._variables:
            raise RunFailed(_NO_ADDRESS)
        statuses = step.receiver.respond
        self._note("action", f"the receiver answers {', '.join(map(str, statuses))}")
        await self._control("PUT", self._inbox, {"respond": statuses})

    async def _act(self, step: DriveAction) -> Any:
        """Perform an action; returns the resource after it."""
        target = {} if step.target is None else {"target": fill(step.target, self._variables)}
        body = {**target, **fill(step.parameters, self._variables)}
        self._note("action", " ".join([step.action, *target.values()]))
        headers = {"X-Simulator-Environment": self._environment(step)}
        done = await self._control("POST", f"/actions/{step.action}", body, headers)
        return done.get("resource")

    async def _call(self, key: str, call: DriveCall) -> Reply:
        """One call of the drive, tried again after 429 and 503 as the specification advises; RunFailed otherwise."""
        path = fill(call.path, self._variables)
        body = fill(call.body, self._variables)
        method = call.method.upper()
        tries_again = self._file.scenario.retry if call.retry is None else call.retry
        headers = {"Idempotency-Key": key} if method == "POST" else {}
        headers |= {name: str(fill(value, self._variables)) for name, value in call.headers.items()}
        wait_seconds = FIRST_BACKOFF_SECONDS
        for attempt in range(1, MAX_ATTEMPTS + 1):
            reply = await self._attempt(call, method, path, body, headers)
            status = 0 if reply is None else reply.status
            self._note("call", f"{method} {path} → {_outcome(reply)}")
            if reply is not None and _is_wanted(call, reply):
                return reply
            if not tries_again or attempt == MAX_ATTEMPTS or (reply is not None and status not in RETRIED):
                break
            asked = "" if reply is None else reply.headers.get("retry-after", "")
            pause = max(wait_seconds, int(asked) if asked.isdecimal() else 0)
            await self._advance(pause, f"wait {pause} s before trying again")
            wait_seconds *= 2
        wanted = " ".join(["2xx" if call.status is None else str(call.status), *([call.code] if call.code else [])])
        answer = "the connection was cut" if reply is None else f"{status}: {_text(reply.body)}"
        raise RunFailed(f"{method} {path} should answer {wanted}; it answered {answer}")

    async def _attempt(
        self, call: DriveCall, method: str, path: str, body: object, headers: Mapping[str, str]
    ) -> Reply | None:
        """The answer, with a fresh token where the old one has expired; None when the connection was cut.

        A path of the control interface is called there, in the world of the run.
        """
        environment = self._environment(call)
        if path.startswith(f"{CONTROL_BASE}/"):
            own = {**self._control_headers, "X-Simulator-Environment": environment}
            return await self._client.request(method, path, body, own)
        base = urlsplit(self._credentials[environment]["base_url"]).path
        for fresh in (False, True):
            try:
                token = await self._token(environment, base, fresh=fresh)
                if isinstance(token, Reply):
                    return token
                authorization = {"Authorization": f"Bearer {token}"}
                reply = await self._client.request(method, base + path, body, {**authorization, **headers})
            except ConnectionError:
                return None
            if reply.status != 401 or call.status == 401:
                break
        return reply

    def _environment(self, step: DriveCall | DriveAction) -> str:
        """Where a step applies: the first environment of the service, unless it names one."""
        return step.environment or next(iter(self._credentials))

    async def _token(self, environment: str, base: str, *, fresh: bool) -> str | Reply:
        """A token of an environment, or the answer that refused one."""
        if fresh or environment not in self._tokens:
            keys = self._credentials[environment]
            pair = {"public_key": keys["public_key"], "secret_key": keys["secret_key"]}
            reply = await self._client.request("POST", f"{base}/auth/token", pair)
            if reply.status != 200:
                return reply
            if not isinstance(reply.body, dict) or "access_token" not in reply.body:
                raise ConnectionError("the token exchange answered no token")
            self._tokens[environment] = reply.body["access_token"]
        return self._tokens[environment]

    # Looking

    async def _look(self, path: str) -> Any:
        return await self._control("GET", path)

    async def _collect(self, *, delivered: bool = False) -> None:
        """What happened into the timeline, at its own moments."""
        self.result.timeline += await self._trace.collect(delivered=delivered)

    async def _note_skipped(self) -> None:
        progress = await self._control("GET", f"/scenarios/{quote(self._file.name)}")
        for step in progress.get("skipped") or []:
            self.result.timeline.append(
                TimelineEntry(step["at"], "skipped", f"{step['part']} ({step['action']}): {step['reason']}")
            )
        # What happened at a moment stands before the note that the clock moves on from there.
        self.result.timeline.sort(key=lambda line: (line.at, line.kind == "clock"))

    async def _check(self, raw: Mapping[str, object]) -> Check:
        name = "expect " + _text(raw)
        try:
            expectation = _EXPECTATIONS.validate_python(fill(raw, self._variables))
            return Check(name, await self._problem(expectation))
        except _FAILURES as error:
            return Check(name, str(error) or "the connection was cut")

    async def _problem(
        self, expectation: ExpectEvent | ExpectResource | ExpectAnswer | ExpectDelivery | ExpectWebhooks
    ) -> str:
        """Why an expectation is not met, "" when it is."""
        if isinstance(expectation, ExpectEvent):
            return self._event_problem(expectation)
        if isinstance(expectation, ExpectAnswer):
            return _difference(expectation.where, value_at(expectation.answer, self._variables))
        if isinstance(expectation, ExpectDelivery):
            return await self._delivery_problem(expectation)
        if isinstance(expectation, ExpectWebhooks):
            return await self._webhooks_problem()
        found = await self._control("GET", f"/resources/{quote(expectation.resource)}")
        problem = _difference(expectation.where, found["resource"])
        return "\n".join([problem, *standing(found)]) if problem else ""

    def _event_problem(self, expected: ExpectEvent) -> str:
        objects = [event["data"]["object"] for event in self._trace.events if event["type"] == expected.event]
        problem = _count_problem(f"{expected.event} was emitted", expected.where, objects, expected.times)
        if problem and objects:
            about = dict.fromkeys(str(one["id"]) for one in objects if "id" in one)
            return f"{problem}; it told of {', '.join(about)}" if about else problem
        if problem or objects or expected.times is not None:
            return problem
        emitted = ", ".join(dict.fromkeys(event["type"] for event in self._trace.events)) or "nothing"
        return f"{expected.event} was never emitted; emitted: {emitted}"

    async def _delivery_problem(self, expected: ExpectDelivery) -> str:
        if not self._client.origin:
            return _NO_ADDRESS
        attempts = (await self._control("GET", "/deliveries"))["data"]
        fitting = [row for row in attempts if row["event_type"] == expected.delivery]
        problem = _count_problem(f"{expected.delivery} was sent", expected.where, fitting, expected.times)
        if not problem and not fitting and expected.times != 0:
            problem = f"{expected.delivery} was never sent"
            sent = ", ".join(dict.fromkeys(row["event_type"] for row in attempts))
            return f"{problem}; sent: {sent}" if sent else problem
        return problem + self._trace.told(fitting) if problem else ""

    async def _webhooks_problem(self) -> str:
        if not self._client.origin:
            return _NO_ADDRESS
        attempts = (await self._control("GET", "/deliveries"))["data"]
        wanted = {(row["event_id"], row["endpoint_id"]): row for row in attempts}
        done = {(row["event_id"], row["endpoint_id"]) for row in attempts if row["status"] == "succeeded"}
        lost = [row for key, row in wanted.items() if key not in done]
        attempted = {event_id for event_id, _ in wanted}
        silent = [event for event in self._trace.events if not event["livemode"] and event["id"] not in attempted]
        problems = [
            f"{row['event_type']} ({row['event_id']}) got {row['response_status'] or row['error']}" for row in lost
        ]
        problems += [f"{event['type']} ({event['id']}) was not sent" for event in silent]
        return "\n".join(problems)


def _is_wanted(call: DriveCall, reply: Reply) -> bool:
    """Whether an answer is the one that the call expects."""
    if call.status is None:
        return 200 <= reply.status < 300
    return reply.status == call.status and call.code in (None, dig(reply.body, "error.code"))


def _count_problem(
    what: str, where: Mapping[str, object], shown: Sequence[Mapping[str, object]], times: int | None
) -> str:
    """Why not exactly `times` (without it: not one) of these fit, "" when they do or when there are none at all."""
    fitting = sum(not _difference(where, one) for one in shown)
    if times is not None:
        return "" if fitting == times else f"{what} {_times(fitting)}, not {times}"
    return f"{what}, but with {_difference(where, shown[-1])}" if shown and not fitting else ""


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _difference(where: Mapping[str, object], shown: Mapping[str, object]) -> str:
    """What does not hold of `where`, in words; "" when all does."""
    wrong = []
    for path, wanted in where.items():
        value = dig(shown, path)
        if not passes(wanted.given if isinstance(wanted, Tests) else wanted, value):
            asked = wanted.model_dump(mode="json", exclude_none=True) if isinstance(wanted, Tests) else wanted
            wrong.append(f"{path} {'absent' if value is ABSENT else _text(value)} (wanted {_text(asked)})")
    return ", ".join(wrong)


def _outcome(reply: Reply | None) -> str:
    if reply is None:
        return "cut"
    body = reply.body if isinstance(reply.body, dict) else {}
    error = body.get("error")
    detail = error.get("code") if isinstance(error, dict) else body.get("id")
    return f"{reply.status} {detail}" if detail else str(reply.status)


def _text(value: object) -> str:
    return dumps(value).decode()
