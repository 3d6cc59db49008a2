"""The table of the clients that generators make of the contract, as the judges wrote it down in `clients.json`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import orjson

FILE = Path(__file__).with_name("clients.json")
HEAD = ("generator", "version", "files", "lines", "models", "seconds", "generated", "compiled", "ran", "survived")


def table(rows: Sequence[Mapping[str, str]]) -> str:
    """The rows as Markdown; a row has a text for each name in HEAD."""
    lines = [HEAD, ["-"] * len(HEAD), *([row[name] for name in HEAD] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def section() -> str:
    """The part of `contracts/README.md` about generated clients."""
    rows: list[dict[str, str]] = orjson.loads(FILE.read_bytes())
    return f"""
## Generated clients

This shows that common generators create working clients from [openapi.yaml](openapi.yaml) in their default
configuration. Each client is compiled with an integration (`tests/tools/judges/clients/`), which completes an onramp
and reads its signed webhook. *Survived*: it also works with a later version of the service, with additional fields and
new values. `make contract` repeats the test; `make clients` also updates this table.

{table(rows)}
openapi-generator generates its Java client with `--library native` and without `openApiNullable`, so that it needs only
the JDK and Jackson. datamodel-code-generator generates only models, which import email-validator. The integration sends
them with httpx.
"""
