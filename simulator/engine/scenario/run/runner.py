"""Runs a scenario without an integrator: sets up a new world with a manual clock, so that runs repeat exactly, plays
its `drive` over HTTP like any client, then checks its `expect`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any
from urllib.parse import quote, urlsplit

from simulator.engine.clients.address import CONTROL_BASE, inbox_path
from simulator.engine.clients.asynchronous import Client, Reply
from simulator.engine.rows.token_exchange import TokenExchange
from simulator.engine.scenario.files.library import ScenarioFile
from simulator.engine.scenario.play.filling import NoValue, fill
from simulator.engine.scenario.play.matching import dig
from simulator.engine.scenario.run.drive import Advance, DriveAction, DriveCall, Receiver, has_receiver
from simulator.engine.scenario.run.expectations import NO_ADDRESS, ExpectationChecker
from simulator.engine.scenario.run.results import Check, RunResult, TimelineEntry, Trace
from simulator.engine.text.json import JsonObject, dumps
from simulator.engine.worlds.settings import DEFAULTS, MANUAL_START
from simulator.kernel.clock import SECOND_MS, format_duration

MAX_ATTEMPTS = 5
FIRST_BACKOFF_SECONDS = 1
RETRIED = (429, 503)


class RunFailed(Exception):
    """Raised if a run cannot continue."""


_FAILURES = (RunFailed, NoValue, ConnectionError)


async def run(
    file: ScenarioFile, client: Client, exchange: TokenExchange | None, *, seed: int | None = None, keep: bool = False
) -> RunResult:
    """Run a scenario in a new world, which is deleted afterwards unless `keep` is True. Return the result."""
    runner = _Run(file, client, exchange, seed)
    try:
        await runner.go()
    finally:
        if runner.result.world and not keep:
            await client.request("DELETE", f"{CONTROL_BASE}/worlds/{quote(runner.result.world)}")
    return runner.result


class _Run:
    """One run of a scenario, with its world, its access tokens, and the responses so far."""

    def __init__(self, file: ScenarioFile, client: Client, exchange: TokenExchange | None, seed: int | None) -> None:
        self._file = file
        self._client = client
        self._exchange = exchange
        self._seed = seed
        self._control_headers: dict[str, str] = {}
        self._credentials: JsonObject = {}
        self._tokens: dict[str, str] = {}
        self._variables: JsonObject = {}
        """The response to each named step, used to fill in `${…}`."""
        self._get = partial(self._control, "GET")
        self._trace = Trace(file, self._get, has_address=bool(client.origin))
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
            self.result.checks.append(Check("drive", _describe(error)))
        if not self._credentials:
            return
        try:
            await self._control("POST", "/settle?wait=true")
            await self._collect(delivered=True)
            await self._note_skipped()
        except _FAILURES as error:
            self.result.checks.append(Check("settle", _describe(error)))
        expectations = ExpectationChecker(self._get, self._trace, self._variables)
        for raw in self._file.document.get("expect") or []:
            try:
                problem = await expectations.problem(raw)
            except _FAILURES as error:
                problem = _describe(error)
            self.result.checks.append(Check(f"expect {_json(raw)}", problem))

    # --- preparing ----------------------------------------------------------------------------------------------

    async def _prepare(self) -> None:
        """Create a world, register a receiver if the file needs one, and activate the scenario. The request specifies
        all settings, so a run does not depend on the server's command-line flags.
        """
        clock = {"mode": "manual", "now": MANUAL_START}
        wanted: JsonObject = {"clock": clock, "scenarios": [], "settings": {**DEFAULTS}}
        if self._seed is not None:
            wanted["seed"] = self._seed
        world = await self._control("POST", "/worlds", wanted)
        self.result.world = world["id"]
        self._control_headers = {"X-Simulator-World": world["id"]}
        self._now = world["clock"]["now"]
        self._credentials = world["credentials"]
        self._variables["world"] = world
        await self._control("POST", "/scenarios", self._file.document)
        if has_receiver(self._file.document) and self._client.origin:
            await self._register_inbox()
        names = [*self._file.scenario.below, self._file.name]
        await self._control("PUT", "/scenarios/active", {"names": names})
        await self._collect()

    async def _register_inbox(self) -> None:
        url = f"{self._client.origin}{inbox_path(self.result.world, f'scenario-{self.result.world}')}"
        call = DriveCall(post="/webhooks", body={"url": url, "events": ["*"]}, retry=False)
        endpoint = (await self._call("webhooks", call)).body
        self._variables["receiver"] = endpoint
        self._trace.inbox = endpoint.get("id", "") if isinstance(endpoint, dict) else ""

    async def _control(self, method: str, path: str, body: object = None, headers: Mapping[str, str] = {}) -> Any:
        reply = await self._client.request(method, CONTROL_BASE + path, body, {**self._control_headers, **headers})
        if reply.status >= 400:
            raise RunFailed(f"{method} {CONTROL_BASE}{path} returned {reply.status}: {_json(reply.body)}")
        return reply.body

    # --- the timeline -------------------------------------------------------------------------------------------

    def _note(self, kind: str, text: str) -> None:
        self.result.timeline.append(TimelineEntry(self._now, kind, text))

    async def _collect(self, *, delivered: bool = False) -> None:
        self.result.timeline += await self._trace.collect(delivered=delivered)

    async def _note_skipped(self) -> None:
        progress = await self._control("GET", f"/scenarios/{quote(self._file.name)}")
        for step in progress.get("skipped") or []:
            said = f"{step['part']} ({step['action']}): {step['reason']}"
            self.result.timeline.append(TimelineEntry(step["at"], "skipped", said))
        # Entries with the same time come before the entry for the clock advance.
        self.result.timeline.sort(key=lambda line: (line.at, line.kind == "clock"))

    # --- the drive ----------------------------------------------------------------------------------------------

    async def _step(self, number: int, step: Any) -> None:
        if isinstance(step, Advance):
            await self._advance(step.advance / SECOND_MS, f"advance {format_duration(step.advance)}")
        elif isinstance(step, DriveAction):
            await self._act(step)
        elif isinstance(step, Receiver):
            if "receiver" not in self._variables:
                raise RunFailed(NO_ADDRESS)
            statuses = step.receiver.respond
            self._note("action", f"the receiver returns {', '.join(map(str, statuses))}")
            await self._control("PUT", f"/inbox/scenario-{quote(self.result.world)}", {"respond": statuses})
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

    async def _act(self, step: DriveAction) -> Any:
        target = {} if step.target is None else {"target": fill(step.target, self._variables)}
        body = {**target, **fill(step.parameters, self._variables)}
        self._note("action", " ".join([step.action, *map(str, target.values())]))
        headers = {"X-Simulator-Environment": self._environment(step)}
        done = await self._control("POST", f"/actions/{step.action}", body, headers)
        return done.get("resource")

    async def _call(self, key: str, call: DriveCall) -> Reply:
        """Make a call, and repeat it after 429, 503 and cuts. Raise `RunFailed` if the response is unexpected."""
        path = fill(call.path, self._variables)
        body = fill(call.body, self._variables)
        method = call.method.upper()
        retries = self._file.scenario.retry if call.retry is None else call.retry
        headers = {"Idempotency-Key": key} if method == "POST" else {}
        headers |= {name: str(fill(value, self._variables)) for name, value in call.headers.items()}
        wait_seconds = FIRST_BACKOFF_SECONDS
        for attempt in range(1, MAX_ATTEMPTS + 1):
            reply = await self._attempt(call, method, path, body, headers)
            self._note("call", f"{method} {path} → {_outcome(reply)}")
            if reply is not None and _is_expected(call, reply):
                return reply
            if not retries or attempt == MAX_ATTEMPTS or (reply is not None and reply.status not in RETRIED):
                break
            retry_after = "" if reply is None else reply.headers.get("retry-after", "")
            pause = max(wait_seconds, int(retry_after) if retry_after.isdecimal() else 0)
            await self._advance(pause, f"wait {pause} s before trying again")
            wait_seconds *= 2
        wanted = " ".join(["2xx" if call.status is None else str(call.status), *([call.code] if call.code else [])])
        outcome = "the connection was cut" if reply is None else f"it returned {reply.status}: {_json(reply.body)}"
        raise RunFailed(f"{method} {path} should return {wanted}; {outcome}")

    async def _attempt(
        self, call: DriveCall, method: str, path: str, body: object, headers: Mapping[str, str]
    ) -> Reply | None:
        """Make one attempt at a call, and another if the token has expired. None: the connection was dropped."""
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
        """Return the environment of a step. The default is the service's first environment."""
        return step.environment or next(iter(self._credentials))

    async def _token(self, environment: str, base: str, *, fresh: bool) -> str | Reply:
        """Return an access token for an environment. If the token request is refused, return the response to it."""
        if fresh or environment not in self._tokens:
            keys, exchange = self._credentials[environment], self._exchange
            if exchange is None:
                token = keys["secret_key"]
            else:
                reply = await self._client.request("POST", base + exchange.path, exchange.body(keys))
                if reply.status != 200:
                    return reply
                token = exchange.token_in(reply.body)
            if token is None:
                raise ConnectionError("the token exchange returned no token")
            self._tokens[environment] = token
        return self._tokens[environment]


def _is_expected(call: DriveCall, reply: Reply) -> bool:
    if call.status is None:
        return 200 <= reply.status < 300
    return reply.status == call.status and call.code in (None, dig(reply.body, "error.code"))


def _outcome(reply: Reply | None) -> str:
    if reply is None:
        return "cut"
    body = reply.body if isinstance(reply.body, dict) else {}
    error = body.get("error")
    detail = error.get("code") if isinstance(error, dict) else body.get("id")
    return f"{reply.status} {detail}" if detail else str(reply.status)


def _describe(error: Exception) -> str:
    return str(error) or "the connection was cut"


def _json(value: object) -> str:
    return dumps(value).decode()
