"""`reference/webhooks.md`: events, headers, the signature, and the retry schedule, from the code."""

from __future__ import annotations

from contracts.generator.reference.text import table
from contracts.generator.webhooks_page import LANGUAGES, VERIFIERS
from simulator.host import vocabulary
from simulator.kernel.clock import DAY_MS, HOUR_MS, MINUTE_MS
from simulator.providers.ramp.signing import RETRY_DELAYS_MS

_HEAD = """\
# Webhooks

The service sends a signed POST for each event to every endpoint that subscribes to it. A receiver verifies the
signature, stores the event under its id, responds with 200, and then processes it.

## The request

| header | value |
| - | - |
| `X-Signature` | the signature, hexadecimal |
| `X-Timestamp` | when it was signed, Unix time in milliseconds |
| `Content-Type` | `application/json` |
| `traceparent` | only if the call that caused the event had one: the same trace |

The body is an event:

```json
{
  "id": "evt_0123456789abcdef",
  "type": "transaction.completed",
  "created_at": "2026-01-05T08:00:45.000Z",
  "livemode": false,
  "data": {"object": {"id": "txn_0123456789abcdef", "type": "onramp", "status": "completed"}}
}
```

`data.object` is the whole resource at that moment. `id` is the same in every attempt, so use it to detect duplicates.
`livemode` is true in the (simulated) production environment.

## Signature

`X-Signature` is the HMAC-SHA256, with the webhook key, of `X-Timestamp`, a dot, and the raw bytes of the body. A
receiver rejects (401) a request without these headers, with a wrong signature, or with a timestamp that differs by more
than five minutes from its clock ([rule](rules.md#signature)).

```python
import hashlib
import hmac
import re
import time


def is_genuine(key, headers, body, now_ms=None):
    headers = {name.lower(): value for name, value in headers.items()}
    timestamp, signature = headers.get("x-timestamp", ""), headers.get("x-signature", "")
    now_ms = time.time() * 1000 if now_ms is None else now_ms
    if not re.fullmatch("[0-9]{1,15}", timestamp) or abs(now_ms - int(timestamp)) > 300_000:
        return False
    expected = hmac.new(key.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected.encode(), signature.encode())


body = b'{"id": "evt_1"}'
signed = hmac.new(b"whk_test_simulator", b"1767600000000." + body, hashlib.sha256).hexdigest()
headers = {"x-timestamp": "1767600000000", "x-signature": signed}
assert is_genuine("whk_test_simulator", headers, body, 1767600000000)
assert not is_genuine("whk_test_simulator", headers, body + b" ", 1767600000000)
assert not is_genuine("whk_test_simulator", headers, body, 1767600000000 + 300_001)
```

[In other languages](verifiers.md). `rampsim certify URL` sends genuine and forged events to a receiver and reports its
mistakes. [webhook-vectors.json](../../../contracts/webhook-vectors.json) has such requests as data.

"""

_DISABLED = """\

After the last failure the endpoint is disabled, and its owner is informed by e-mail (`GET /_simulator/emails`). `PATCH
/webhooks/{id}` with `{"status": "enabled"}` enables it again. It then receives new events, but not the missed ones.

With a manual clock, `rampsim clock advance 3d` makes every attempt at its scheduled time.

## Events

"""


def page() -> str:
    """The page as Markdown."""
    lines = [_HEAD + "## Retries", "", *_retries()]
    text = "\n".join(lines) + "\n" + _DISABLED
    rows = (
        (f'<a id="{one.name}"></a>`{one.name}`', f"{one.sent_when}.", one.tells) for one in vocabulary().events.values()
    )
    return text + "\n".join(table(("event", "sent when", "meaning"), rows)) + "\n"


def _retries() -> list[str]:
    lines = [
        "A response other than 2xx, or none within 10 seconds, is a failure "
        f"([rule](rules.md#acknowledge-in-10-seconds)). There are {len(RETRY_DELAYS_MS) + 1} attempts. Their exact "
        "delays are an assumption ([W5](assumptions.md#W5)):",
        "",
    ]
    rows: list[tuple[str, str, str]] = [("1", "", "immediately")]
    since = 0
    for number, delay in enumerate(RETRY_DELAYS_MS, 2):
        since += delay
        rows.append((str(number), _span(delay), _span(since)))
    return lines + table(("attempt", "after the previous one", "after the first"), rows)


def _span(ms: int) -> str:
    """A duration for people: `2 d 20 h 36 min`."""
    parts = []
    for name, unit in (("d", DAY_MS), ("h", HOUR_MS), ("min", MINUTE_MS)):
        count, ms = divmod(ms, unit)
        if count:
            parts.append(f"{count} {name}")
    return " ".join(parts)


def verifiers() -> str:
    """Return `reference/verifiers.md`: the tested verifier in each language."""
    lines = [
        "# Verify webhooks in your language",
        "",
        "Each verifier is tested with [all vectors](../../../contracts/webhook-vectors.json). `key` is the webhook key "
        "and `body` the raw body, before parsing. `now_ms` is the current time in milliseconds of Unix time. The "
        "Python function reads its clock if you leave it out, and takes the headers of your web framework as "
        "`headers`, in any case. The other languages take the headers X-Timestamp and X-Signature as `timestamp` and "
        "`signature`, or empty strings if they are missing. The signature is compared in constant time.",
        "",
        "[Webhooks](webhooks.md#signature) explains the signature. `rampsim certify URL` tests a whole receiver.",
    ]
    for name, language, file in LANGUAGES:
        code = (VERIFIERS / file).read_text("utf-8").strip()
        lines += [
            "",
            f"## {name}",
            "",
            "<!-- not run: tested with the vectors -->",
            f"```{language}",
            code,
            "```",
        ]
    return "\n".join(lines) + "\n"
