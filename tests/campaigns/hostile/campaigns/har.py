"""Recorded traffic with odd values, read and replayed as `rampsim compare` does."""

from __future__ import annotations

import base64
import copy
import subprocess
import sys
import tempfile
from pathlib import Path
from random import Random
from typing import Any

import orjson

from simulator.compare.replay import compare
from simulator.evidence.corpus.har import HarError, read_har
from tests.campaigns.hostile.actor import templates
from tests.campaigns.hostile.campaign import Campaign
from tests.campaigns.hostile.mutations import RAW_BODIES, TEXTS, dumps, mutated, mutated_bytes, odd
from tests.campaigns.hostile.server_under_test import ServerUnderTest, last_frame
from tests.campaigns.hostile.stopwatch import Stopwatch

FILES = 10
COMMAND_EVERY = 50
"""Every so many files go through the command line too."""


def recording(rng: Random) -> dict[str, Any]:
    """A recording of some calls; the answers are what such calls may have had."""
    entries = []
    for index in range(rng.randrange(1, 9)):
        rows = templates()
        choice = [rng.choice(rows[rng.choice(list(rows))]) for _ in range(2)]
        method, path, query, body, good = min(choice, key=lambda row: "_" in row[1])  # unknown ids are not replayed
        answer = orjson.dumps(
            body if good else {"error": {"code": "not_found", "message": "x", "request_id": "req_0000000000"}}
        )
        content: dict[str, Any] = {"text": answer.decode(), "mimeType": "application/json"}
        if rng.random() < 0.1:
            content = {"text": base64.b64encode(answer).decode(), "encoding": "base64"}
        entries.append({
            "startedDateTime": f"2026-01-05T{8 + index:02d}:00:00.000Z",
            "time": 5,
            "request": {
                "method": method,
                "url": f"https://sandbox.example.test/v1{path}" + (f"?{query}" if query else ""),
                "headers": [
                    {"name": "Content-Type", "value": "application/json"}, {"name": "Authorization",
                    "value": "Bearer tok_recorded"},
                    {"name": "Idempotency-Key", "value": rng.choice(("one", "two"))},
                ],
                "postData": {"text": "" if body is None else orjson.dumps(body).decode(),
                "mimeType": "application/json"},
            },
            "response": {"status": rng.choice((200, 201)) if good else rng.choice((400, 404, 409, 422)),
            "content": content},
        })  # fmt: skip
    return {"log": {"version": "1.2", "entries": entries}}


def har_file(rng: Random) -> bytes:
    """A recording with some leaves changed, or bytes."""
    har = recording(rng)
    way = rng.random()
    if way < 0.05:
        return rng.choice(RAW_BODIES)
    entries = har["log"]["entries"]
    for _ in range(rng.choice((1, 1, 2, 3))):
        index = rng.randrange(len(entries))
        part = rng.random()
        request = entries[index].get("request") if isinstance(entries[index], dict) else None
        if request is None or part < 0.05:
            entries[index] = mutated(rng, entries[index])
        elif part > 0.6 and isinstance(request, dict):
            odd_request(rng, request)
        elif part < 0.15:
            entries[index]["startedDateTime"] = rng.choice(TIMES)
        elif part < 0.3 and isinstance(entries[index].get("response"), dict):
            entries[index]["response"] = mutated(rng, entries[index]["response"])
        else:
            entries[index] = mutated(rng, entries[index], rng.choice((1, 1, 2)))
    raw = dumps(copy.deepcopy(har) if way < 0.9 else mutated(rng, har))
    return mutated_bytes(rng, raw) if way > 0.95 else raw


def odd_request(rng: Random, request: dict[str, Any]) -> None:
    """One part of a request that the replay looks at."""
    way, headers = rng.random(), request.get("headers")
    if way < 0.4 and isinstance(headers, list) and headers and isinstance(headers[-1], dict):
        header = rng.choice([header for header in headers if isinstance(header, dict)])
        header[rng.choice(("name", "value", "value", "value"))] = odd(rng)
    elif way < 0.6:
        request["url"] = odd(rng) if rng.random() < 0.3 else f"https://x.test/v1{rng.choice(TEXTS)[:99]}"
    elif way < 0.8:
        request["postData"] = {"text": rng.choice((odd(rng), dumps(odd(rng)).decode("utf-8", "replace")))}
    else:
        request["method"] = odd(rng)


TIMES: tuple[Any, ...] = (
    "", "yesterday", None, 5, "1969-12-31T23:59:59Z", "9998-12-31T23:59:59.999Z", "9999-12-31T23:59:59Z",
    "2026-01-05T08:00:00+25:00",
    "2026-01-05", "2027-01-05T08:00:00Z", "2026-01-05T08:00:00.123456789Z", "-2026-01-05T08:00:00Z",
    "0001-01-01T00:00:00Z",
)  # fmt: skip


async def episode(subject: ServerUnderTest, rng: Random, number: int) -> int:
    for index in range(FILES):
        raw = har_file(rng)
        values = rng.random() < 0.3
        scenarios = rng.choice((("autopilot",), (), ("autopilot", "test-values")))
        told = f"rampsim compare FILE (values {values}, scenarios {scenarios}), the file: {raw[:6000]!r}"
        subject.begin(told)
        watch = Stopwatch()
        try:
            result = await compare(read_har(raw), scenarios=scenarios, values=values)
            result.readable()
            orjson.dumps(result.as_json())
        except HarError:
            pass
        except Exception as error:
            import traceback

            subject.fail("traceback", last_frame(traceback.format_exc()), told, f"{type(error).__name__}: {error}")
        subject.what_was_printed(told)
        subject.slowest = max(subject.slowest, watch.seconds)
        if watch.seconds > 10:
            subject.fail("slow", "compare", told, f"{watch.seconds:.1f} s")
        if (number * FILES + index) % COMMAND_EVERY == 0:
            _by_command(subject, raw, told)
    return FILES


def _by_command(subject: ServerUnderTest, raw: bytes, told: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "traffic.har"
        file.write_bytes(raw)
        ran = subprocess.run(
            [sys.executable, "-m", "simulator", "compare", str(file)], capture_output=True, text=True, timeout=60
        )
    if ran.returncode not in (0, 1, 2) or "Traceback" in ran.stderr:
        subject.fail("traceback", "command line: " + last_frame(ran.stderr), told, ran.stderr)


CAMPAIGN = Campaign("har", 500, FILES, episode, patience_seconds=60, health=False)
