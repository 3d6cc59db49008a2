"""A service over HTTP as a target. If the service is a simulator, its control API may be used, too."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from ssl import SSLContext
from typing import Any

from simulator.engine.clients.control import CallRefused, ControlClient, Unreachable
from simulator.engine.clients.guard import LiveKeys
from simulator.engine.clients.synchronous import NoResponse, SyncClient, read_body
from simulator.engine.text.json import JsonObject, Shown
from simulator.evidence.corpus import Pseudonyms, Traffic, sanitise
from simulator.evidence.flow import Reply, Step
from simulator.evidence.interrupts import Interrupts
from simulator.evidence.listener import QUIET_SECONDS, Listener
from simulator.evidence.local import action_path, advance_body, invented
from simulator.kernel.clock import parse_duration, parse_timestamp
from simulator.service import TOKEN_EXCHANGE, TOOLING

MOST_BYTES = 4_000_000
_MOST_RECORDED_BYTES = 1024**2
ACCESS_CALLS = 2
"""The number of calls that check whether the keys and the token still work."""
_TIMEOUT_SECONDS = 30.0
_CLOCK_SECONDS = 2.0
_LEAST_RATE = 3.0
"""The lowest measurable rate. With timestamps in whole seconds, lower rates cannot be distinguished from 1."""
_RATE_MARGIN = 1.01
_COLLECTION = re.compile(r"(/[a-z-]+)+")
_ID_PREFIX = re.compile(r"[a-z]+(_[a-z]+)*_")
_MOST_RETRIES = 5
_LONGEST_PAUSE_SECONDS = 120.0


class NotTheService(Exception):
    """Raised if the target is not the service, or no longer responds as the service does. The message is one line."""

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))


class SpentBudget(Exception):
    """Raised if the maximum number of calls has been made."""


class RemoteService:
    """A service at a base URL. This class signs in, obeys 429 and counts its calls. If a control client is given, the
    target is a simulator, and the control client advances its clock and causes outside events.
    """

    def __init__(
        self,
        base_url: str,
        keys: tuple[str, str],
        *,
        calls: int,
        wait_seconds: float = 0,
        control: ControlClient | None = None,
        live_keys: LiveKeys | None = None,
        listener: Listener | None = None,
        account: Mapping[str, str] | None = None,
        tls: SSLContext | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._client = SyncClient(base_url, any_host=True, live_keys=live_keys, connect_seconds=10, tls=tls)
        self.base_url = base_url
        self._keys = {"public_key": keys[0], "secret_key": keys[1]}
        self.control, self.listener = control, listener
        self.interrupts = Interrupts()
        self._sleep_quietly = sleep
        """Sleeps in spite of a signal."""
        self._due: tuple[str, str] | None = None
        """The headers `Retry-After` and `Date` of a 429 response, until the next call has waited."""
        self.left_behind: list[str] = []
        """The calls that should have deleted a resource and could not be made."""
        self._endpoint = ""
        self._clock = (time.time(), time.monotonic())
        self.time_rate = 1.0
        """The speed of the target's clock: its seconds for each second on this machine."""
        self.listens = False
        """True if a flow needs events. The target then waits for events after each step."""
        self._token = self._snapshot = ""
        self._run = time.time_ns() // 1_000_000
        self._seen: set[str] = set()
        self.calls_left, self.wait_left = calls, wait_seconds
        self.calls = 0
        self.exchanges: list[JsonObject] = []
        """The sanitised calls of all flows. A call that was repeated is in the list once, with the last response."""
        self._pseudonyms = Pseudonyms()
        self._last: Traffic | None = None
        """The last call and its response."""
        self.given = {**(account or {}), **({} if listener is None else listener.hooks)}
        self._accepted = {**self.given}
        self.account: dict[str, str] = {}
        self.id_prefixes: dict[str, str] = {}
        """The id prefixes, by the path of the call that created the resource."""

    def sign_in(self) -> None:
        """Exchange the keys for a token. Raise `NotTheService` if the exchange fails."""
        reply = self._send("POST", TOKEN_EXCHANGE.path, self._keys, {})
        token = TOKEN_EXCHANGE.token_in(reply.body)
        if token is None:
            asked = f"{self.base_url}: {TOKEN_EXCHANGE.operation}"
            hint = ". A base URL ends with /v1" if reply.status == 404 and not self.base_url.endswith("/v1") else ""
            raise NotTheService(f"{asked} returned a response without a token: {_described(reply)}{hint}")
        self._token = token

    def check_access(self) -> None:
        """Raise `NotTheService` if the keys or the token no longer work. This takes `ACCESS_CALLS` calls."""
        self.sign_in()
        path = TOOLING.probing().landmarks[0][0]
        reply = self._sent("GET", path, None, {}, obey=True)
        if reply.status == 401:
            raise NotTheService(f"{self.base_url}: the keys no longer work (GET {path} returned {_described(reply)})")

    def recognize(self, landmarks: Iterable[tuple[str, str]]) -> None:
        """Raise `NotTheService` if the target has none of the landmarks (a path and a field in its response). A
        response 401, 403, 429 or 5xx does not show whether the target is the service.
        """
        seen = []
        for path, name in landmarks:
            reply = self.call("GET", path, None, {})
            rows = reply.body.get("data", reply.body) if isinstance(reply.body, Mapping) else reply.body
            first = next(iter(rows), None) if isinstance(rows, list) else rows
            if reply.status in (401, 403, 429) or reply.status >= 500:
                return
            if reply.status < 400 and isinstance(first, Mapping) and name in first:
                return
            missing = f" without {name}" if reply.status < 400 else ""
            seen.append(f"GET {path} returned {_described(reply)}{missing}")
        raise NotTheService(f"{self.base_url} is not this service: sign-in succeeds, but {', '.join(seen)}")

    def drop_unknown(
        self, find: Callable[[Shown, Callable[[str, object], Any]], Mapping[str, str]]
    ) -> Mapping[str, str]:
        """Delete the values that the user gave for the account and that `find` reports as unknown to the service.
        Return the reason for each deleted value, by the value's name.
        """
        unknown: Mapping[str, str] = {}
        with suppress(NotTheService, SpentBudget):
            unknown = find(self._accepted, lambda path, body: self.call("POST", path, body, {}).body)
        for name in unknown:
            del self._accepted[name]
        return unknown

    def ensure_signed_in(self) -> None:
        if not self._token:
            self.sign_in()

    def prepare(self) -> None:
        """Read the account before the next flow, and create new references for the flow."""
        self.ensure_signed_in()
        self._run += 1
        if not self.account:
            self.account.update(TOOLING.probing().surroundings(self.read))
            if self.control is not None:
                with suppress(CallRefused, KeyError, IndexError):
                    self.account["user_id"] = self.control.get("/worlds/default")["platform_users"][0]["user_id"]
        own = {**invented(self._now(), str(self._run)), "public_key": self._keys["public_key"]}
        self.account |= {**own, **self._accepted}

    def _now(self) -> str:
        if self.control is not None:
            return str(self._steer("GET", "/clock")["now"])
        return datetime.fromtimestamp(self._seconds(), UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")

    def _seconds(self) -> float:
        """Return the target's time in seconds since 1970."""
        wall, at = self._clock
        return wall + (time.monotonic() - at) * self.time_rate

    def read_clock(self, step: Step, field: str, *, rate: bool) -> None:
        """Compare the target's clock with the clock of this machine. If `rate` is True, also compare their rates. If
        the measurement allows several rates, the lowest is used, so that waits are too long rather than too short.
        """
        seen: list[tuple[float, float, float]] = []
        method, _, path = step.call.partition(" ")
        for number in range(2 if rate else 1):
            if number:
                self._sleep(_CLOCK_SECONDS)
            begun = time.monotonic()
            reply = self.call(method, path, step.body, step.headers)
            stamp = reply.body.get(field) if isinstance(reply.body, Mapping) else None
            try:
                seen.append((parse_timestamp(str(stamp)) / 1000, begun, time.monotonic()))
            except ValueError:
                return
        self._clock = seen[-1][0], seen[-1][2]
        if rate:
            lowest = (seen[1][0] - seen[0][0]) / (seen[1][2] - seen[0][1])
            self.time_rate = lowest if lowest > _LEAST_RATE else 1.0

    def read(self, path: str) -> Any:
        return self.call("GET", path, None, {}).body

    def call(self, method: str, path: str, body: object, headers: Mapping[str, str], *, obey: bool = True) -> Reply:
        reply = self._sent(method, path, body, headers, obey)
        if reply.status == 401 and path != TOKEN_EXCHANGE.path:
            self.sign_in()
            reply = self._sent(method, path, body, headers, obey)
        given = reply.body.get("id") if isinstance(reply.body, Mapping) and reply.status < 400 else None
        if method == "POST" and _COLLECTION.fullmatch(path) and (found := _ID_PREFIX.match(str(given))):
            self.id_prefixes.setdefault(path, found[0])
        stamp = reply.body.get("created_at") if method == "POST" and isinstance(reply.body, Mapping) else None
        with suppress(ValueError):
            if self.time_rate != 1 and (seconds := parse_timestamp(str(stamp)) / 1000) > self._seconds():
                self._clock = seconds, time.monotonic()
        if self._last is not None:
            self.exchanges.append(json.loads(sanitise(self._last, self._pseudonyms).line()))
        return reply

    def _sent(self, method: str, path: str, body: object, headers: Mapping[str, str], obey: bool) -> Reply:
        authorized = {} if path == TOKEN_EXCHANGE.path else {"Authorization": f"Bearer {self._token}"}
        for attempt in range(_MOST_RETRIES):
            reply = self._send(method, path, body, {**authorized, **headers})
            if reply.status == 429:
                self._due = reply.headers.get("retry-after", "1"), reply.headers.get("date", "")
            if reply.status != 429 or not obey or attempt == _MOST_RETRIES - 1:
                break
        return reply

    def _sleep(self, seconds: float) -> None:
        self.interrupts.sleep(self._sleep_quietly, seconds)

    def _pause(self, retry_after: str, date: str) -> None:
        """Wait for the time that a 429 response requires. Raise `SpentBudget` if the time is too long.

        `date`: the `Date` header of the response. It is compared with `retry_after`, because the clock of the target
        may differ from the clock of this machine.
        """
        if retry_after.isdecimal():
            seconds = float(retry_after)
        else:
            now = _moment(date) or datetime.now(UTC)
            until = _moment(retry_after)
            seconds = 1.0 if until is None else (until - now).total_seconds()
        if seconds > _LONGEST_PAUSE_SECONDS:
            raise SpentBudget(f"the target returned 429 and asks to wait {seconds:.0f} s, which is too long")
        self._sleep(max(seconds, 0.0))

    def _send(self, method: str, path: str, body: object, headers: Mapping[str, str]) -> Reply:
        self.interrupts.check()
        if self.calls_left <= 0:
            raise SpentBudget("no calls are left")
        if self._due is not None:
            self._pause(*self._due)
            self._due = None
        self.calls_left -= 1
        self.calls += 1
        content = None if body is None else json.dumps(body).encode()
        sent = {"Accept": "application/json", **({"Content-Type": "application/json"} if content else {}), **headers}
        sent = {name.title(): value for name, value in sent.items()}
        bare, _, query = path.partition("?")
        asked = f"{method} {bare}"
        try:
            with self._client.open(method, path, content, sent, _TIMEOUT_SECONDS) as response:
                raw = read_body(response, MOST_BYTES + 1)
                status, pairs = response.status, response.getheaders()
        except (NoResponse, OSError) as error:
            raise NotTheService(f"{self.base_url}: no complete response to {asked} ({error})") from None
        if len(raw) > MOST_BYTES:
            raise NotTheService(f"{self.base_url}: the response to {asked} exceeds 4 MB")
        self._last = Traffic(
            n=len(self.exchanges) + 1, at_ms=time.time_ns() // 1_000_000, method=method, path=bare, query=query,
            headers=list(sent.items()), body=_recorded(content or b""), status=status, response_headers=pairs,
            response=_recorded(raw),
        )  # fmt: skip
        try:
            parsed = json.loads(raw) if raw else None
        except (ValueError, RecursionError):
            raise NotTheService(f"{self.base_url}: the response to {asked} is not JSON (status {status})") from None
        if status >= 500 and not (isinstance(parsed, Mapping) and isinstance(parsed.get("error"), Mapping)):
            raise NotTheService(f"{self.base_url}: {asked} returned {status}")
        return Reply(status, {name.lower(): value for name, value in pairs}, parsed)

    def wait(self, until: str) -> bool:
        body = advance_body(until)
        if self.control is not None:
            return self._steered("/clock/advance", body)
        if "to" in body:
            seconds = parse_timestamp(body["to"]) / 1000 - self._seconds()
        else:
            seconds = parse_duration(body["by"]) / 1000
        if self.time_rate != 1:
            seconds = seconds / self.time_rate * _RATE_MARGIN
        if seconds > self.wait_left:
            return False
        self.wait_left -= max(seconds, 0)
        self._sleep(max(seconds, 0))
        return True

    def act(self, action: str, target: str, parameters: Shown) -> bool:
        body = {**({"target": target} if target else {}), **parameters}
        return self.control is not None and self._steered(action_path(action), body)

    def _steered(self, path: str, body: Shown) -> bool:
        assert self.control is not None
        try:
            self.control.post(path, body)
        except CallRefused:
            return False
        except Unreachable as error:
            raise NotTheService(str(error)) from None
        return True

    def _steer(self, method: str, path: str, body: Shown | None = None) -> Any:
        """Make a control call and return its result. Raise `NotTheService` if it fails."""
        assert self.control is not None
        try:
            return self.control.call(method, path, body)
        except (Unreachable, CallRefused) as error:
            raise NotTheService(str(error)) from None

    def events(self) -> list[Shown]:
        if self.control is None:
            if self.listener is None or not self.listens:
                return []
            events, seconds = self.listener.events(self._sleep_quietly)
            self.wait_left -= seconds
            return events
        rows: list[Shown] = self._steer("GET", "/events?limit=200")["data"]
        new = [row for row in rows if row["id"] not in self._seen]
        self._seen |= {row["id"] for row in new}
        return new

    @property
    def is_slow(self) -> bool:
        """True if events arrive over a network, possibly late."""
        return self.control is None

    def can_listen(self, steps: int) -> bool:
        """Return True if there is enough time left to wait for events after each step."""
        return not self.is_slow or self.wait_left >= steps * QUIET_SECONDS

    def register(self) -> str:
        """Register the listener for all events. Return the reason why no events will arrive, or ""."""
        assert self.listener is not None
        body = {"url": self.listener.hooks["hook"], "events": ["*"], "description": "probe-"}
        reply = self.call("POST", "/webhooks", body, {})
        identifier = reply.body.get("id") if isinstance(reply.body, Mapping) and reply.status < 400 else None
        if not isinstance(identifier, str):
            return f"the target refuses the endpoint ({_described(reply)})"
        self._endpoint = identifier
        self.calls_left -= 1  # reserved for `unregister`
        if self.listener.tests:
            return ""
        if self.listener.unverified:
            return "the webhook key does not verify the signature of the test request"
        return "no test request reached the listener"

    def unregister(self) -> None:
        """Delete the listener's endpoint."""
        if self._endpoint:
            self.calls_left += 1
            with self.interrupts.cleaning():
                self.clean_up("DELETE", f"/webhooks/{self._endpoint}", None)
            self._endpoint = ""

    def clean_up(self, method: str, path: str, body: object) -> None:
        """Delete or restore a resource. If the call cannot be made, add it to `left_behind`."""
        try:
            self.call(method, path, body, {})
        except (SpentBudget, NotTheService):
            self.left_behind.append(f"{method} {path}")

    def saved(self) -> None:
        """Save the state of a controlled simulator, so that flows can be undone."""
        if self.control is not None:
            self._snapshot = self._steer("POST", "/snapshots", {"name": "probe"})["id"]
            self._seen.clear()  # a restored world assigns the same event ids again

    def restored(self) -> None:
        """Restore the saved state of a controlled simulator."""
        if self.control is not None:
            self._steer("POST", f"/snapshots/{self._snapshot}/restore", {})
            self._steer("DELETE", f"/snapshots/{self._snapshot}")
            self._due = None  # the restored world has no limit


def _moment(date: str) -> datetime | None:
    """Return the time in a response's `Date` header, or None if the value is not a valid date."""
    try:
        parsed = parsedate_to_datetime(date)
    except (TypeError, ValueError):
        return None
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)


def _recorded(body: bytes) -> bytes | None:
    return None if len(body) > _MOST_RECORDED_BYTES else body


def _described(reply: Reply) -> str:
    error = reply.body.get("error") if isinstance(reply.body, Mapping) else None
    code = error.get("code") if isinstance(error, Mapping) else None
    return f"{reply.status} {code}" if code else str(reply.status)
