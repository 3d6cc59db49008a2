"""A server under test: the application in this process, called without sockets, with a check of every response.

It also listens on a real port, so that a prober in another process can check its health.
"""

from __future__ import annotations

import asyncio
import io
import re
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import quote, unquote

import orjson

from simulator.engine.faults.in_force import FAULTS
from simulator.engine.server.app import Application
from simulator.engine.server.config import Config
from simulator.engine.server.process import serving
from simulator.host import create_app
from simulator.kernel.ledger import BALANCES
from simulator.kernel.world import World
from tests.campaigns.hostile.contract import answer_findings, event_findings
from tests.campaigns.hostile.findings import Findings
from tests.campaigns.hostile.mutations import dumps
from tests.campaigns.hostile.progress import Progress
from tests.campaigns.hostile.restarting import Kept, judge, kept_by
from tests.campaigns.hostile.stopwatch import Stopwatch

SLOW_SECONDS = 1.0
SECONDS_A_MEGABYTE = 1 / 32
"""A long answer takes its time; it is the loop that must not wait for it."""
PATIENCE_SECONDS = 10.0
READ_BYTES = 4_000_000
SAMPLE = 5
"""One call in so many is looked at whether it changed something although it was refused."""

LONG = ("/clock", "/clock/advance", "/settle", "/resend", "/trigger", "/wait", "/stream")
"""Calls that may take as long as the work they order."""

MAY_BE_WRITTEN: frozenset[Any] = frozenset(
    {"streams", "coverage", "rate_windows", "control.calls", "idempotency", "advice", "faults", "scenario.log"}
    | {"scenario.counts", ("sequences", "idempotency.hour"), ("sequences", "event"), ("sequences", "record")}
    | {("sequences", "scenario.log")}
)
"""Tables and rows that a refused call may write: what was drawn, counted, journalled; faults that wore off."""

MOVES_AND_REFUSES = {"not_reached", "advance_cancelled", "timeout"}
"""Refusals that tell of work done."""

_ID = re.compile(r"\b[a-z]{1,8}_[0-9a-z]{8,}\b|\d+")
_FRAME = re.compile(r'File "[^"]*/(simulator/[^"]+|[^"/]+)", line (\d+), in (\S+)')


@dataclass
class Request:
    """One call as it is sent: `path` decoded, `query` as on the wire."""

    method: str
    path: str
    query: str = ""
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytes = b""

    def told(self) -> str:
        body = repr(self.body[:3000])[2:-1] + (f"… ({len(self.body)} bytes)" if len(self.body) > 3000 else "")
        head = "".join(f" -H {f'{name}: {value[:300]}'!r}" for name, value in self.headers if name != "authorization")
        where = quote(self.path, safe="/:{}*@!$&'()+,;=") + (f"?{self.query[:600]}" if self.query else "")
        return f"{self.method} {where}{head}" + (f" -d '{body}'" if body else "")


@dataclass
class Answer:
    status: int
    headers: Mapping[str, str]
    raw: bytes

    @cached_property
    def body(self) -> Any:
        """The JSON value, or None if there is none or it is too long to parse here without delaying the server."""
        with suppress(ValueError):
            return orjson.loads(self.raw) if 0 < len(self.raw) <= READ_BYTES else None
        return None

    @property
    def code(self) -> str:
        body = self.body
        error = body.get("error") if isinstance(body, dict) else None
        return str(error.get("code")) if isinstance(error, dict) else ""


def control_request(world: str, method: str, path: str, body: Any = None, query: str = "") -> Request:
    headers = [("host", "127.0.0.1"), ("x-simulator-world", world)]
    return Request(method, f"/_simulator{path}", query, headers, b"" if body is None else dumps(body))


NOTHING = Answer(0, {}, b"")


def _name_of(path: str) -> str:
    return _ID.sub("#", path if len(path) < 80 else path[:80])


def _holds_up(fault: dict[str, Any]) -> bool:
    """Whether a fault keeps calls, or the attempts they wait for, for a while of wall time."""
    return "delay" in fault or "slow" in fault.get("deliver", {})


class ServerUnderTest:
    """The server, its findings, and where in the run it is."""

    def __init__(self, findings: Findings, progress: Progress, application: Application | None = None) -> None:
        self.findings = findings
        self.progress = progress
        self.home = Path(tempfile.mkdtemp(prefix="rampsim-hostile-"))
        self._config = Config(clock="manual", store=f"sqlite:///{self.home / 'worlds.db'}")
        self.application = application or create_app(self._config)
        self.simulator = self.application.runtime.simulator
        self.origin = ""
        self.place = ""
        self.chance = Random(0)
        self.calls = 0
        self.slowest = 0.0
        self.keeps_worlds = False
        """Whether worlds stay at the end of an episode: those of the last one are compared after a restart."""
        self.failed = 0
        """Failures so far; a campaign looks at it to see whether a world is worth keeping."""
        self.by_contract = False
        self._log = io.StringIO()

    @asynccontextmanager
    async def open(self) -> AsyncIterator[ServerUnderTest]:
        sys.stderr = self._log
        try:
            async with serving(self.application) as origin:
                self.origin = origin
                yield self
                before = await kept_by(self.get)
            await self.judge_restart(before)
        finally:
            sys.stderr = sys.__stderr__
            shutil.rmtree(self.home, ignore_errors=True)

    async def judge_restart(self, before: Kept) -> None:
        """A server on the same store has what the one before had, which has been closed."""
        self.begin("restart")
        self.application = create_app(self._config)
        try:
            async with serving(self.application):
                judge(before, await kept_by(self.get, set(before.documents)), self.fail)
        except Exception as error:
            self.fail("restart", "the server does not start on its own store", "restart", repr(error))
        self.what_was_printed("restart")

    async def get(self, world: str, path: str) -> tuple[int, bytes]:
        """GET of a control call, which is not judged."""
        answer, _ = await self._exchange(control_request(world or "default", "GET", path), None)
        return answer.status, answer.raw

    def fail(self, kind: str, signature: str, call: str, detail: str = "") -> None:
        self.failed += 1
        self.findings.add(kind, signature, call=call, detail=detail, place=self.place)

    def begin(self, text: str) -> None:
        self.progress.begin(f"{self.place} {text}")

    def what_was_printed(self, call: str) -> bool:
        """Any output of the server during a call is a failure."""
        text = self._log.getvalue()
        if not text:
            return False
        self._log.seek(0)
        self._log.truncate()
        self.fail("traceback", last_frame(text), call, text)
        return True

    async def ask(self, request: Request, *, leave_after: float | None = None) -> Answer:
        """One call, judged. With `leave_after` the client is gone so many seconds after it asked.

        The answer has status 0 when there was none.
        """
        self.calls += 1
        told = request.told()
        self.begin(told)
        sampled = self.calls % SAMPLE == 0
        before = await self._still_life() if sampled else None
        hits = self._hits()
        watch = Stopwatch()
        answer, left = await self._exchange(request, leave_after)
        seconds = watch.seconds
        hit = [row for key, row in self._hits().items() if key not in hits]
        long = any(request.path.endswith(end) for end in LONG) or any(map(_holds_up, [*hit, *hits.values()]))
        if not long and not (left and leave_after is not None):
            self.slowest = max(self.slowest, seconds)
            if seconds > SLOW_SECONDS + len(answer.raw) / 1e6 * SECONDS_A_MEGABYTE:
                self.fail("slow", f"{request.method} {_name_of(request.path)}", told, f"{seconds:.2f} s")
        printed = self.what_was_printed(told)
        self._judge(request, answer, told, left=left, printed=printed, faulted=bool(hit))
        if before is not None and not hit and answer.status >= 400 and answer.code not in MOVES_AND_REFUSES:
            await self._judge_stillness(before, request, answer, told)
        await asyncio.sleep(0)
        return answer

    async def ask_at_once(self, requests: list[Request]) -> list[Answer]:
        """Calls side by side, each judged; whatever a fault may have answered is not, though its world be gone."""
        self.calls += len(requests)
        told = " | ".join(request.told() for request in requests)
        self.begin(told)
        hits, watch = self._hits(), Stopwatch()
        live = any(row.get("times_left") != 0 for row in hits.values())
        live = live or any(request.path.startswith("/_simulator/faults") for request in requests)
        exchanges = await asyncio.gather(*(self._exchange(request, None) for request in requests))
        seconds = watch.seconds
        hit = [row for key, row in self._hits().items() if key not in hits]
        if seconds > SLOW_SECONDS and not any(map(_holds_up, [*hit, *hits.values()])):
            self.fail("slow", f"{len(requests)} calls at once", told, f"{seconds:.2f} s")
        printed = self.what_was_printed(told)
        for request, (answer, left) in zip(requests, exchanges, strict=True):
            self._judge(request, answer, told, left=left, printed=printed, faulted=live or bool(hit))
        return [answer for answer, _ in exchanges]

    async def control(self, world: str, method: str, path: str, body: Any = None, query: str = "") -> Answer:
        """A well-formed control call."""
        return await self.ask(control_request(world, method, path, body, query))

    # --- carrying out ---------------------------------------------------------------------------------------------

    async def _exchange(self, request: Request, leave_after: float | None) -> tuple[Answer, bool]:
        messages: list[Any] = []
        gone = asyncio.Event()
        asked = cut = False

        def drop() -> None:
            nonlocal cut
            cut = True
            gone.set()

        async def receive() -> dict[str, Any]:
            nonlocal asked
            if not asked:
                asked = True
                return {"type": "http.request", "body": request.body, "more_body": False}
            await gone.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            messages.append(message)
            if message["type"] == "http.response.body" and message.get("more_body"):
                gone.set()  # one chunk of a stream is enough

        raw_path = quote(request.path, safe="/")
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": request.method,
            "scheme": "http",
            "path": unquote(raw_path),
            "raw_path": raw_path.encode(),
            "query_string": request.query.encode("latin-1", "replace"),
            "headers": [(n.lower().encode("latin-1"), v.encode("latin-1", "replace")) for n, v in request.headers],
            "client": ("127.0.0.1", 0),
            "server": ("127.0.0.1", 80),
            "extensions": {"simulator.cut": drop},
        }
        task = asyncio.ensure_future(self.application(scope, receive, send))
        left = False
        try:
            _, pending = await asyncio.wait({task}, timeout=PATIENCE_SECONDS if leave_after is None else leave_after)
            if pending:
                left = True
                gone.set()
                _, pending = await asyncio.wait({task}, timeout=1)
            if pending:
                told = "the call goes on although its client is gone"
                self.fail("outlives", f"{request.method} {_name_of(request.path)}", request.told(), told)
                task.cancel()
                await asyncio.wait({task}, timeout=1.5)
            elif not task.cancelled() and task.exception() is not None:
                error = task.exception()
                self.fail("raised", f"{request.method} {_name_of(request.path)} {error!r}", request.told(), repr(error))
                left = True  # that says it all
        finally:
            gone.set()
        if not messages or messages[0]["type"] != "http.response.start":
            return NOTHING, left or cut
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in messages[0].get("headers", [])}
        raw = b"".join(message.get("body", b"") for message in messages[1:])
        return Answer(messages[0]["status"], headers, raw), left

    # --- judging --------------------------------------------------------------------------------------------------

    def _judge(self, request: Request, answer: Answer, told: str, *, left: bool, printed: bool, faulted: bool) -> None:
        where = f"{request.method} {_name_of(request.path)}"
        control = request.path.startswith("/_simulator")
        if answer is NOTHING:
            if not left and not printed:
                self.fail("no answer", where, told)
            return
        if control and "/inbox/" in request.path and request.method == "POST":
            return
        if not control and faulted:
            return
        ordered = not control and b" (scenario " in answer.raw  # the answer of a scenario names it
        if answer.status == 500 and not printed and not ordered:
            self.fail("500", where, told, answer.raw[:600].decode("utf-8", "replace"))
        if answer.status >= 400 and request.method != "HEAD":
            error = answer.body.get("error") if isinstance(answer.body, dict) else None
            fine = (
                isinstance(error, dict)
                and bool(error.get("code"))
                and bool(error.get("message"))
                and (control or bool(error.get("request_id")))
            )
            if not fine:
                self.fail("envelope", f"{where} {answer.status}", told, answer.raw[:600].decode("utf-8", "replace"))
        kind = answer.headers.get("content-type", "")
        short = 0 < len(answer.raw) <= READ_BYTES
        if short and kind.startswith("application/json") and answer.body is None and answer.raw != b"null":
            self.fail("no JSON", where, told, answer.raw[:600].decode("utf-8", "replace"))
        elif self.by_contract and (kind.startswith("application/json") or not answer.raw) and answer.status != 500:
            for found in answer_findings(request.method, request.path, answer.status, answer.headers, answer.body)[:3]:
                self.fail(
                    "contract",
                    f"{where} {answer.status}: {found.message[:200]}",
                    told,
                    answer.raw[:2000].decode("utf-8", "replace"),
                )

    def _hits(self) -> dict[tuple[str, str, int], Any]:
        """The faults of all worlds by how often they have hit: a call that adds to it was answered by a fault."""
        return {
            (world.id, id, row.get("hits", 0)): row
            for world in self.simulator.worlds.values()
            for id, row in world.store[FAULTS].items()
        }

    async def _still_life(self) -> dict[str, Any] | None:
        """The state of all worlds, with nothing in flight; None while something moves by itself."""
        worlds = list(self.simulator.worlds.values())
        if any(world.clock.mode != "manual" or _is_due(world) for world in worlds):
            return None
        for world in worlds:
            if self.application.runtime.courier.is_busy(world):
                await self.application.runtime.courier.settle(world)
        return {world.id: (id(world), world.now_ms, world.store.tables()) for world in worlds}

    async def _judge_stillness(self, before: dict[str, Any], request: Request, answer: Answer, told: str) -> None:
        after = await self._still_life()
        if after is None or request.path.endswith("/trigger"):
            return
        changed = [f"the world {name}" for name in before.keys() ^ after.keys()]
        for name in before.keys() & after.keys():
            (was, was_ms, tables), (now, now_ms, present) = before[name], after[name]
            if (was, was_ms) != (now, now_ms):
                changed.append(f"{name}: world or clock")
                continue
            for table in sorted(tables.keys() | present.keys()):
                if table in MAY_BE_WRITTEN or table.partition(":")[2] in MAY_BE_WRITTEN:
                    continue
                old, new = tables.get(table, {}), present.get(table, {})
                if old != new:
                    keys = [key for key in old.keys() | new.keys() if old.get(key) != new.get(key)]
                    keys = [key for key in keys if (table, key) not in MAY_BE_WRITTEN]
                    changed += [f"{name}: {table}.{key}" for key in sorted(keys)[:3]]
        if changed:
            where = f"{request.method} {_name_of(request.path)} {answer.status} {answer.code}"
            self.fail("half-applied", where, told, "changed: " + ", ".join(sorted(changed)))

    def judge_events(self) -> None:
        """Check that every event in every world matches the contract, except events emitted on request."""
        for world in self.simulator.worlds.values():
            for event in world.journal.events():
                if event.cause.name != "emit":
                    for found in event_findings(event.raw)[:3]:
                        self.fail(
                            "contract",
                            f"event {event.type}: {found.message[:200]}",
                            f"world {world.id}",
                            event.raw.decode(),
                        )

    def judge_books(self) -> None:
        """In every world all entries sum to zero and no pot of an owner is below zero."""
        for world in self.simulator.worlds.values():
            if any(world.ledger.totals().values()):
                self.fail("books", "the books do not sum to zero", f"world {world.id}", repr(world.ledger.totals()))
            for key, amount in world.store[BALANCES].items():
                if amount < 0 and ("/available" in key or "/held" in key):
                    self.fail("books", "a pot is below zero", f"world {world.id}", f"{key} {amount}")


def _is_due(world: World) -> bool:
    """Whether timers are due: what an advance left over when it was called off fires beside the calls."""
    timer = world.agenda.next()
    return timer is not None and timer.due_at_ms <= world.now_ms


def last_frame(text: str) -> str:
    """Return the last line of a traceback and its last frame in the project."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith(("WARNING:", "INFO:"))]
    frames = _FRAME.findall(text)
    own = [frame for frame in frames if frame[0].startswith("simulator/")] or frames
    place = f" at {own[-1][0]} in {own[-1][2]}" if own else ""
    return f"{lines[-1][:160] if lines else ''}{place}"
