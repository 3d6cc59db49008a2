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

This shows that common generators make working clients of [openapi.yaml](openapi.yaml), in their default configuration.
Each client is compiled with an integration (`tests/tools/judges/clients/`), which takes an onramp to its end and reads
the signed webhook that tells of it. *Survived*: it also works with the service of later, whose objects have a member
more and some values that are new.
`make contract` does it anew; `make clients` also renews this table.

{table(rows)}
openapi-generator makes its Java client with `--library native` and without `openApiNullable`: so it needs the JDK and
Jackson alone. datamodel-code-generator makes models alone; the integration sends them with httpx. They import
email-validator.
"""
