"""`reference/webhooks.md`: events, headers, the signature, and the table of retries as the code makes them."""

from __future__ import annotations

from contracts.generator.reference.text import table
from contracts.generator.webhooks_page import LANGUAGES, VERIFIERS
from simulator.host import vocabulary
from simulator.kernel.clock import DAY_MS, HOUR_MS, MINUTE_MS
from simulator.providers.ramp.signing import RETRY_DELAYS_MS

_HEAD = """\
# Webhooks

The service tells what happens by a signed POST to every endpoint that is registered for the event. A receiver verifies
it, stores it under its id, answers 200, and works afterwards.

## The request

| header | value |
| - | - |
| `X-Signature` | the signature, hexadecimal |
| `X-Timestamp` | when it was signed, Unix time in milliseconds |
| `Content-Type` | `application/json` |
| `traceparent` | only where the call that caused it had one: the same trace |

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

`data.object` is the whole resource as it was at that moment. `id` is the same at every try, so it is what repetitions
are told by. `livemode` is true in the (simulated) production.

## Signature

`X-Signature` is the HMAC-SHA256, under the webhook key, of `X-Timestamp`, a dot, and the bytes of the body as they
came. A receiver refuses (401) what lacks a header, what does not match, and what is more than five minutes off its
clock ([rule](rules.md#signature)).

```python
import hashlib
import hmac
import re


def is_genuine(key, headers, raw_body, now_ms):  # in your receiver: time.time() * 1000
    timestamp, signature = headers.get("x-timestamp", ""), headers.get("x-signature", "")
    if not re.fullmatch("[0-9]{1,15}", timestamp) or abs(now_ms - int(timestamp)) > 300_000:
        return False
    expected = hmac.new(key.encode(), timestamp.encode() + b"." + raw_body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected.encode(), signature.encode())


body = b'{"id": "evt_1"}'
signed = hmac.new(b"whk_test_simulator", b"1767600000000." + body, hashlib.sha256).hexdigest()
headers = {"x-timestamp": "1767600000000", "x-signature": signed}
assert is_genuine("whk_test_simulator", headers, body, 1767600000000)
assert not is_genuine("whk_test_simulator", headers, body + b" ", 1767600000000)
assert not is_genuine("whk_test_simulator", headers, body, 1767600000000 + 300_001)
```

[In other languages](verifiers.md). `rampsim certify URL` sends a receiver genuine and forged events and says what it
does wrong; [webhook-vectors.json](../../../contracts/webhook-vectors.json) has such requests as data.

"""

_DISABLED = """\

After the last failure the endpoint is disabled, and an e-mail tells its owner (`GET /_simulator/emails`). `PATCH
/webhooks/{id}` with `{"status": "enabled"}` puts it into service again; it then gets new events, not those of before.

Under a manual clock all of it takes a moment: `rampsim clock advance 3d` makes every try at its time.

## Events

"""


def page() -> str:
    """The page as Markdown."""
    lines = [_HEAD + "## Retries", "", *_retries()]
    text = "\n".join(lines) + "\n" + _DISABLED
    rows = (
        (f'<a id="{one.name}"></a>`{one.name}`', f"{one.sent_when}.", one.tells) for one in vocabulary().events.values()
    )
    return text + "\n".join(table(("event", "sent when", "what it tells"), rows)) + "\n"


def _retries() -> list[str]:
    lines = [
        "An answer other than 2xx, or none within 10 seconds, is a failure "
        f"([rule](rules.md#acknowledge-in-10-seconds)). There are {len(RETRY_DELAYS_MS) + 1} attempts on a "
        "schedule; its delays are those that this simulator makes ([W5](assumptions.md#W5)):",
        "",
    ]
    rows: list[tuple[str, str, str]] = [("1", "", "at once")]
    since = 0
    for number, delay in enumerate(RETRY_DELAYS_MS, 2):
        since += delay
        rows.append((str(number), _span(delay), _span(since)))
    return lines + table(("attempt", "after the one before", "after the first"), rows)


def _span(ms: int) -> str:
    """A duration for people: `2 d 20 h 36 min`."""
    parts = []
    for name, unit in (("d", DAY_MS), ("h", HOUR_MS), ("min", MINUTE_MS)):
        count, ms = divmod(ms, unit)
        if count:
            parts.append(f"{count} {name}")
    return " ".join(parts)


def verifiers() -> str:
    """`reference/verifiers.md`: the verifier in each language, as it is tested."""
    lines = [
        "# Verify webhooks in your language",
        "",
        "Each of these is tested against [all vectors](../../../contracts/webhook-vectors.json). `timestamp` and "
        "`signature` are the headers X-Timestamp and X-Signature, empty where they are missing; `body` is the bytes as "
        "they came, before any parser had them. The comparison takes the same time whatever differs.",
        "",
        "[What is signed, and how](webhooks.md#signature). Whether the whole receiver is right, `rampsim certify URL` "
        "finds out.",
    ]
    for name, language, file in LANGUAGES:
        code = (VERIFIERS / file).read_text("utf-8").strip()
        lines += [
            "",
            f"## {name}",
            "",
            "<!-- not run: it is tested where the vectors are -->",
            f"```{language}",
            code,
            "```",
        ]
    return "\n".join(lines) + "\n"
