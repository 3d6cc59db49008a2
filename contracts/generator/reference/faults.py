"""`reference/faults.md`: every field of a fault with its effect and an example."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from contracts.generator import control
from contracts.generator.decisions import data_of
from contracts.generator.reference.fields import listed
from contracts.generator.reference.text import table
from contracts.generator.reference_page.fields import Field, Reader
from simulator.contract.serving import CONTRACT_ROWS
from simulator.engine.faults import models as faults
from simulator.engine.faults.presets import PRESETS
from simulator.engine.text.citations import slug
from simulator.exploration.judgement.causes import ADVICE
from simulator.host import Simulator, control_rows

FILE = Path(__file__).with_name("faults.yaml")
_HEAD = """\
# Faults

A fault causes a problem on the wire: responses that are errors, late, truncated or lost; webhooks that are duplicate,
late, out of order or forged. It defines which calls or deliveries it applies to, its effect, and how often.

```bash
curl -sS -X POST http://127.0.0.1:8642/_simulator/faults -H 'Content-Type: application/json' \\
  -d '{"match": {"path": "/quotes"}, "respond": {"status": 503, "code": "service_unavailable"}, "times": 1}'
curl -sS http://127.0.0.1:8642/_simulator/faults
curl -sS -X DELETE http://127.0.0.1:8642/_simulator/faults
```

- The first matching fault applies. Faults apply after authentication, so a call with an invalid token still gets 401.
- `path` is a glob on the path below the base URL: `/quotes` or `/quotes/*/confirm`, not `/v1/quotes`. Without it, a
  fault applies to every call, including `POST /auth/token`, which is often the first one. A fault that cannot match any
  call is refused.
- `hits` counts how often the fault applied. `rampsim advice` reports faults that never applied.
- Faults never apply to the control interface.
- A scenario file has the same fields under `faults`; they apply while the scenario is active. In a test, use
  `world.fault(...)`.
"""
_OFTEN = ("skip", "times", "probability")
"""Fields that faults of calls and of deliveries share."""


@cache
def _read() -> tuple[Reader, Mapping[str, Any]]:
    document = control.build(control_rows(CONTRACT_ROWS), Simulator().actions)
    return Reader(document), document["components"]["schemas"]


def examples() -> Mapping[str, Mapping[str, Any]]:
    """Return an example of each field, by section (`calls`, `deliveries`, `often`) and name."""
    found: Mapping[str, Mapping[str, Any]] = data_of(FILE)
    return found


def page() -> str:
    """Return the page as Markdown. Raises ValueError if a field has no example."""
    calls, deliveries = _fields("InterfaceFault"), _fields("WebhookFault")
    deliver = {field.name: field for field in _fields("Deliver").values()}
    lines = [_HEAD.rstrip(), "", "## Faults of calls", ""]
    lines += ["The effect, one or several of: " + _links(faults.EFFECTS, "") + "."]
    lines += _members({name: field for name, field in calls.items() if name not in _OFTEN}, "calls", "")
    lines += ["", "## Faults of deliveries", "", "`webhook` selects deliveries, `deliver` is the effect: "]
    lines[-1] += _links(deliver, "deliver ") + "."
    lines += _members({"webhook": deliveries["webhook"]}, "deliveries", "")
    lines += _members(deliver, "deliveries", "deliver ")
    lines += ["", "## How often", "", "These fields apply to both kinds of faults."]
    lines += _members({name: calls[name] for name in _OFTEN}, "often", "")
    return "\n".join([*lines, "", *_classes()]) + "\n"


def _fields(shape: str) -> dict[str, Field]:
    reader, schemas = _read()
    return {field.name: field for field in reader.members(schemas[shape])}


def _links(names: Iterable[str], before: str) -> str:
    return ", ".join(f"[`{name}`](#{slug(before + name)})" for name in names)


def _members(fields: Mapping[str, Field], part: str, before: str) -> Iterator[str]:
    reader, schemas = _read()
    for name, field in fields.items():
        example = examples()[part].get(name)
        if example is None:
            raise ValueError(f"{FILE.name}: add an example of {part}.{name}")
        inner = field.fields or tuple(inner for one in field.parts for inner in reader.members(schemas[one.name]))
        values = "".join(f"\n- `{value}`: {meaning}" for value, meaning in field.values if meaning)
        yield from ("", f"### {before}{name}", "", f"{field.text} *({field.kind})*{values}", "")
        yield from (*listed(inner), "") if inner else ()
        yield from ("```json", json.dumps(example), "```")


def _classes() -> Iterator[str]:
    yield from ("## Presets and classes of faults", "")
    yield (
        "`rampsim explore` runs your tests under one of these classes of faults at a time. A class with an entry in "
        "the last column is also a preset: `rampsim faults add webhook-doubled`, in a test "
        '`world.fault("webhook-doubled")`, over HTTP `{"preset": "webhook-doubled"}`.'
    )
    yield ""
    rows = (
        (f"`{name}`", one.means, one.mend, f"`{json.dumps(PRESETS[name].fault)}`" if name in PRESETS else "")
        for name, one in ADVICE.items()
        if name != "none"
    )
    yield from table(("name", "what happens", "what to do", "as a fault"), rows)
