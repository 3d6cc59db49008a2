"""`reference/errors.md`: every error code with its status, cause, advice and scenarios."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from contracts.generator.control import ERRORS as CONTROL_ERRORS
from contracts.generator.decisions import data_of
from contracts.generator.reference.text import place_of, table
from simulator.contract.files import contract_file
from simulator.engine.rows.error import ErrorCode
from simulator.engine.text.json import JsonObject, loads
from simulator.host import vocabulary
from simulator.providers.ramp.provider import ROOMS

FILE = Path(__file__).with_name("errors.yaml")
_HEAD = """\
# Errors

Every error response of the API has this form, and a header `X-Request-Id` with the same id:

```json
{"error": {"code": "quote_expired", "message": "The quote has expired.", "request_id": "req_0123456789abcdef"}}
```

`param` names the field, if there is one. Branch on `code`. Retry 429, 500 and 503 with backoff and the same
`Idempotency-Key`. Do not retry other errors ([rule](rules.md#retry-what)).

"""

_FAULT = """
## Cause an error

A fault can cause every code. With this fault, the next call to `/quotes` returns `rate_limited`:

```bash
curl -sS -o /dev/null -X POST http://127.0.0.1:8642/_simulator/faults -H 'Content-Type: application/json' \\
  -d '{"match": {"path": "/quotes"}, "respond": {"status": 429, "code": "rate_limited", "retry_after": 2}, "times": 1}'
```
"""


def page() -> str:
    """The page as Markdown."""
    todo: Mapping[str, str] = data_of(FILE)
    if missing := vocabulary().errors.keys() ^ todo.keys():
        raise ValueError(f"errors.yaml and the catalogue differ in {', '.join(sorted(missing))}")
    codes = sorted(vocabulary().errors.values(), key=lambda code: code.status)
    short = table(
        ("code", "status", "meaning"), ((f"[{one.code}](#{one.code})", one.status, one.cause) for one in codes)
    )
    evidence: JsonObject = loads(contract_file("reference.json"))
    lines = [_HEAD + "\n".join(short), _FAULT.rstrip(), "", "## Every code"]
    for one in codes:
        lines += ["", *_code(one, todo[one.code], evidence["codes"][one.code])]
    return "\n".join([*lines, "", *_control()]) + "\n"


def _code(one: ErrorCode, todo: str, scenarios: list[str]) -> list[str]:
    operations = [
        f"`{operation.method} {operation.path}`"
        for room in ROOMS
        for operation in room.operations
        if one.code in operation.errors
    ]
    lines = [f"### {one.code}", "", f"**{one.status}**: {one.cause}.", "", todo, ""]
    if one.basis != "specified":
        lines.append(f"- Assumed: {place_of(one.basis)}")
    if operations:
        lines.append(f"- Returned by: {', '.join(operations)}")
    if scenarios:
        lines.append(f"- Shown by: {', '.join(f'`rampsim scenario run {name}`' for name in scenarios[:2])}")
    return lines


def _control() -> list[str]:
    lines = ["## Refusals of the control interface", ""]
    lines += ["Calls below `/_simulator` use the same form, with additional codes.", ""]
    return lines + table(("status", "when"), CONTROL_ERRORS.items())
