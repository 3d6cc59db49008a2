"""`reference/faults.md`: every member of a fault, what it does, and an example of each."""

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
from simulator.exploration.judgement.fixes import ADVICE
from simulator.host import Simulator, control_rows

FILE = Path(__file__).with_name("faults.yaml")
_HEAD = """\
# Faults

What goes wrong on the wire, on demand: answers that are refused, late, cut or lost, webhooks that come twice, late, out
of order or forged. A fault says which calls or deliveries it is about, what happens to them, and how often.

```bash
curl -sS -X POST http://127.0.0.1:8642/_simulator/faults -H 'Content-Type: application/json' \\
  -d '{"match": {"path": "/quotes"}, "respond": {"status": 503, "code": "service_unavailable"}, "times": 1}'
curl -sS http://127.0.0.1:8642/_simulator/faults
curl -sS -X DELETE http://127.0.0.1:8642/_simulator/faults
```

- The first fault that fits acts. Faults act after the sign-in, so a call with a bad token is 401 as ever.
- `path` is a glob on the path below the base address: `/quotes`, not `/v1/quotes`. A fault that no call can meet is
  refused.
- `hits` counts how often it has acted. One that never did is a finding of `rampsim advice`.
- Nothing of the control interface is ever faulted.
- In a scenario file the same members stand below `faults`, and go when the scenario is no longer active. In a test,
  `world.fault(...)` takes them.
"""
_OFTEN = ("skip", "times", "probability")
"""Members of both sorts of faults; they are told once."""


@cache
def _read() -> tuple[Reader, Mapping[str, Any]]:
    document = control.build(control_rows(CONTRACT_ROWS), Simulator().actions)
    return Reader(document), document["components"]["schemas"]


def examples() -> Mapping[str, Mapping[str, Any]]:
    """By `calls`, `deliveries` and `often` an example of each member, by its name."""
    found: Mapping[str, Mapping[str, Any]] = data_of(FILE)
    return found


def page() -> str:
    """The page as Markdown; ValueError for a member without an example."""
    calls, deliveries = _fields("InterfaceFault"), _fields("WebhookFault")
    deliver = {field.name: field for field in _fields("Deliver").values()}
    lines = [_HEAD.rstrip(), "", "## Faults of calls", ""]
    lines += ["One of these says what happens, or several together: " + _links(faults.EFFECTS, "") + "."]
    lines += _members({name: field for name, field in calls.items() if name not in _OFTEN}, "calls", "")
    lines += ["", "## Faults of deliveries", "", "`webhook` says which deliveries, `deliver` what happens to them: "]
    lines[-1] += _links(deliver, "deliver ") + "."
    lines += _members({"webhook": deliveries["webhook"]}, "deliveries", "")
    lines += _members(deliver, "deliveries", "deliver ")
    lines += ["", "## How often", "", "Of calls and of deliveries alike."]
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
            raise ValueError(f"{FILE.name} has no example of {part}.{name}")
        inner = field.fields or tuple(inner for one in field.parts for inner in reader.members(schemas[one.name]))
        values = "".join(f"\n- `{value}`: {meaning}" for value, meaning in field.values if meaning)
        yield from ("", f"### {before}{name}", "", f"{field.text} *({field.kind})*{values}", "")
        yield from (*listed(inner), "") if inner else ()
        yield from ("```json", json.dumps(example), "```")


def _classes() -> Iterator[str]:
    yield from ("## Presets, and what explore makes go wrong", "")
    yield (
        "`rampsim explore` runs your tests under these classes of faults, one at a time, wherever each fits. Those "
        "with a fault are presets: `rampsim faults add webhook-doubled`, in a test "
        '`world.fault("webhook-doubled")`, over HTTP `{"preset": "webhook-doubled"}`. What to do about a finding is '
        "what a client or a receiver should do in any case."
    )
    yield ""
    rows = (
        (f"`{name}`", one.means, one.mend, f"`{json.dumps(PRESETS[name].fault)}`" if name in PRESETS else "")
        for name, one in ADVICE.items()
        if name != "none"
    )
    yield from table(("name", "what happens", "what to do", "as a fault"), rows)
